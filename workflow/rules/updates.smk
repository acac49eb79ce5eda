# The evolving-domain study: chains of strategies through the stages. At each stage a group's chains
# are sampled, trained and evaluated as one swarm (rules of swarms.smk), and their mixes proposed.


rule sample_probe:
    input:
        data=rules.build_domains.output.data,
        previous=lambda wildcards: previous_mixes(wildcards),
    output:
        mixes=f"{RESULTS}/sample_stage/{{group}}-{{stage}}-probe.csv",
    log:
        f"{RESULTS}/logs/sample_stage/{{group}}-{{stage}}-probe.log",
    benchmark:
        f"{RESULTS}/benchmarks/sample_stage/{{group}}-{{stage}}-probe.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        stage=lambda wildcards: wildcards.stage,
        chains=lambda wildcards: chains_with(wildcards, "probe_runs"),
        seed=lambda wildcards: 2 * stage_number(wildcards),
        updates=lambda wildcards: updates_file(wildcards.group),
        lineage=lambda wildcards: lineage_of(wildcards),
        distribution=SCALE["swarm"]["updates"],
    message:
        "Sampling the probe of {wildcards.group} at {wildcards.stage}"
    script:
        "../../scripts/sample_stage.py"


rule choose_recomputed:
    input:
        data=rules.build_domains.output.data,
        previous=lambda wildcards: previous_mixes(wildcards),
        probe=f"{RESULTS}/collect_swarm/{{group}}-{{stage}}-probe/ratios.csv",
        tables=lambda wildcards: list(earlier_tables(wildcards).values()),
        pool=f"{RESULTS}/collect_swarm/pool-{INITIAL}/ratios.csv",
    output:
        choices=f"{RESULTS}/choose_recomputed/{{group}}-{{stage}}.json",
    log:
        f"{RESULTS}/logs/choose_recomputed/{{group}}-{{stage}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/choose_recomputed/{{group}}-{{stage}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        stage=lambda wildcards: wildcards.stage,
        stages=lambda wildcards: list(earlier_tables(wildcards)),
        chains=lambda wildcards: auto_budgets(wildcards),
        updates=lambda wildcards: updates_file(wildcards.group),
        lineage=lambda wildcards: lineage_of(wildcards),
    message:
        "Choosing what {wildcards.group} recomputes at {wildcards.stage}"
    script:
        "../../scripts/choose_recomputed.py"


use rule sample_probe as sample_stage with:
    input:
        unpack(lambda wildcards: choices_of(wildcards)),
        data=rules.build_domains.output.data,
        previous=lambda wildcards: previous_mixes(wildcards),
    output:
        mixes=f"{RESULTS}/sample_stage/{{group}}-{{stage}}.csv",
    log:
        f"{RESULTS}/logs/sample_stage/{{group}}-{{stage}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sample_stage/{{group}}-{{stage}}.tsv"
    params:
        stage=lambda wildcards: wildcards.stage,
        chains=lambda wildcards: chains_with(wildcards, "runs"),
        seed=lambda wildcards: 2 * stage_number(wildcards) + 1,
        updates=lambda wildcards: updates_file(wildcards.group),
        lineage=lambda wildcards: lineage_of(wildcards),
        distribution=SCALE["swarm"]["updates"],
    message:
        "Sampling the swarm of {wildcards.group} at {wildcards.stage}"


rule update_mixes:
    input:
        unpack(lambda wildcards: stage_input(wildcards)),
        data=rules.build_domains.output.data,
        tables=lambda wildcards: list(stage_tables(wildcards).values()),
        pools=lambda wildcards: list(stage_pools(wildcards).values()),
    output:
        proposals=directory(f"{RESULTS}/update_mixes/{{group}}-{{stage}}"),
        mixes=f"{RESULTS}/update_mixes/{{group}}-{{stage}}.csv",
    log:
        f"{RESULTS}/logs/update_mixes/{{group}}-{{stage}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/update_mixes/{{group}}-{{stage}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        stage=lambda wildcards: wildcards.stage,
        stages=lambda wildcards: list(stage_tables(wildcards)),
        pools=lambda wildcards: list(stage_pools(wildcards)),
        chains=lambda wildcards: [chain.to_dict() for chain in active_chains(wildcards)],
        updates=lambda wildcards: updates_file(wildcards.group),
        lineage=lambda wildcards: lineage_of(wildcards),
        request={key: SCALE[key] for key in ("kl", "repetition", "requested_tokens")},
    message:
        "Proposing the mixes of {wildcards.group} at {wildcards.stage}"
    script:
        "../../scripts/update_mixes.py"


rule updates:
    input:
        unpack(lambda wildcards: update_answer_input(["main"])),
    output:
        answer=directory("results/updates"),
    log:
        f"{RESULTS}/logs/updates.log",
    benchmark:
        f"{RESULTS}/benchmarks/updates.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("updates"),
        chains=chain_costs("main"),
        stage=UPDATES.stages[-1],
    message:
        "Comparing the strategies over all updates"
    script:
        "../../scripts/updates.py"


rule budgets:
    input:
        unpack(lambda wildcards: update_answer_input(["main", "tight", "low"])),
    output:
        answer=directory("results/budgets"),
    log:
        f"{RESULTS}/logs/budgets.log",
    benchmark:
        f"{RESULTS}/benchmarks/budgets.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("updates"),
        groups={group: chain_costs(group) for group in ("main", "tight", "low")},
    message:
        "Comparing the strategies at tight repetition caps and low budgets"
    script:
        "../../scripts/budgets.py"


rule operators:
    input:
        unpack(lambda wildcards: single_answer_input("operators")),
    output:
        answer=directory("results/operators"),
    log:
        f"{RESULTS}/logs/operators.log",
    benchmark:
        f"{RESULTS}/benchmarks/operators.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("operators"),
        updates=single_updates_of("operators"),
    message:
        "Comparing each kind of update alone with full recomputation"
    script:
        "../../scripts/operators.py"


rule theory:
    input:
        unpack(lambda wildcards: single_answer_input("theory")),
    output:
        answer=directory("results/theory"),
    log:
        f"{RESULTS}/logs/theory.log",
    benchmark:
        f"{RESULTS}/benchmarks/theory.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("theory"),
        updates=single_updates_of("theory"),
    message:
        "Measuring the terms of both theorems on single additions"
    script:
        "../../scripts/theory.py"
