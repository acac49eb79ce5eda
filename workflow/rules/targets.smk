# Target runs: the same rules as for proxies, with the target's resources.


use rule train_proxies as train_targets with:
    input:
        data=rules.build_domains.output.data,
        runs=f"{RESULTS}/list_runs/{{targets}}",
    output:
        runs=directory(f"{RESULTS}/train_targets/{{targets}}/{{shard}}"),
    log:
        f"{RESULTS}/logs/train_targets/{{targets}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_targets/{{targets}}/{{shard}}.tsv"
    threads: SCALE.model("target")["threads"]
    resources:
        mem_mb=lambda wildcards: JOBS.swarm(wildcards.targets).training.mem_mb,
        runtime=lambda wildcards: JOBS.swarm(wildcards.targets).training.runtime,
        micro_batch=lambda wildcards: JOBS.swarm(wildcards.targets).training.micro_batch,
        sharding=lambda wildcards: JOBS.swarm(wildcards.targets).cost.sharding,
        checkpoint_seconds=lambda wildcards: JOBS.swarm(
            wildcards.targets
        ).cost.checkpoint_seconds,
        gpu=TRAINING_GPUS["target"].gpu,
        gres=TRAINING_GPUS["target"].gres,
        nodes=TRAINING_GPUS["target"].nodes,
        processes=TRAINING_GPUS["target"].processes,
        tasks=TRAINING_GPUS["target"].tasks,
        tasks_per_gpu=0,
        mpi=TRAINING_GPUS["target"].mpi,
        slurm_extra=TRAINING_GPUS["target"].slurm_extra,
    params:
        state=f"{RESULTS}/state",
        scoring=JOBS.scoring,
    message:
        "Training targets of {wildcards.targets}, job {wildcards.shard}"


use rule evaluate_proxies as evaluate_targets with:
    input:
        data=rules.build_domains.output.data,
        runs=f"{RESULTS}/train_targets/{{targets}}/{{shard}}",
    output:
        evaluations=directory(f"{RESULTS}/evaluate_targets/{{targets}}/{{shard}}"),
    log:
        f"{RESULTS}/logs/evaluate_targets/{{targets}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/evaluate_targets/{{targets}}/{{shard}}.tsv"
    message:
        "Taking over the scores of {wildcards.targets}, job {wildcards.shard}"
