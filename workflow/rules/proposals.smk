# A study: models are fitted on collected swarms, mixes are proposed from the models.


rule fit_models:
    input:
        unpack(lambda wildcards: JOBS.study(wildcards.study).tables),
        data=rules.build_domains.output.data,
    output:
        models=directory(f"{RESULTS}/fit_models/{{study}}"),
    log:
        f"{RESULTS}/logs/fit_models/{{study}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fit_models/{{study}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        study=lambda wildcards: as_params(PLAN.studies[wildcards.study]),
        swarms=lambda wildcards: PLAN.studies[wildcards.study].swarms,
    message:
        "Fitting the models of {wildcards.study}"
    script:
        "../../scripts/fit_models.py"


rule propose_mixes:
    input:
        unpack(lambda wildcards: JOBS.study(wildcards.study).tables),
        data=rules.build_domains.output.data,
        models=rules.fit_models.output.models,
    output:
        proposals=directory(f"{RESULTS}/propose_mixes/{{study}}"),
        mixes=f"{RESULTS}/propose_mixes/{{study}}.csv",
    log:
        f"{RESULTS}/logs/propose_mixes/{{study}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/propose_mixes/{{study}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        study=lambda wildcards: as_params(PLAN.studies[wildcards.study]),
        swarms=lambda wildcards: PLAN.studies[wildcards.study].swarms,
        spaces=lambda wildcards: JOBS.study(wildcards.study).spaces,
        updates=SCALE["updates"],
        rerun_when=lambda wildcards: JOBS.study(wildcards.study).rerun_when,
        requested=SCALE["requested_tokens"]["tight"],
        repetition=SCALE["repetition"],
        search=SCALE.search,
    message:
        "Proposing the mixes of {wildcards.study}"
    script:
        "../../scripts/propose_mixes.py"
