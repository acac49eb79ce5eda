# The evolving-domain study: chains of strategies through the stages. At each step (a group of chains at
# a stage) the chains' runs are sampled, trained and evaluated as one swarm (rules of swarms.smk), and
# their mixes proposed.


rule sample_probe:
    input:
        unpack(lambda wildcards: JOBS.probe(wildcards.probe).previous),
        data=rules.build_domains.output.data,
    output:
        mixes=f"{RESULTS}/sample_stage/{{probe}}.csv",
    log:
        f"{RESULTS}/logs/sample_stage/{{probe}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sample_stage/{{probe}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        stage=lambda wildcards: JOBS.probe(wildcards.probe).stage,
        group=lambda wildcards: JOBS.probe(wildcards.probe).group.name,
        chains=lambda wildcards: JOBS.probe(wildcards.probe).probed,
        seed=lambda wildcards: 2 * JOBS.probe(wildcards.probe).number,
        updates=lambda wildcards: JOBS.probe(wildcards.probe).updates.file,
        rerun_when=lambda wildcards: JOBS.probe(wildcards.probe).rerun_when,
        distribution=SCALE["swarm"]["updates"],
        priors=SCALE.priors,
    message:
        "Sampling the probe of {params.group} at {params.stage}"
    script:
        "../../scripts/sample_stage.py"


rule choose_recomputed:
    input:
        unpack(lambda wildcards: JOBS.stage(wildcards.step).previous),
        unpack(lambda wildcards: JOBS.stage(wildcards.step).tables_before),
        data=rules.build_domains.output.data,
    output:
        choices=f"{RESULTS}/choose_recomputed/{{step}}.json",
    log:
        f"{RESULTS}/logs/choose_recomputed/{{step}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/choose_recomputed/{{step}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: FITTING_CORES
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        stage=lambda wildcards: JOBS.stage(wildcards.step).stage,
        group=lambda wildcards: JOBS.stage(wildcards.step).group.name,
        tables=lambda wildcards: list(JOBS.stage(wildcards.step).known_before),
        parts=SCALE.disjoint_pools,
        chains=lambda wildcards: JOBS.stage(wildcards.step).budgets,
        updates=lambda wildcards: JOBS.stage(wildcards.step).updates.file,
        rerun_when=lambda wildcards: JOBS.stage(wildcards.step).rerun_when,
    message:
        "Choosing what {params.group} recomputes at {params.stage}"
    script:
        "../../scripts/choose_recomputed.py"


use rule sample_probe as sample_stage with:
    input:
        unpack(lambda wildcards: JOBS.stage(wildcards.step).previous),
        unpack(lambda wildcards: JOBS.stage(wildcards.step).choices),
        data=rules.build_domains.output.data,
    output:
        mixes=f"{RESULTS}/sample_stage/{{step}}.csv",
    log:
        f"{RESULTS}/logs/sample_stage/{{step}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sample_stage/{{step}}.tsv"
    params:
        stage=lambda wildcards: JOBS.stage(wildcards.step).stage,
        group=lambda wildcards: JOBS.stage(wildcards.step).group.name,
        chains=lambda wildcards: JOBS.stage(wildcards.step).sampled,
        seed=lambda wildcards: 2 * JOBS.stage(wildcards.step).number + 1,
        updates=lambda wildcards: JOBS.stage(wildcards.step).updates.file,
        rerun_when=lambda wildcards: JOBS.stage(wildcards.step).rerun_when,
        distribution=SCALE["swarm"]["updates"],
        priors=SCALE.priors,
    message:
        "Sampling the swarm of {params.group} at {params.stage}"


rule update_mixes:
    input:
        unpack(lambda wildcards: JOBS.stage(wildcards.step).previous),
        unpack(lambda wildcards: JOBS.stage(wildcards.step).choices),
        unpack(lambda wildcards: JOBS.stage(wildcards.step).tables),
        data=rules.build_domains.output.data,
    output:
        proposals=directory(f"{RESULTS}/update_mixes/{{step}}"),
        mixes=f"{RESULTS}/update_mixes/{{step}}.csv",
    log:
        f"{RESULTS}/logs/update_mixes/{{step}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/update_mixes/{{step}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: FITTING_CORES
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        stage=lambda wildcards: JOBS.stage(wildcards.step).stage,
        group=lambda wildcards: JOBS.stage(wildcards.step).group.name,
        tables=lambda wildcards: list(JOBS.stage(wildcards.step).known),
        parts=SCALE.disjoint_pools,
        chains=lambda wildcards: JOBS.stage(wildcards.step).chains,
        updates=lambda wildcards: JOBS.stage(wildcards.step).updates.file,
        rerun_when=lambda wildcards: JOBS.stage(wildcards.step).rerun_when,
        priors=SCALE.priors,
        method=lambda wildcards: JOBS.stage(wildcards.step).method,
        rounds=lambda wildcards: JOBS.stage(wildcards.step).rounds,
        request=lambda wildcards: JOBS.stage(wildcards.step).request,
    message:
        "Proposing the mixes of {params.group} at {params.stage}"
    script:
        "../../scripts/update_mixes.py"
