# One function draws one figure from one question's results.


rule draw_figure:
    input:
        answer=answer_of,
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category=lambda wildcards: category(FIGURES[wildcards.figure]),
            labels={"result": "Figure: {figure}"},
        ),
        caption="figures/{figure}.rst",
    log:
        f"{RESULTS}/logs/draw_figure/{{figure}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_figure/{{figure}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        question=lambda wildcards: FIGURES[wildcards.figure],
        scale=SCALE.name,
        notice=SCALE.notice,
    message:
        "Drawing {wildcards.figure}"
    script:
        "../../scripts/draw_figure.py"
