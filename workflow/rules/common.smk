# Config, plan and lookups. Every function of the workflow is here; the other files hold rules only.
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
from olmix.progress import PROXIES, TARGETS, Training, Watch, run_work, write_plan
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
from olmix.study.spec import SpaceSpec, as_params
from olmix.study.stage_prints import domain_prints, lineage_prints
from olmix.study.update_plan import FROM_SCRATCH, UpdatePlan
from olmix.update_sequence import INITIAL, load_updates

validate(config, schema="../schemas/config.schema.yaml")
try:
    SCALE = load_scale(Path(workflow.basedir) / "config" / "scales", config["scale"])
    validate(SCALE.content, schema="../schemas/scale.schema.yaml")
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


def every_figure():
    """All figures of the study."""
    return [f"figures/{figure}.pdf" for figure in FIGURES if is_made(figure)]


def every_question():
    """The results folder of every question."""
    return [f"results/{question}" for question in PLAN.asks if is_made(question)]


def is_made(name):
    """Whether the scale's engine can make a figure or answer a question."""
    return SCALE["engine"] == "train" or name not in NEEDS_TRAINING


def refuse_unmade(name):
    """One clear line for whoever asks for what the scale's engine cannot make."""
    if not is_made(name):
        raise WorkflowError(
            f"{name}: needs {NEEDS_TRAINING[name]}, but scale '{SCALE.name}' trains nothing "
            f"(engine: {SCALE['engine']}); use another scale, such as tiny"
        )


def answer_of(figure):
    """The results folder that a figure is drawn from."""
    refuse_unmade(figure)
    return f"results/{FIGURES[figure]}"


def graph_parts():
    """Every question, and the released swarms: each has a picture of its own rules."""
    return [*dict.fromkeys(FIGURES.values()), "published"]


def rules_pictures():
    """The pictures of the rules, of all and by part."""
    names = ["rule_graph", *(f"rule_graph/{part}" for part in graph_parts())]
    return [f"figures/{name}.{kind}" for name in names for kind in ("pdf", "png")]


def stages_of_rules():
    """The stage of every rule that runs something, by the file it is written in."""
    return {
        known.name: stage_of(known.name, Path(known.snakefile).stem)
        for known in workflow.rules
        if not known.norun
    }


def rule_files():
    """The files that rules are written in."""
    return sorted(map(str, Path(workflow.basedir).glob("workflow/rules/*.smk")))


def law_files():
    """The file of the law to simulate, if there is one: another law is another world."""
    return [SCALE["data"]["law"]["design"]] if "law" in SCALE["data"] else []


def model_of(swarm):
    """The scale's settings of the model a swarm trains."""
    return SCALE.model(PLAN.swarms[swarm].model)


def science_of(swarm):
    """Those of them that decide the result: what a job asks for is left out."""
    hardware = ("threads", "gpu", "nodes", "processes_per_node")
    return {key: value for key, value in model_of(swarm).items() if key not in hardware}


def job_size(swarm):
    """How many runs a swarm's jobs have, and how often a run is scored at most."""
    spec, model = PLAN.swarms[swarm], model_of(swarm)
    points = len(model.get("evaluate_at", ())) if spec.curve else 0
    return min(spec.size, model["runs_per_job"]), 1 + points


@cache
def training_of(swarm):
    """Minutes, memory and micro batch of a job that trains some of a swarm's runs."""
    cost = RunCost(PLAN.swarms[swarm].model, model_of(swarm), MACHINE)
    return cost.training_request(*job_size(swarm))


@cache
def evaluation_of(swarm):
    """Minutes and memory of a job that evaluates some of a swarm's runs."""
    cost = RunCost(PLAN.swarms[swarm].model, model_of(swarm), MACHINE)
    return cost.evaluation_request(job_size(swarm)[0])


def training_gpus(swarm):
    """The GPUs and nodes that a job asks for which trains some of a swarm's runs."""
    return TRAINING_GPUS[PLAN.swarms[swarm].model]


def evaluation_gpus(swarm):
    """The GPU that a job asks for which evaluates some of them."""
    return EVALUATION_GPUS[PLAN.swarms[swarm].model]


def space_of(swarm):
    """The space a swarm's mixes are over."""
    spec = PLAN.swarms[swarm]
    space = SpaceSpec(spec.stage) if spec.stage else PLAN.mixes[spec.mixes].space
    return as_params(space)


def shards_of(swarm):
    """The jobs a swarm is trained in."""
    return range(-(-PLAN.swarms[swarm].size // model_of(swarm)["runs_per_job"]))


def mixes_file(swarm):
    """The table of a swarm's mixes: sampled, or proposed."""
    spec = PLAN.swarms[swarm]
    return f"{RESULTS}/{spec.made_by}/{spec.mixes}.csv"


def distribution_of(mixes):
    """The settings of the distribution that mixes are drawn from; designs have none."""
    kind = PLAN.mixes[mixes].kind
    key = "updates" if kind == "two_level" else kind
    return {key: SCALE["swarm"][key]} if key in SCALE["swarm"] else {}


def caps_of(mixes):
    """What a constrained swarm is constrained by; nothing for the others."""
    if not PLAN.mixes[mixes].capped:
        return {}
    return {
        "repetition": SCALE["repetition"],
        "requested": SCALE["requested_tokens"]["tight"],
    }


def lineage_of(wildcards):
    """What a stage's jobs take from the sequence of updates up to and with it."""
    return LINEAGES[updates_file(wildcards.group)][wildcards.stage]


def domains_of(swarm):
    """What a swarm's runs take from it: the domains of their stage."""
    return DOMAINS[updates_file(swarm)][space_of(swarm)["stage"]]


def sampled_from(mixes):
    """The domains that mixes are sampled over, and the shares of their sources where they matter."""
    spec, file = PLAN.mixes[mixes], updates_file(mixes)
    stage = spec.space.stage
    shares = {step.name: dict(step.prior) for step in SEQUENCES[file].steps}
    shares[INITIAL] = dict(SEQUENCES[file].initial_prior)
    drawn = shares.get(stage, {}) if spec.kind == "two_level" else {}
    return [DOMAINS[file][stage], drawn]


def proposed_over(study):
    """The domains that a study's mixes are proposed over, and those of the table they end up in."""
    swarms = PLAN.studies[study].swarms
    final = DOMAINS[SCALE["updates"]]["final"]
    return [*sorted({domains_of(swarm) for swarm in swarms}), final]


def settings_of(question):
    """The settings a question's analysis reads: what all share, and its own sections."""
    shared = (
        "engine",
        "updates",
        "requested_tokens",
        "repetition",
        "kl",
        "seeds",
        "proxy",
    )
    own = {
        "rq4": ("rq2", "rq4"),
        "methods": ("methods", "models"),
        "operators": ("single_updates",),
        "theory": ("single_updates",),
    }.get(question, (question,))
    return {key: SCALE[key] for key in (*shared, *own) if key in SCALE.content}


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
    refuse_unmade(question)
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


def updates_file(name):
    """The updates file that mixes, a swarm or a group of chains are about."""
    return PLAN.update_files.get(name, SCALE["updates"])


def previous_mixes(wildcards):
    """The mixes of the stage before: what a stage's chains start from."""
    before = GROUPS[wildcards.group].previous(wildcards.stage)
    return f"{RESULTS}/update_mixes/{wildcards.group}-{before}"


def active_chains(wildcards):
    """The chains that have a mix at a stage: full recomputation only has its last one."""
    updates = GROUPS[wildcards.group]
    chains = updates.groups()[wildcards.group]
    last = wildcards.stage == updates.stages[-1]
    return [chain for chain in chains if last or chain.strategy not in FROM_SCRATCH]


def chains_with(wildcards, count):
    """(chain, runs) of the chains that train something at a stage; ``count`` names the kind."""
    updates = GROUPS[wildcards.group]
    chains = updates.groups()[wildcards.group]
    counted = [
        (chain.to_dict(), getattr(updates, count)(chain, wildcards.stage))
        for chain in chains
    ]
    return [(chain, runs) for chain, runs in counted if runs]


def auto_budgets(wildcards):
    """(chain, budget) of the chains that choose by themselves what to recompute."""
    return [
        (chain.to_dict(), UPDATES.budget(chain, wildcards.stage))
        for chain in UPDATES.groups()[wildcards.group]
        if UPDATES.probe_runs(chain, wildcards.stage)
    ]


def stage_number(wildcards):
    """The place of a stage in its sequence of updates."""
    return GROUPS[wildcards.group].stages.index(wildcards.stage)


def has_probe(wildcards):
    """Whether some chain of the group probes at a stage."""
    return f"{wildcards.group}-{wildcards.stage}-probe" in PLAN.swarms


def choices_of(wildcards):
    """The choices of auto reuse at a stage, if a chain makes one."""
    folder = f"{RESULTS}/choose_recomputed"
    return (
        {"choices": f"{folder}/{wildcards.group}-{wildcards.stage}.json"}
        if has_probe(wildcards)
        else {}
    )


def own_tables(group, stages):
    """The collected swarms that a group's chains trained for themselves, by stage."""
    swarms = {stage: f"{group}-{stage}" for stage in stages}
    return {
        stage: tables_of([name])[0]
        for stage, name in swarms.items()
        if name in PLAN.swarms
    }


def earlier_tables(wildcards):
    """Those of the stages before, and of their probes."""
    before = GROUPS[wildcards.group].stages[: stage_number(wildcards)]
    names = [name for stage in before for name in (stage, f"{stage}-probe")]
    return own_tables(wildcards.group, names)


def stage_tables(wildcards):
    """That of a stage."""
    return own_tables(wildcards.group, [wildcards.stage])


def stage_pools(wildcards):
    """The pools that chains may draw from up to and with a stage, by stage."""
    updates = GROUPS[wildcards.group]
    pools = {
        stage: updates.pool(stage)
        for stage in updates.stages[: stage_number(wildcards) + 1]
    }
    return {
        stage: tables_of([name])[0]
        for stage, name in pools.items()
        if name in PLAN.swarms
    }


def stage_input(wildcards):
    """What else the proposals of a stage wait for: previous mixes, probe and choices."""
    found = dict(choices_of(wildcards))
    if has_probe(wildcards):
        found["probe"] = tables_of([f"{wildcards.group}-{wildcards.stage}-probe"])[0]
    if wildcards.stage != INITIAL:
        found["previous"] = previous_mixes(wildcards)
    return found


def update_answer_input(groups):
    """What the analysis of some groups reads: target tables, final mixes, target runs if any."""
    last = UPDATES.stages[-1]
    targets = [f"{group}-target" for group in groups]
    return {
        "data": f"{RESULTS}/build_domains",
        "tables": tables_of(targets),
        "proposals": [f"{RESULTS}/update_mixes/{group}-{last}" for group in groups],
        "runs": [
            f"{RESULTS}/train_targets/{t}/{shard}"
            for t in targets
            for shard in shards_of(t)
            if is_made("checkpoints")
        ],
    }


def single_answer_input(question):
    """What the analysis of the single updates of a question reads: tables, and mixes."""
    names = [
        name for name in SINGLE_UPDATES if f"{name}-target" in PLAN.reads[question]
    ]
    return {
        "data": f"{RESULTS}/build_domains",
        "tables": tables_of(PLAN.reads[question]),
        "proposals": [
            f"{RESULTS}/update_mixes/{SINGLE_UPDATES[name].own}" for name in names
        ],
    }


def single_updates_of(question):
    """File, stage and pool of the single updates of a question, by name."""
    return {
        name: {
            "file": update.file,
            "stage": update.stage,
            "pool": update.pool(update.stage),
        }
        for name, update in SINGLE_UPDATES.items()
        if update.target in PLAN.reads[question]
    }


def chain_costs(group):
    """(chain, proxy runs over all stages) of every chain of a group."""
    return [
        (chain.to_dict(), UPDATES.total_runs(chain))
        for chain in UPDATES.groups()[group]
    ]


def claims_input():
    """Results of all the claims, and the verdicts of scales that repeat this one, if there are any."""
    settings = load_claims(Path(workflow.basedir) / "config" / "claims.yaml")
    answers = dict.fromkeys(name for claim in settings.claims for name in claim.results)
    others = settings.repetitions.get(SCALE.name, ())
    verdicts = [f"results/{scale}/verdicts.csv" for scale in others]
    return {
        "answers": [f"results/{name}" for name in answers],
        "repetitions": [path for path in verdicts if Path(path).exists()],
    }


def planned_swarms():
    """Every swarm with what it costs by, for the cost report."""
    return {
        name: {
            "model": swarm.model,
            "runs": swarm.size,
            # On average: only some runs are also scored along training.
            "scored": 1 + len(swarm.curve) * (job_size(name)[1] - 1) / swarm.size,
            "after": list(PLAN.comes_after(name)),
        }
        for name, swarm in PLAN.swarms.items()
    }


def planned_questions():
    """Every question with the swarms it needs and the figures it draws."""
    return {
        question: {
            "swarms": sorted(PLAN.needed_swarms(question)),
            "figures": [figure for figure, of in FIGURES.items() if of == question],
        }
        for question in PLAN.asks
    }


def planned_chains():
    """Every chain of updates: runs as the paper counts them, and those trained for it alone."""
    return [
        {
            "group": group,
            **chain.to_dict(),
            "counted": UPDATES.total_runs(chain),
            "trained": UPDATES.new_runs(chain),
        }
        for group, chains in UPDATES.groups().items()
        for chain in chains
    ]


def scoring_options():
    """How training scores its finished runs: as the evaluation rules would."""
    settings = SCALE["evaluation"]
    options = ["--batch-tokens", settings["batch_tokens"]]
    if settings["max_instances"] is not None:
        options += ["--max-instances", settings["max_instances"]]
    return options


def published_settings(*keys):
    """What a job needs of config/published.yaml: other keys do not make it run again."""
    return {key: PUBLISHED[key] for key in keys}


def published_files():
    """The tables of a local folder of released swarms; none where they are to be fetched."""
    if PUBLISHED["local"] is None:
        return []
    names = ("ratios.csv", "metrics.csv", "meta.json")
    root = Path(PUBLISHED["local"])
    return sorted(str(path) for name in names for path in root.rglob(name))


def every_page():
    """What the report shows besides figures."""
    tables = [f"results/report/{name}" for name in answers_of_scale()]
    return ["results/report/overview.html", *tables]


def every_picture():
    """All figures of the study as PNG."""
    made = [figure for figure in FIGURES if is_made(figure)]
    return [f"figures/{figure}.png" for figure in (*made, "claims")]


def answers_of_scale():
    """The results of all questions, by name; the released swarms have a target of their own."""
    return {
        name: answer
        for name, answer in ANSWERS.items()
        if name != "published" and is_made(name)
    }


def timed_scale():
    """The scale whose times the README gives: a repetition was trained from nothing."""
    settings = load_claims(Path(workflow.basedir) / "config" / "claims.yaml")
    others = settings.repetitions.get(SCALE.name, ())
    timed = [name for name in others if Path(f"results/{name}/benchmarks").is_dir()]
    return timed[0] if timed else SCALE.name


def planned_runs():
    """How many runs of each kind the whole study trains."""
    sizes = {
        kind: sum(PLAN.swarms[swarm].size for swarm in swarms)
        for kind, swarms in (("proxy", PROXY_SWARMS), ("target", TARGET_SWARMS))
    }
    return list(sizes.items())


def trainings():
    """The swarms that the jobs at hand train, finished ones too; none if nothing is to train."""
    jobs = [
        job
        for job in workflow.dag.jobs
        if job.rule.name in ("train_proxies", "train_targets")
    ]
    if not any(workflow.dag.needrun(job) for job in jobs):
        return []
    shards = {}
    for job in jobs:
        swarm = getattr(job.wildcards, job.rule.name.removeprefix("train_"))
        shards.setdefault(swarm, []).append(int(job.wildcards.shard))
    unlisted = {
        job.wildcards.swarm
        for job in workflow.dag.jobs
        if job.rule.name == "list_runs" and workflow.dag.needrun(job)
    }
    return [
        watched(swarm, sorted(numbers), listed=swarm not in unlisted)
        for swarm, numbers in shards.items()
    ]


def watched(swarm, numbers, listed):
    """What some jobs of a swarm train, for the record of progress."""
    size, per_job = PLAN.swarms[swarm].size, model_of(swarm)["runs_per_job"]
    return Training(
        swarm=swarm,
        kind=TARGETS if swarm in TARGET_SWARMS else PROXIES,
        lists=tuple(f"{RESULTS}/list_runs/{swarm}/{number}.json" for number in numbers),
        runs=sum(min(per_job, size - number * per_job) for number in numbers),
        work=run_work(model_of(swarm)),
        listed=listed,
    )


WATCH = []  # the one that is on, if any


def watch_training():
    """Tell from time to time how far the training is."""
    found = trainings()
    if found:
        write_plan(f"{RESULTS}/progress.json", found)
        WATCH.append(Watch(f"{RESULTS}/progress.json", tell_progress))
        WATCH[0].start()


def tell_progress(line):
    """Through Snakemake, so that its --quiet holds."""
    logger.info(line, extra={"quietness": Quietness.PROGRESS})


def end_watch():
    """The last line, and no more."""
    for watch in WATCH:
        watch.stop()
