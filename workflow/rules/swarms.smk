# A swarm: mixes are sampled, every run is listed, proxies are trained and evaluated, and all is
# collected into ratios.csv and metrics.csv.


rule sample_swarm:
    input:
        unpack(lambda wildcards: JOBS.mixes(wildcards.mixes).prior),
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
        updates=lambda wildcards: JOBS.mixes(wildcards.mixes).updates.file,
        rerun_when=lambda wildcards: JOBS.mixes(wildcards.mixes).rerun_when,
        distributions=lambda wildcards: JOBS.mixes(wildcards.mixes).distributions,
        caps=lambda wildcards: JOBS.mixes(wildcards.mixes).caps,
        priors=SCALE.priors,
    message:
        "Sampling the mixes {wildcards.mixes}"
    script:
        "../../scripts/sample_swarm.py"


rule list_runs:
    input:
        unpack(lambda wildcards: JOBS.swarm(wildcards.swarm).learns_from),
        checked=(
            ancient(rules.check_data.output.checked)
            if "public" in SCALE["data"]
            else []
        ),
        data=rules.build_domains.output.data,
        mixes=lambda wildcards: JOBS.swarm(wildcards.swarm).mixes,
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
        space=lambda wildcards: as_params(JOBS.swarm(wildcards.swarm).space),
        model=lambda wildcards: JOBS.swarm(wildcards.swarm).science,
        updates=lambda wildcards: JOBS.swarm(wildcards.swarm).updates.file,
        rerun_when=lambda wildcards: JOBS.swarm(wildcards.swarm).rerun_when,
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
    threads: lambda wildcards: JOBS.swarm(wildcards.proxies).model["threads"]
    resources:
        mem_mb=lambda wildcards: JOBS.swarm(wildcards.proxies).training.mem_mb,
        runtime=lambda wildcards: JOBS.swarm(wildcards.proxies).training.runtime,
        micro_batch=lambda wildcards: JOBS.swarm(wildcards.proxies).training.micro_batch,
        sharding=lambda wildcards: JOBS.swarm(wildcards.proxies).cost.sharding,
        checkpoint_seconds=lambda wildcards: JOBS.swarm(
            wildcards.proxies
        ).cost.checkpoint_seconds,
        gpu=lambda wildcards: TRAINING_GPUS[PLAN.swarms[wildcards.proxies].model].gpu,
        gres=lambda wildcards: TRAINING_GPUS[PLAN.swarms[wildcards.proxies].model].gres,
        nodes=lambda wildcards: TRAINING_GPUS[
            PLAN.swarms[wildcards.proxies].model
        ].nodes,
        processes=lambda wildcards: TRAINING_GPUS[
            PLAN.swarms[wildcards.proxies].model
        ].processes,
    params:
        state=f"{RESULTS}/state",
        scoring=JOBS.scoring,
    message:
        "Training proxies of {wildcards.proxies}, job {wildcards.shard}"
    script:
        "../../scripts/train_runs.py"


# Training has scored its runs, with the GPUs it had: this is a copy.
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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        max_instances=SCALE["evaluation"]["max_instances"],
    message:
        "Taking over the scores of {wildcards.proxies}, job {wildcards.shard}"
    script:
        "../../scripts/evaluate_runs.py"


rule collect_swarm:
    input:
        mixes=lambda wildcards: JOBS.swarm(wildcards.swarm).mixes,
        evaluations=lambda wildcards: JOBS.swarm(wildcards.swarm).evaluations,
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
