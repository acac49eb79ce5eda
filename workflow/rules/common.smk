# Config, plan and lookups. Every function of the workflow is here; the other files hold rules only.
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))

from olmix.errors import OlmixError
from olmix.study.checks import check_plan
from olmix.study.questions import plan_questions
from olmix.study.scale import load_scale
from olmix.study.spec import as_params
from olmix.update_sequence import load_updates

validate(config, schema="../schemas/config.schema.yaml")
try:
    SCALE = load_scale(Path(workflow.basedir) / "config" / "scales", config["scale"])
    validate(SCALE.content, schema="../schemas/scale.schema.yaml")
    PAPER = load_scale(Path(workflow.basedir) / "config" / "scales", "paper")
    SEQUENCE = load_updates(Path(workflow.basedir) / SCALE["updates"])
    PLAN = plan_questions(SCALE)
    check_plan(PLAN, SCALE, SEQUENCE)
except OlmixError as error:
    raise WorkflowError(str(error))

RESULTS = f"results/{SCALE.name}"
TARGET_SWARMS = [name for name, swarm in PLAN.swarms.items() if swarm.model == "target"]
PROXY_SWARMS = [name for name in PLAN.swarms if name not in TARGET_SWARMS]

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
}


wildcard_constraints:
    mixes="|".join(PLAN.mixes),
    proxies="|".join(PROXY_SWARMS),
    targets="|".join(TARGET_SWARMS),
    swarm="|".join(PLAN.swarms),
    study="|".join(PLAN.studies),
    shard=r"\d+",
    figure="|".join(FIGURES),


def every_figure():
    """All figures of the study."""
    return [f"figures/{figure}.pdf" for figure in FIGURES]


def every_question():
    """The results folder of every question."""
    return [f"results/{question}" for question in PLAN.asks]


def model_of(swarm):
    """The scale's settings of the model a swarm trains."""
    return SCALE.model(PLAN.swarms[swarm].model)


def science_of(swarm):
    """Those of them that decide the result: what a job asks for is left out."""
    hardware = ("threads", "mem_mb", "runtime", "gpu")
    return {key: value for key, value in model_of(swarm).items() if key not in hardware}


def space_of(swarm):
    """The space a swarm's mixes are over; None for proposals, which are over single domains."""
    spec = PLAN.swarms[swarm]
    return None if spec.proposals else as_params(PLAN.mixes[spec.mixes].space)


def shards_of(swarm):
    """The jobs a swarm is trained in."""
    return range(-(-PLAN.swarms[swarm].size // model_of(swarm)["runs_per_job"]))


def mixes_file(swarm):
    """Where a swarm's mixes are: sampled, or proposed by a study."""
    spec = PLAN.swarms[swarm]
    rule_folder = "propose_mixes" if spec.proposals else "sample_swarm"
    return f"{RESULTS}/{rule_folder}/{spec.mixes}.csv"


def prior_of(mixes):
    """The proposal that sampled mixes are centred on, as a file to wait for."""
    prior = PLAN.mixes[mixes].prior
    return {"prior": f"{RESULTS}/propose_mixes/{prior.split('/')[0]}"} if prior else {}


def evaluations_of(swarm):
    """The evaluation folders of all jobs of a swarm."""
    folder = "evaluate_targets" if swarm in TARGET_SWARMS else "evaluate_proxies"
    return [f"{RESULTS}/{folder}/{swarm}/{shard}" for shard in shards_of(swarm)]


def tables_of(swarms):
    """The ratios.csv of some swarms; their metrics.csv is beside it."""
    return [f"{RESULTS}/collect_swarm/{swarm}/ratios.csv" for swarm in swarms]


def question_input(question):
    """What a question's analysis reads: tables of its swarms, proposals of its studies."""
    swarms = dict.fromkeys(PLAN.reads[question])
    for study in PLAN.asks[question]:
        swarms |= dict.fromkeys(PLAN.studies[study].swarms)
    return {
        "data": f"{RESULTS}/build_domains",
        "tables": tables_of(swarms),
        "proposals": [
            f"{RESULTS}/propose_mixes/{study}" for study in PLAN.asks[question]
        ],
    }


def run_counts():
    """How many proxy and target runs each question needs; swarms that questions share count once."""
    lines = [f"scale {SCALE.name}", f"{'question':<10} {'proxy runs':>10} {'target runs':>11}"]
    for question, proxies, targets in PLAN.run_counts():
        lines.append(f"{question:<10} {proxies:>10} {targets:>11}")
    return lines


def launch(swarm):
    """How a training job starts: one process, or torchrun over the GPUs it asked for."""
    gpus = model_of(swarm)["gpu"]
    if gpus <= 1:
        return "python -m olmix train"
    return (
        f"torchrun --nproc-per-node {gpus} --no-python python -m olmix train --sharded"
    )
