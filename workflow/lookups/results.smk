# What questions read, and what is made of their answers: figures, claims, report, released swarms.


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


def settings_of(question):
    """The settings a question's analysis reads: what all share, and its own sections."""
    shared = (
        "engine",
        "updates",
        "requested_tokens",
        "repetition",
        "kl",
        "seeds",
        "target_repeats",
        "proxy",
    )
    own = {
        "rq4": ("rq2", "rq4"),
        "methods": ("methods", "models"),
        "operators": ("single_updates",),
        "theory": ("single_updates",),
    }.get(question, (question,))
    return {key: SCALE[key] for key in (*shared, *own) if key in SCALE.content}


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


def claims_input():
    """Results of the claims asked for, and the verdicts of scales that repeat this one, if any."""
    settings = load_claims(Path(workflow.basedir) / "config" / "claims.yaml")
    try:
        settings = settings.only(config.get("claims"))
    except OlmixError as error:
        raise WorkflowError(str(error))
    answers = dict.fromkeys(name for claim in settings.claims for name in claim.results)
    others = settings.repetitions.get(SCALE.name, ())
    verdicts = [f"results/{scale}/verdicts.csv" for scale in others]
    return {
        "answers": [f"results/{name}" for name in answers],
        "repetitions": [path for path in verdicts if Path(path).exists()],
    }


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
    return [f"figures/{figure}.png" for figure in (*made, "claims", "rule_graph")]


def answers_of_scale():
    """The results of all questions, by name; the released swarms have a target of their own."""
    return {
        name: answer
        for name, answer in ANSWERS.items()
        if name != "published" and is_made(name)
    }


def planned_runs():
    """How many runs of each kind the whole study trains."""
    sizes = {
        kind: sum(PLAN.swarms[swarm].size for swarm in swarms)
        for kind, swarms in (("proxy", PROXY_SWARMS), ("target", TARGET_SWARMS))
    }
    return list(sizes.items())


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
