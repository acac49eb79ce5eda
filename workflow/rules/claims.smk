# The scoreboard: every claim of the paper, judged by the rules of config/claims.yaml.


rule claims:
    input:
        unpack(lambda wildcards: claims_input()),
        rules="config/claims.yaml",
    output:
        board="results/claims.csv",
        estimates="results/claims_estimates.csv",
        text="results/claims.md",
        verdicts=f"{RESULTS}/verdicts.csv",
        # The scale's own copy: other scales overwrite the one above.
        kept=f"{RESULTS}/estimates.csv",
        pdf="figures/claims.pdf",
        png=report(
            "figures/claims.png",
            caption="../report/figure.rst",
            category=category("claims"),
            labels={"result": "Figure: claims"},
        ),
        caption="figures/claims.rst",
    log:
        f"{RESULTS}/logs/claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/claims.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        scale=SCALE.name,
        only=config.get("claims"),
        notice=SCALE.notice,
    message:
        "Judging the paper's claims"
    script:
        "../../scripts/claims.py"
