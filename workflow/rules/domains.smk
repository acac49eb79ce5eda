# The data of a scale: tokenised domains, tokenizer, task suite.


rule build_domains:
    output:
        data=directory(f"{RESULTS}/build_domains"),
    log:
        f"{RESULTS}/logs/build_domains.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_domains.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        data=SCALE["data"],
        # The design's own contents: its file is read by the job.
        rerun_when=DESIGN,
    message:
        "Making the domains and tasks of scale {config[scale]} ready"
    script:
        "../../scripts/build_domains.py"
