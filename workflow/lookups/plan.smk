# Config and plan: what is read when the Snakefile is parsed. The plan says what is sampled, trained and
# proposed, and its jobs which files each reads; functions that need Snakemake are beside this file.
import sys
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.enums import Quietness
from snakemake.utils import validate

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from olmix.claims.settings import load_claims
from olmix.cost.gpu_requests import training_requests
from olmix.cost.measured import measured_file, with_measured
from olmix.cost.planned import planned_chains, planned_questions, planned_swarms
from olmix.cost.time_limits import check_attempts, check_time, partition_limits
from olmix.errors import OlmixError
from olmix.paths import lead_python_here
from olmix.presentation.report.categories import category
from olmix.provenance.progress import Watch, closing_lines, write_plan
from olmix.published.settings import load_settings
from olmix.questions.catalogue import (
    asked_questions,
    lacking,
    load_questions,
    plan_study,
    settings_of,
)
from olmix.questions.tables.names import TABLES
from olmix.study.jobs import Jobs
from olmix.study.scale import load_scale
from olmix.study.spec import as_params
from olmix.training.launch import check_nodes

lead_python_here()  # every job, wherever it runs

validate(config, schema="../schemas/config.schema.yaml")
try:
    SCALE = load_scale(Path(workflow.basedir) / "config" / "scales", config["scale"])
    if config.get("ours") is not None:
        # From the command line it comes as text.
        SCALE.content["ours"] = str(config["ours"]).lower() == "true"
    validate(SCALE.content, schema="../schemas/scale.schema.yaml")
    SCALE = with_measured(SCALE)
    DESIGN = SCALE.design_print(workflow.basedir)
    PAPER = load_scale(Path(workflow.basedir) / "config" / "scales", "paper")
    PLAN = plan_study(SCALE, workflow.basedir)
    TRAINING_GPUS = training_requests(SCALE, config["gpu_request"])
    PUBLISHED = load_settings(Path(workflow.basedir) / "config" / "published.yaml")
except OlmixError as error:
    raise WorkflowError(str(error))

JOBS = Jobs(PLAN)
RESULTS = JOBS.results
PUBLISHED["local"] = config.get("published") or PUBLISHED["local"]
PUBLISHED_FIGURES = [
    "regression_models",
    "repetition_factor",
    "solvers",
    "kl_sensitivity",
    "coefficients",
    "final_mixes",
    "laws",
    "swarm_size",
]

# Cores of a job that fits many laws: where no model is trained, nothing else wants them.
FITTING_CORES = 1 if SCALE["engine"] == "train" else 8

# The sequences of updates that something is trained for.
CHECKED_UPDATES = [
    PLAN.updates.file,
    *(update.file for update in PLAN.single_updates.values() if update.groups),
]

# Those that the scale is about.
QUESTIONS = asked_questions(SCALE)
# figure -> the question whose results it draws
FIGURES = {
    figure: name for name, question in QUESTIONS.items() for figure in question.figures
}
# What the scale's engine can make.
MADE_QUESTIONS = [name for name in QUESTIONS if not lacking(name, SCALE)]
MADE_FIGURES = [
    figure
    for figure, question in FIGURES.items()
    if question in MADE_QUESTIONS and not lacking(figure, SCALE)
]
# What `snakemake` makes without being asked by name: all of it, or at a scale that says so (`ours:
# false`) what is the paper's.
WHOLE = [name for name in MADE_QUESTIONS if SCALE.ours or QUESTIONS[name].paper]
WHOLE_FIGURES = [figure for figure in MADE_FIGURES if FIGURES[figure] in WHOLE]
# question -> the results whose tables the report shows; claims and descriptive tables are about the
# paper, as is the explorer of the report: one's own text has its own.
ANSWERS = {name: f"results/{name}" for name in MADE_QUESTIONS}
PAGES = ["results/report/overview.html"]
if not SCALE.of_own_text:
    ANSWERS |= {"claims": "results/claims.csv", "tables": "results/tables"}
    PAGES += ["results/report/explorer.html"]
    # The board of claims is ours, and judges by the noise that we measured.
    WHOLE += ["claims", "tables"] if SCALE.ours else ["tables"]
WHOLE_ANSWERS = {name: ANSWERS[name] for name in WHOLE}
PAGES += [f"results/report/{name}" for name in WHOLE]
# Released swarms have a target of their own.
RELEASED = "results/published/published_table"
# How many runs of each kind the whole study trains.
RUNS = [
    (kind, sum(PLAN.swarms[name].size for name in JOBS.of_model(target=target)))
    for kind, target in (("proxy", False), ("target", True))
]


wildcard_constraints:
    mixes="|".join(PLAN.mixes),
    proxies="|".join(JOBS.of_model(target=False)),
    targets="|".join(JOBS.of_model(target=True)),
    swarm="|".join(PLAN.swarms),
    study="|".join(PLAN.studies),
    shard=r"\d+",
    # None at a scale of somebody's own text: then the names match nothing.
    step="|".join(JOBS.steps) or "(?!)",
    probe="|".join(JOBS.probes) or "(?!)",
    round="|".join(PLAN.rounds) or "(?!)",
    single="|".join(s.single for s in PLAN.steering.values() if s.single) or "(?!)",
    figure="|".join(FIGURES),
    question="|".join([*QUESTIONS, "claims", "tables", "published"]),
    law="|".join(PUBLISHED["regression"]["families"]),
    released="|".join(PUBLISHED_FIGURES),
