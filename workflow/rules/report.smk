# What `snakemake --report report.html` shows besides the figures: every table as a page, the explorer, runtimes
# and provenance, and the text it opens with.


rule report_tables:
    input:
        answer=lambda wildcards: ANSWERS.get(wildcards.question, RELEASED),
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
        **WHOLE_ANSWERS,
        figure=f"figures/{WHOLE_FIGURES[0]}.png",
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
        runs=RUNS,
        answers=list(WHOLE_ANSWERS),
        benchmarks=f"{RESULTS}/benchmarks",
    message:
        "Summing up runtimes and provenance"
    script:
        "../../scripts/report_overview.py"


# The model is OlmixBase's, over the initial domains, as the question of noise fits it.
rule report_explorer:
    input:
        data=rules.build_domains.output.data,
        models=f"{RESULTS}/fit_models/noise",
        ratios=f"{RESULTS}/collect_swarm/topics/ratios.csv",
        metrics=f"{RESULTS}/collect_swarm/topics/metrics.csv",
    output:
        page=report(
            "results/report/explorer.html",
            caption="../report/explorer.rst",
            category=category("explorer"),
            labels={"result": "Explorer"},
        ),
    log:
        f"{RESULTS}/logs/report_explorer.log",
    benchmark:
        f"{RESULTS}/benchmarks/report_explorer.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    params:
        proposal=lambda wildcards: as_params(PLAN.studies["noise"].proposals[0]),
        updates=SCALE["updates"],
        requested=SCALE["requested_tokens"]["tight"],
        scale=SCALE.name,
    message:
        "Writing the page that explores the mix"
    script:
        "../../scripts/report_explorer.py"


rule gallery:
    input:
        figures=expand("figures/{name}.png", name=MADE_FIGURES),
        answers=list(ANSWERS.values()),
        citation="CITATION.cff",
    output:
        pictures=expand("figures/gallery/{name}.png", name=MADE_FIGURES),
        numbers="figures/gallery/numbers.json",
        manifest="codecheck.yml",
        # Their blocks are written again, the rest stays; `rule_graph` has a block of its own there.
        pages=[
            update("README.md"),
            update("docs/questions.md"),
            update("docs/reproducibility.md"),
        ],
    log:
        f"{RESULTS}/logs/gallery.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        scale=SCALE.name,
        runs=RUNS,
        figures={name: FIGURES[name] for name in MADE_FIGURES},
        # `make gallery` makes both: they are estimates, known before anything runs.
        cost=f"{RESULTS}/cost/questions.csv",
        paper_cost="results/paper/cost/questions.csv",
        benchmarks=f"{RESULTS}/benchmarks",
    message:
        "Refreshing figures/gallery and the numbers of README.md and docs/"
    script:
        "../../scripts/gallery.py"
