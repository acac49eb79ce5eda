# One analysis per question: tidy data, a summary in numbers, and where they came from.


rule rq1:
    input:
        unpack(lambda wildcards: question_input("rq1")),
    output:
        answer=directory("results/rq1"),
    log:
        f"{RESULTS}/logs/rq1.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq1.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq1"),
    message:
        "Answering RQ1: how small a proxy may be"
    script:
        "../../scripts/rq1.py"


rule rq2:
    input:
        unpack(lambda wildcards: question_input("rq2")),
    output:
        answer=directory("results/rq2"),
    log:
        f"{RESULTS}/logs/rq2.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq2.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq2"),
    message:
        "Answering RQ2: how many proxy runs a swarm needs"
    script:
        "../../scripts/rq2.py"


rule rq3:
    input:
        unpack(lambda wildcards: question_input("rq3")),
    output:
        answer=directory("results/rq3"),
    log:
        f"{RESULTS}/logs/rq3.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq3.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq3"),
    message:
        "Answering RQ3: from which distribution to sample a swarm"
    script:
        "../../scripts/rq3.py"


rule rq4:
    input:
        unpack(lambda wildcards: question_input("rq4")),
    output:
        answer=directory("results/rq4"),
    log:
        f"{RESULTS}/logs/rq4.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq4.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq4"),
    message:
        "Answering RQ4: which regression family to fit"
    script:
        "../../scripts/rq4.py"


rule rq5:
    input:
        unpack(lambda wildcards: question_input("rq5")),
    output:
        answer=directory("results/rq5"),
    log:
        f"{RESULTS}/logs/rq5.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq5.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq5"),
    message:
        "Answering RQ5: at which granularity to fit"
    script:
        "../../scripts/rq5.py"


rule rq6:
    input:
        unpack(lambda wildcards: question_input("rq6")),
    output:
        answer=directory("results/rq6"),
    log:
        f"{RESULTS}/logs/rq6.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq6.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq6"),
    message:
        "Answering RQ6: where to enforce the repetition factor"
    script:
        "../../scripts/rq6.py"


rule rq7:
    input:
        unpack(lambda wildcards: question_input("rq7")),
    output:
        answer=directory("results/rq7"),
    log:
        f"{RESULTS}/logs/rq7.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq7.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("rq7"),
    message:
        "Answering RQ7: how to solve the optimization problem"
    script:
        "../../scripts/rq7.py"


rule methods:
    input:
        unpack(lambda wildcards: question_input("methods")),
    output:
        answer=directory("results/methods"),
    log:
        f"{RESULTS}/logs/methods.log",
    benchmark:
        f"{RESULTS}/benchmarks/methods.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("methods"),
        methods=[as_params(method) for method in METHODS],
    message:
        "Comparing whole mixing methods"
    script:
        "../../scripts/methods.py"


rule noise:
    input:
        unpack(lambda wildcards: question_input("noise")),
    output:
        answer=directory("results/noise"),
    log:
        f"{RESULTS}/logs/noise.log",
    benchmark:
        f"{RESULTS}/benchmarks/noise.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=settings_of("noise"),
    message:
        "Measuring how much runs of one mix differ"
    script:
        "../../scripts/noise.py"
