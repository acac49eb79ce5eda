# The data of a scale: tokenised domains, tokenizer, task suite.


rule build_domains:
    input:
        sources=PUBLIC.joined if "public" in SCALE["data"] else [],
        tokenizer=[PUBLIC.tokenizer] if "public" in SCALE["data"] else [],
        suite=[PUBLIC.suite] if "public" in SCALE["data"] else [],
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


# What would stop a run later: caps, versions of revised domains, text too short. Not an input that makes
# runs be listed again, and no more than a look where the data are made here.
rule check_data:
    input:
        data=rules.build_domains.output.data,
    output:
        checked=f"{RESULTS}/check_data.json",
    log:
        f"{RESULTS}/logs/check_data.log",
    benchmark:
        f"{RESULTS}/benchmarks/check_data.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        updates=CHECKED_UPDATES,
        models=SCALE["models"],
        requested=SCALE["requested_tokens"],
        repetition=SCALE["repetition"],
    message:
        "Checking the data against what will be asked of them"
    script:
        "../../scripts/check_data.py"
