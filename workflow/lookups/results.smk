# What questions read, and what is made of their answers: figures, claims, released swarms.


def refuse_unmade(name):
    """One clear line for whoever asks for what the scale's engine cannot make."""
    lacks = lacking(name, SCALE)
    if lacks:
        raise WorkflowError(
            f"{name}: needs {lacks}, but scale '{SCALE.name}' trains nothing "
            f"(engine: {SCALE['engine']}); use another scale, such as tiny"
        )


def answer_of(wildcards):
    """The results folder that a figure is drawn from."""
    refuse_unmade(wildcards.figure)
    return f"results/{FIGURES[wildcards.figure]}"


def question_input(question, wildcards):
    """What a question's answer reads: tables of its swarms, proposals of its studies."""
    refuse_unmade(question)
    return JOBS.question(question).input


def claims_input():
    """Results of the claims asked for, and the verdicts of scales that repeat this one, if any."""
    settings = load_claims(Path(workflow.basedir) / "config" / "claims.yaml")
    try:
        settings = settings.only(config.get("claims"))
    except OlmixError as error:
        raise WorkflowError(str(error))
    answers = dict.fromkeys(name for claim in settings.claims for name in claim.results)
    others = settings.repetitions.get(SCALE.name, ())
    verdicts = []
    for name in others:
        own, kept = f"results/{name}/verdicts.csv", f"config/grounds/{name}.csv"
        # A scale's own are newer; those of a ground over replicas are never one scale's.
        verdicts.append(
            own if Path(own).exists() and name not in settings.replicas else kept
        )
    return {
        "answers": [f"results/{name}" for name in answers if not lacking(name, SCALE)],
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


def published_proposals():
    """The authors' proposed mixes of RQ2, if the local folder has them."""
    if PUBLISHED["local"] is None:
        return []
    path = Path(PUBLISHED["local"]) / PUBLISHED["proposed"]["file"]
    return [str(path)] if path.is_file() else []
