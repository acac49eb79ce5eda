# Olmix as a rule graph: the contents page. What a user edits is in config/, how things are made is in
# workflow/rules/, the work itself is in scripts/.
from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/lookups/plan.smk"
include: "workflow/lookups/requests.smk"
include: "workflow/lookups/results.smk"
include: "workflow/lookups/progress.smk"
include: "workflow/lookups/preflight.smk"


# Public texts are fetched and tokenised first; other data are made or were prepared.
if "public" in SCALE["data"]:

    include: "workflow/lookups/public_data.smk"
    include: "workflow/rules/public_data.smk"


include: "workflow/rules/domains.smk"
include: "workflow/rules/swarms.smk"
include: "workflow/rules/proposals.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/systems.smk"
include: "workflow/rules/updates.smk"
include: "workflow/rules/questions.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/rule_graph.smk"
include: "workflow/rules/progress.smk"
include: "workflow/rules/preflight.smk"


# Where the runs of a swarm come from is the scale's choice.
if SCALE["engine"] == "simulate":

    include: "workflow/rules/simulate.smk"


# After all other rules: what they make is what there is.
include: "workflow/lookups/unknown.smk"
include: "workflow/rules/unknown.smk"


# Seconds each: with a cluster they run where Snakemake runs, and do not wait in its queue.
localrules:
    all,
    check_data,
    sample_swarm,
    sample_probe,
    sample_stage,
    list_runs,
    evaluate_proxies,
    evaluate_targets,
    collect_swarm,
    draw_figure,
    report_tables,
    report_overview,


rule all:
    default_target: True
    input:
        expand("figures/{name}.pdf", name=WHOLE_FIGURES),
        WHOLE_ANSWERS.values(),
        PAGES,
