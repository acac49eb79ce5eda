# Config and plan: what is read when the Snakefile is parsed. Functions of it are beside this file, by
# the rules that use them.
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake.utils import validate

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from olmix.claims.settings import load_claims
from olmix.errors import OlmixError
from olmix.progress import PROXIES, TARGETS, Training, Watch, write_plan
from olmix.published.settings import load_settings
from olmix.report.categories import category
from olmix.rule_graph import stage_of
from olmix.study.checks import check_plan
from olmix.study.compute import Machine, RunCost
from olmix.study.gpu_requests import evaluation_requests, training_requests
from olmix.study.methods import load_methods, plan_methods
from olmix.study.questions import plan_questions
from olmix.study.scale import load_scale
from olmix.study.single_updates import add_single_updates, load_single_updates
from olmix.study.spec import SpaceSpec, as_params, job_sizes
from olmix.study.stage_prints import domain_prints, lineage_prints
from olmix.study.update_plan import FROM_SCRATCH, UpdatePlan
from olmix.training.launch import check_nodes
from olmix.update_sequence import INITIAL, load_updates

validate(config, schema="../schemas/config.schema.yaml")
try:
    SCALE = load_scale(Path(workflow.basedir) / "config" / "scales", config["scale"])
    validate(SCALE.content, schema="../schemas/scale.schema.yaml")
    DESIGN = SCALE.design_print(workflow.basedir)
    PAPER = load_scale(Path(workflow.basedir) / "config" / "scales", "paper")
    SEQUENCE = load_updates(Path(workflow.basedir) / SCALE["updates"])
    METHODS = load_methods(Path(workflow.basedir) / "config" / "methods")
    PLAN = plan_questions(SCALE)
    plan_methods(PLAN, SCALE, METHODS, domains=len(SEQUENCE.initial))
    UPDATES = UpdatePlan(SEQUENCE, SCALE)
    UPDATES.add_to(PLAN)
    check_plan(PLAN, SCALE, SEQUENCE)
    SINGLE_UPDATES = load_single_updates(workflow.basedir, UPDATES)
    add_single_updates(PLAN, SINGLE_UPDATES)
    TRAINING_GPUS = training_requests(SCALE, config["gpu_request"])
    EVALUATION_GPUS = evaluation_requests(SCALE, config["gpu_request"])
    PUBLISHED = load_settings(Path(workflow.basedir) / "config" / "published.yaml")
except OlmixError as error:
    raise WorkflowError(str(error))

# group of chains -> the plan of its updates
GROUPS = {
    group: updates
    for updates in (UPDATES, *SINGLE_UPDATES.values())
    for group in updates.groups()
}
MACHINE = Machine.from_dict(SCALE["hardware"])
RESULTS = f"results/{SCALE.name}"
# What jobs take from each sequence of updates, as parameters: a later stage is not part of it.
SEQUENCES = {SCALE["updates"]: SEQUENCE} | {
    update.file: update.sequence for update in SINGLE_UPDATES.values()
}
LINEAGES = {file: lineage_prints(found) for file, found in SEQUENCES.items()}
DOMAINS = {file: domain_prints(found) for file, found in SEQUENCES.items()}
TARGET_SWARMS = [name for name, swarm in PLAN.swarms.items() if swarm.model == "target"]
PROXY_SWARMS = [name for name in PLAN.swarms if name not in TARGET_SWARMS]

PUBLISHED["local"] = config.get("published") or PUBLISHED["local"]
PUBLISHED_FIGURES = [
    "regression_models",
    "repetition_factor",
    "solvers",
    "kl_sensitivity",
    "coefficients",
    "final_mixes",
]

# figure -> the question whose results it draws
FIGURES = {
    "proxy_size": "rq1",
    "swarm_size": "rq2",
    "swarm_size_target": "rq2",
    "swarm_distribution": "rq3",
    "regression_models": "rq4",
    "regression_models_sources": "rq4",
    "fit_by_domains": "rq4",
    "granularity_proxy": "rq5",
    "repetition_factor": "rq6",
    "repetition_factor_all": "rq6",
    "solvers": "rq7",
    "solvers_sources": "rq7",
    "main_results": "updates",
    "checkpoints": "updates",
    "proposed_mixes": "updates",
    "main_results_6t": "budgets",
    "low_budget": "budgets",
    "methods": "methods",
    "operators": "operators",
    "reuse_gap": "theory",
    "update_shift": "theory",
    "reused_vs_optimal": "theory",
    "partial_reuse_coupling": "theory",
    "kappa_reduction": "theory",
}

# figure or question -> what it needs that the engine `simulate` does not have
NEEDS_TRAINING = {
    "checkpoints": "BPB along training",
    "methods": "text: BiMix's swarm weighs domains by the entropy of their tokens",
}

# question -> the results whose tables the report shows
ANSWERS = {name: f"results/{name}" for name in (*FIGURES.values(), *PLAN.asks)} | {
    "claims": "results/claims.csv",
    "tables": "results/tables",
    "published": "results/published/published_table",
}


wildcard_constraints:
    mixes="|".join(PLAN.mixes),
    proxies="|".join(PROXY_SWARMS),
    targets="|".join(TARGET_SWARMS),
    swarm="|".join(PLAN.swarms),
    study="|".join(PLAN.studies),
    shard=r"\d+",
    group="|".join(GROUPS),
    stage="|".join(
        {stage: None for updates in GROUPS.values() for stage in updates.stages}
    ),
    figure="|".join(FIGURES),
    question="|".join(ANSWERS),
    law="|".join(PUBLISHED["regression"]["families"]),
    released="|".join(PUBLISHED_FIGURES),
