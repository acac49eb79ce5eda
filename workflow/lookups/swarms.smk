# What the rules of swarms, targets and proposals look up: models, mixes, tables.


def model_of(swarm):
    """The scale's settings of the model a swarm trains."""
    return SCALE.model(PLAN.swarms[swarm].model)


def science_of(swarm):
    """Those of them that decide the result: what a job asks for is left out."""
    hardware = ("threads", "gpu", "nodes", "processes_per_node")
    return {key: value for key, value in model_of(swarm).items() if key not in hardware}


def space_of(swarm):
    """The space a swarm's mixes are over."""
    spec = PLAN.swarms[swarm]
    space = SpaceSpec(spec.stage) if spec.stage else PLAN.mixes[spec.mixes].space
    return as_params(space)


def shards_of(swarm):
    """The jobs a swarm is trained in."""
    return range(len(job_sizes(PLAN.swarms[swarm].size, model_of(swarm))))


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


def updates_file(name):
    """The updates file that mixes, a swarm or a group of chains are about."""
    return PLAN.update_files.get(name, SCALE["updates"])


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


def scoring_options():
    """How training scores its finished runs: as the evaluation rules would."""
    settings = SCALE["evaluation"]
    options = ["--batch-tokens", settings["batch_tokens"]]
    if settings["max_instances"] is not None:
        options += ["--max-instances", settings["max_instances"]]
    return options
