# What `snakemake --report report.html` shows besides the figures: every table as a page, runtimes and
# provenance, and the text it opens with.


rule report_tables:
    input:
        answer=lambda wildcards: ANSWERS[wildcards.question],
    output:
        pages=report(
            directory("results/report/{question}"),
            patterns=["{table}.html"],
            caption="../report/table.rst",
            category=lambda wildcards: category(wildcards.question),
            labels={"result": "Table: {table}"},
        ),
    log:
        f"{RESULTS}/logs/report_tables/{{question}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/report_tables/{{question}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Writing the tables of {wildcards.question} as pages"
    script:
        "../../scripts/report_tables.py"


rule report_overview:
    input:
        **answers_of_scale(),
    output:
        page=report(
            "results/report/overview.html",
            caption="../report/overview.rst",
            category=category("overview"),
            labels={"result": "Runtimes and provenance"},
        ),
        caption="results/report/overview.rst",
        landing="results/report/landing.rst",
    log:
        f"{RESULTS}/logs/report_overview.log",
    benchmark:
        f"{RESULTS}/benchmarks/report_overview.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        scale=SCALE.name,
        runs=planned_runs(),
        benchmarks=f"{RESULTS}/benchmarks",
    message:
        "Summing up runtimes and provenance"
    script:
        "../../scripts/report_overview.py"


rule gallery:
    input:
        figures=every_picture(),
        answers=list(answers_of_scale().values()),
    log:
        f"{RESULTS}/logs/gallery.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        scale=SCALE.name,
        runs=planned_runs(),
        figures={name: of for name, of in FIGURES.items() if is_made(name)},
        # `make gallery` makes both: they are estimates, known before anything runs.
        cost=f"{RESULTS}/cost/questions.csv",
        paper_cost="results/paper/cost/questions.csv",
    message:
        "Refreshing figures/gallery and the README's numbers"
    script:
        "../../scripts/gallery.py"
