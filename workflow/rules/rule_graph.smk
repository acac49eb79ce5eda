# The rules themselves, as text that code hosts draw. Which there are is known when all have been read.


rule rule_graph:
    input:
        snakefile=Path(workflow.basedir) / "Snakefile",
        rules=sorted(map(str, Path(workflow.basedir).glob("workflow/rules/*.smk"))),
    output:
        page="docs/rule_graph.md",
        readme=update("README.md"),
    log:
        f"{RESULTS}/logs/rule_graph.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        files=lambda wildcards: {
            known.name: Path(known.snakefile).stem
            for known in workflow.rules
            if not known.norun
            and Path(known.snakefile).stem not in ("report", "rule_graph")
        },
    message:
        "Writing docs/rule_graph.md and the README's graph of the main figure"
    script:
        "../../scripts/rule_graph.py"
