# Which names there are, and what is said of those that there are not.
import re
from difflib import get_close_matches


def known_names():
    """What a person may ask for by name at any scale: figures, results, rules."""
    plain = [known for known in workflow.rules if not known.has_wildcards()]
    outputs = [str(output) for known in plain for output in known.output]
    drawn = [
        f"figures/{figure}.{kind}" for figure in FIGURES for kind in ("pdf", "png")
    ]
    return [*drawn, *outputs, *(known.name for known in plain), "all"]


KNOWN_NAMES = known_names()


OWN_TEXT = "a scale of your own text, as `python -m olmix init` writes it"
STUDY = "a scale of the paper's study"


def refuse_other_kind(asked):
    """Say of a question that it is for the other kind of scale, where it is."""
    for name, question in load_questions().items():
        names = [name, f"results/{name}", *map("figures/{}".format, question.figures)]
        if name not in QUESTIONS and re.match(rf"({'|'.join(names)})\b", asked):
            wanted, is_now = (
                (OWN_TEXT, STUDY) if question.own_text else (STUDY, OWN_TEXT)
            )
            raise WorkflowError(
                f"{asked}: needs {wanted}, but '{SCALE.name}' is {is_now}"
            )


def refuse_unknown(asked):
    """Say what there is, where Snakemake would say that there is no rule."""
    refuse_other_kind(asked)
    folder, kind = str(Path(asked).parent), Path(asked).suffix
    beside = [
        name
        for name in KNOWN_NAMES
        if name.startswith(f"{folder}/") and Path(name).suffix == kind
    ]
    if folder in KNOWN_NAMES and not beside:
        raise WorkflowError(
            f"{asked}: is made with all that is in its folder: `snakemake {folder}/`"
        )
    near = get_close_matches(asked.rstrip("/"), beside or KNOWN_NAMES, n=3, cutoff=0)
    raise WorkflowError(f"{asked}: nothing makes it; nearest: {', '.join(near)}")
