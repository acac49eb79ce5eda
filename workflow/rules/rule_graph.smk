# Pictures of the rules themselves: all of them, and those of each question.


rule rule_graph:
    input:
        rules_pictures(),
    message:
        "The rules by stage: figures/rule_graph.pdf, and those of each question in figures/rule_graph/"


rule draw_rule_graph:
    input:
        # Read by Snakemake, which the script asks for the graph of jobs.
        snakefile=Path(workflow.basedir) / "Snakefile",
        rules=rule_files(),
    output:
        pictures=rules_pictures(),
    log:
        f"{RESULTS}/logs/draw_rule_graph.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_rule_graph.tsv"
    localrule: True
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        # Known only when all rules are.
        stages=lambda wildcards: stages_of_rules(),
        parts=graph_parts(),
        config=config,
        scale=SCALE.name,
    message:
        "Drawing the rule graph"
    script:
        "../../scripts/draw_rule_graph.py"
