# One analysis per question: tidy data, a summary in numbers, and where they came from.


rule rq7:
    input:
        unpack(lambda wildcards: question_input("rq7")),
    output:
        answer=directory("results/rq7"),
    log:
        f"{RESULTS}/logs/rq7.log",
    benchmark:
        f"{RESULTS}/benchmarks/rq7.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        scale=SCALE.name,
        settings=SCALE.content,
    message:
        "Answering RQ7: how to solve the optimization problem"
    conda:
        "../../envs/environment.yaml"
    script:
        "../../scripts/rq7.py"
