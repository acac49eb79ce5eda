# Olmix as a rule graph: the contents page. What a user edits is in config/, how things are made is in
# workflow/rules/, the work itself is in scripts/.
from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/domains.smk"
include: "workflow/rules/swarms.smk"
include: "workflow/rules/proposals.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/updates.smk"
include: "workflow/rules/questions.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/claims.smk"


# Where the runs of a swarm come from is the scale's choice.
if SCALE["engine"] == "simulate":

    include: "workflow/rules/simulate.smk"


rule all:
    default_target: True
    input:
        every_figure(),
        every_question(),
        "results/tables",
        "results/claims.csv",
