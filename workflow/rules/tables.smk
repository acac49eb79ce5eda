# Descriptive tables, and what the whole study will cost in runs.


rule make_tables:
    input:
        data=rules.build_domains.output.data,
        tasks="config/tasks/paper.yaml",
        choices="config/design_choices.yaml",
        updates=sorted({PAPER["updates"], SCALE["updates"]}),
    output:
        # The folder, and each table in it: both can be asked for.
        tables=directory("results/tables"),
        files=expand("results/tables/{table}.csv", table=TABLES),
    log:
        f"{RESULTS}/logs/make_tables.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_tables.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        scale=SCALE.name,
        updates={"paper": PAPER["updates"], SCALE.name: SCALE["updates"]},
        catalogues={"paper": "config/domains/paper.yaml"},
        models={"paper": PAPER["models"], SCALE.name: SCALE["models"]},
    message:
        "Writing the tables of domains, tasks, models, methods and costs"
    script:
        "../../scripts/make_tables.py"


rule cost:
    log:
        f"{RESULTS}/logs/cost.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        scale=SCALE.name,
        engine=SCALE["engine"],
        models=SCALE["models"],
        hardware=SCALE["hardware"],
        devices=config.get("devices") or SCALE["hardware"]["devices"],
        swarms=lambda wildcards: planned_swarms(JOBS),
        questions=lambda wildcards: planned_questions(JOBS, QUESTIONS),
        chains=lambda wildcards: planned_chains(JOBS),
        results=RESULTS,
    message:
        "Working out what every question costs"
    script:
        "../../scripts/cost.py"


rule timing:
    log:
        f"{RESULTS}/logs/timing.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        benchmarks=f"{RESULTS}/benchmarks",
    message:
        "Summing up where the time went"
    script:
        "../../scripts/timing.py"
