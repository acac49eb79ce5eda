# Before anything is spent on a cluster: every model of the scale for some tens of steps, with what its
# training will ask for. `snakemake preflight` prints what was expected and what was measured.


rule measure_model:
    output:
        measured=f"{RESULTS}/preflight/models/{{model}}.json",
    log:
        f"{RESULTS}/logs/measure_model/{{model}}.log",
    conda:
        "../../envs/environment.yaml"
    threads: lambda wildcards: PREFLIGHT.model(wildcards.model)["threads"]
    resources:
        mem_mb=lambda wildcards: measured_run(wildcards.model)
        .training_request(1)
        .mem_mb,
        runtime=20,
        gpu=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].gpu,
        gres=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].gres,
        nodes=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].nodes,
        processes=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].processes,
        tasks=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].tasks,
        tasks_per_gpu=0,
        mpi=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].mpi,
        slurm_extra=lambda wildcards: PREFLIGHT_GPUS[wildcards.model].slurm_extra,
    params:
        asked=lambda wildcards: {
            "name": wildcards.model,
            "model": PREFLIGHT.model(wildcards.model),
            "hardware": PREFLIGHT["hardware"],
            "batch_tokens": PREFLIGHT["evaluation"]["batch_tokens"],
            "max_instances": PREFLIGHT["evaluation"]["max_instances"],
            "steps": 30,
        },
        data=JOBS.data,
    message:
        "Measuring model {wildcards.model}"
    script:
        "../../scripts/measure_model.py"


rule preflight:
    input:
        measured=expand(rules.measure_model.output.measured, model=PREFLIGHT["models"]),
    log:
        f"{RESULTS}/logs/preflight.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        scale=SCALE.name,
        models=PREFLIGHT["models"],
        hardware=PREFLIGHT["hardware"],
        table=measured_file(SCALE.name),
    message:
        "Comparing what was measured with what the scale assumes"
    script:
        "../../scripts/preflight.py"
