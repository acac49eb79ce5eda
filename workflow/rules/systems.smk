# Systems that are algorithms (config/methods/ with `algorithm`). Rounds are swarms whose mixes are asked
# for from the tables of the rounds before; how many there are is known before the first. They are over the
# initial domains, or over what the chains of updates recompute. Runs that an algorithm steers are listed and
# trained like any other (swarms.smk, targets.smk).


rule ask_round:
    input:
        unpack(lambda wildcards: JOBS.round(wildcards.round).input),
        data=rules.build_domains.output.data,
    output:
        mixes=f"{RESULTS}/ask_round/{{round}}.csv",
        asked=f"{RESULTS}/ask_round/{{round}}.json",
    log:
        f"{RESULTS}/logs/ask_round/{{round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/ask_round/{{round}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        round=lambda wildcards: as_params(PLAN.rounds[wildcards.round]),
        rounds=lambda wildcards: PLAN.rounds[wildcards.round].before,
        stage=lambda wildcards: JOBS.round(wildcards.round).stage,
        chains=lambda wildcards: JOBS.round(wildcards.round).chains,
        method=lambda wildcards: JOBS.round(wildcards.round).told,
        request=lambda wildcards: JOBS.round(wildcards.round).request,
        updates=lambda wildcards: JOBS.round(wildcards.round).updates,
        rerun_when=lambda wildcards: JOBS.round(wildcards.round).rerun_when,
        priors=SCALE.priors,
    message:
        "Asking for the runs of {wildcards.round}"
    script:
        "../../scripts/ask_round.py"


rule measure_graph:
    input:
        data=rules.build_domains.output.data,
        runs=lambda wildcards: JOBS.single_runs(wildcards.single).runs,
    output:
        graph=f"{RESULTS}/measure_graph/{{single}}.json",
    log:
        f"{RESULTS}/logs/measure_graph/{{single}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_graph/{{single}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    message:
        "Measuring what each domain teaches of the others, on {wildcards.single}"
    script:
        "../../scripts/measure_graph.py"


rule propose_systems:
    input:
        unpack(lambda wildcards: JOBS.answers.input),
        data=rules.build_domains.output.data,
    output:
        proposals=directory(JOBS.answers.folder),
        mixes=f"{JOBS.answers.folder}.csv",
    log:
        f"{RESULTS}/logs/propose_systems.log",
    benchmark:
        f"{RESULTS}/benchmarks/propose_systems.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        answers=lambda wildcards: JOBS.answers.answers,
        rounds=lambda wildcards: JOBS.answers.rounds,
        request=JOBS.answers.request,
        updates=SCALE["updates"],
        rerun_when=lambda wildcards: JOBS.answers.rerun_when,
    message:
        "Writing down what the systems answer with"
    script:
        "../../scripts/propose_systems.py"
