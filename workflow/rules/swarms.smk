# A swarm: mixes are sampled, every run is listed, proxies are trained and evaluated, and all is
# collected into ratios.csv and metrics.csv.


rule sample_swarm:
    input:
        unpack(lambda wildcards: prior_of(wildcards.mixes)),
        data=rules.build_domains.output.data,
    output:
        mixes=f"{RESULTS}/sample_swarm/{{mixes}}.csv",
    log:
        f"{RESULTS}/logs/sample_swarm/{{mixes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sample_swarm/{{mixes}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        spec=lambda wildcards: as_params(PLAN.mixes[wildcards.mixes]),
        updates=lambda wildcards: updates_file(wildcards.mixes),
        domains=lambda wildcards: sampled_from(wildcards.mixes),
        distributions=lambda wildcards: distribution_of(wildcards.mixes),
        caps=lambda wildcards: caps_of(wildcards.mixes),
    message:
        "Sampling the mixes {wildcards.mixes}"
    script:
        "../../scripts/sample_swarm.py"


rule list_runs:
    input:
        data=rules.build_domains.output.data,
        mixes=lambda wildcards: mixes_file(wildcards.swarm),
    output:
        runs=directory(f"{RESULTS}/list_runs/{{swarm}}"),
    log:
        f"{RESULTS}/logs/list_runs/{{swarm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/list_runs/{{swarm}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        swarm=lambda wildcards: as_params(PLAN.swarms[wildcards.swarm]),
        space=lambda wildcards: space_of(wildcards.swarm),
        model=lambda wildcards: science_of(wildcards.swarm),
        updates=lambda wildcards: updates_file(wildcards.swarm),
        domains=lambda wildcards: domains_of(wildcards.swarm),
        store=f"{RESULTS}/runs",
    message:
        "Listing the runs of {wildcards.swarm}"
    script:
        "../../scripts/list_runs.py"


rule train_proxies:
    input:
        data=rules.build_domains.output.data,
        runs=f"{RESULTS}/list_runs/{{proxies}}",
    output:
        runs=directory(f"{RESULTS}/train_proxies/{{proxies}}/{{shard}}"),
    log:
        f"{RESULTS}/logs/train_proxies/{{proxies}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_proxies/{{proxies}}/{{shard}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: lambda wildcards: model_of(wildcards.proxies)["threads"]
    resources:
        mem_mb=lambda wildcards: training_of(wildcards.proxies).mem_mb,
        runtime=lambda wildcards: training_of(wildcards.proxies).runtime,
        micro_batch=lambda wildcards: training_of(wildcards.proxies).micro_batch,
        gpu=lambda wildcards: training_gpus(wildcards.proxies).gpu,
        gres=lambda wildcards: training_gpus(wildcards.proxies).gres,
        nodes=lambda wildcards: training_gpus(wildcards.proxies).nodes,
        processes=lambda wildcards: training_gpus(wildcards.proxies).processes,
    params:
        state=f"{RESULTS}/state",
        scoring=scoring_options(),
    message:
        "Training proxies of {wildcards.proxies}, job {wildcards.shard}"
    shell:
        "{{ python -m olmix train --nodes {resources.nodes:q} --processes {resources.processes:q}"
        " --cpus {threads} --slurm-minutes {resources.runtime:q}"
        " --runs {input.runs:q}/{wildcards.shard:q}.json --state {params.state:q}"
        " --suite {input.data:q}/suite --tokenizer {input.data:q}/tokenizer.json {params.scoring:q}"
        " --micro-batch {resources.micro_batch:q}"
        " && python scripts/link_runs.py --runs {input.runs:q}/{wildcards.shard:q}.json"
        " --out {output.runs:q}; }} > {log:q} 2>&1"


rule evaluate_proxies:
    input:
        data=rules.build_domains.output.data,
        runs=f"{RESULTS}/train_proxies/{{proxies}}/{{shard}}",
    output:
        evaluations=directory(f"{RESULTS}/evaluate_proxies/{{proxies}}/{{shard}}"),
    log:
        f"{RESULTS}/logs/evaluate_proxies/{{proxies}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/evaluate_proxies/{{proxies}}/{{shard}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: lambda wildcards: model_of(wildcards.proxies)["threads"]
    resources:
        mem_mb=lambda wildcards: evaluation_of(wildcards.proxies).mem_mb,
        runtime=lambda wildcards: evaluation_of(wildcards.proxies).runtime,
        gpu=lambda wildcards: evaluation_gpus(wildcards.proxies).gpu,
        gres=lambda wildcards: evaluation_gpus(wildcards.proxies).gres,
        processes=lambda wildcards: evaluation_gpus(wildcards.proxies).processes,
    params:
        batch_tokens=SCALE["evaluation"]["batch_tokens"],
        max_instances=SCALE["evaluation"]["max_instances"],
    message:
        "Evaluating proxies of {wildcards.proxies}, job {wildcards.shard}"
    script:
        "../../scripts/evaluate_runs.py"


rule collect_swarm:
    input:
        mixes=lambda wildcards: mixes_file(wildcards.swarm),
        evaluations=lambda wildcards: evaluations_of(wildcards.swarm),
    output:
        ratios=f"{RESULTS}/collect_swarm/{{swarm}}/ratios.csv",
        metrics=f"{RESULTS}/collect_swarm/{{swarm}}/metrics.csv",
    log:
        f"{RESULTS}/logs/collect_swarm/{{swarm}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collect_swarm/{{swarm}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Collecting {wildcards.swarm} into ratios.csv and metrics.csv"
    script:
        "../../scripts/collect_swarm.py"
