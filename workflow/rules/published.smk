# The swarms the authors released: everything after training, with the paper's values beside ours.
# Whatever the scale; which swarms there are is found out when they are read.


rule published:
    input:
        answer="results/published/published_table",
        figures=expand("figures/published/{released}.pdf", released=PUBLISHED_FIGURES),
        pages="results/report/published",
    message:
        "The paper's values and ours: results/published/published_table/comparison.csv"


rule fetch_published:
    input:
        files=lambda wildcards: published_files(),
    output:
        manifest="results/published/fetch_published.json",
    log:
        "results/published/logs/fetch_published.log",
    benchmark:
        "results/published/benchmarks/fetch_published.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        dataset=PUBLISHED["dataset"],
        revision=PUBLISHED["revision"],
        local=PUBLISHED["local"],
        # Not an output: what has arrived must survive a job that fails.
        downloads="results/downloads",
    message:
        "Finding the released swarms"
    script:
        "../../scripts/fetch_published.py"


rule published_swarms:
    input:
        manifest=rules.fetch_published.output.manifest,
    output:
        swarms=directory("results/published/published_swarms"),
    log:
        "results/published/logs/published_swarms.log",
    benchmark:
        "results/published/benchmarks/published_swarms.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=published_settings("swarms", "sources", "missing"),
    message:
        "Reading the released swarms"
    script:
        "../../scripts/published_swarms.py"


# The laws of config/measured/law.json again, here: copied there by hand if they are to be used.
rule measure_law:
    input:
        manifest=rules.fetch_published.output.manifest,
        settings="config/measured.yaml",
    output:
        laws="results/published/measure_law/law.json",
        unseen="results/published/measure_law/unseen.csv",
    log:
        "results/published/logs/measure_law.log",
    benchmark:
        "results/published/benchmarks/measure_law.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    message:
        "Measuring laws on the released runs"
    script:
        "../../scripts/measure_law.py"


rule published_regression:
    input:
        swarms=rules.published_swarms.output.swarms,
        method="config/methods/olmix_base.yaml",
    output:
        fits="results/published/published_regression/{law}.csv",
    log:
        "results/published/logs/published_regression/{law}.log",
    benchmark:
        "results/published/benchmarks/published_regression/{law}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=PUBLISHED["regression"],
    message:
        "Released swarm, RQ4: fit of {wildcards.law} against swarm size"
    script:
        "../../scripts/published_regression.py"


rule published_laws:
    input:
        swarms=rules.published_swarms.output.swarms,
        method="config/methods/olmix_base.yaml",
    output:
        fits="results/published/published_laws/{law}.csv",
    log:
        "results/published/logs/published_laws/{law}.log",
    benchmark:
        "results/published/benchmarks/published_laws/{law}.tsv"
    # The longest first, so that no core waits for the last of them.
    priority: 1
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=published_settings("regression", "laws"),
    message:
        "Released swarms: fit of {wildcards.law} against runs per domain"
    script:
        "../../scripts/published_laws.py"


rule published_proposed:
    input:
        swarms=rules.published_swarms.output.swarms,
        mixes=published_proposals(),
    output:
        proposals="results/published/published_proposed.csv",
    log:
        "results/published/logs/published_proposed.log",
    benchmark:
        "results/published/benchmarks/published_proposed.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=PUBLISHED["proposed"],
    message:
        "Released swarm, RQ2: the authors' proposed mixes by a law"
    script:
        "../../scripts/published_proposed.py"


rule published_design:
    input:
        swarms=rules.published_swarms.output.swarms,
        method="config/methods/olmix_base.yaml",
    output:
        answer=directory("results/published/published_design"),
    log:
        "results/published/logs/published_design.log",
    benchmark:
        "results/published/benchmarks/published_design.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=published_settings("granularity", "design", "factors", "solvers"),
    message:
        "Released swarm, RQ5 to RQ7: granularity, repetition, solvers"
    script:
        "../../scripts/published_design.py"


rule published_mixes:
    input:
        swarms=rules.published_swarms.output.swarms,
        method="config/methods/olmix_base.yaml",
    output:
        answer=directory("results/published/published_mixes"),
    log:
        "results/published/logs/published_mixes.log",
    benchmark:
        "results/published/benchmarks/published_mixes.tsv"
    # The longest job is started first.
    priority: 10
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=published_settings("swarms", "final", "bootstrap", "updates", "mixes"),
    message:
        "Released swarms: final mixes, reuse chain, coupling"
    script:
        "../../scripts/published_mixes.py"


rule published_table:
    input:
        manifest=rules.fetch_published.output.manifest,
        swarms=rules.published_swarms.output.swarms,
        fits=expand(
            rules.published_regression.output.fits,
            law=PUBLISHED["regression"]["families"],
        ),
        laws=expand(
            rules.published_laws.output.fits,
            law=PUBLISHED["regression"]["families"],
        ),
        proposals=rules.published_proposed.output.proposals,
        answers=[
            rules.published_design.output.answer,
            rules.published_mixes.output.answer,
        ],
    output:
        answer=directory("results/published/published_table"),
    log:
        "results/published/logs/published_table.log",
    benchmark:
        "results/published/benchmarks/published_table.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=published_settings("paper"),
    message:
        "The paper's values beside ours"
    script:
        "../../scripts/published_table.py"


rule published_figure:
    input:
        swarms=rules.published_swarms.output.swarms,
        table=rules.published_table.output.answer,
        design=rules.published_design.output.answer,
        mixes=rules.published_mixes.output.answer,
    output:
        pdf="figures/published/{released}.pdf",
        png=report(
            "figures/published/{released}.png",
            caption="../report/figure.rst",
            category=category("published"),
            labels={"result": "Figure: {released}"},
        ),
        caption="figures/published/{released}.rst",
    log:
        "results/published/logs/published_figure/{released}.log",
    benchmark:
        "results/published/benchmarks/published_figure/{released}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Drawing {wildcards.released} of the released swarms"
    script:
        "../../scripts/published_figure.py"
