"""``python -m olmix explore``: a fitted model as a page to move k, R, λ and weights in."""

import argparse
import sys
from pathlib import Path

from olmix.commands.options import (
    add_domains_option,
    add_request_options,
    add_task_options,
    families_from,
)
from olmix.commands.outputs import output_file
from olmix.domains import DomainSet
from olmix.files import sha256
from olmix.presentation.explorer.content import Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.proposers.proposal import Request
from olmix.regressors.surrogate import Surrogate
from olmix.swarm.domain_file import check_same_domains, prior_from

HELP = "write a fitted model as a page that solves for the mix as you move its sliders"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: a model, its domains, and the request that the page opens with."""
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE",
        help="model.json that `fit` wrote (which writes such a page too, with intervals)",
    )  # fmt: skip
    add_domains_option(parser, required=True)
    add_task_options(parser)
    parser.add_argument(
        "--out", type=output_file, required=True, metavar="HTML", help="the page to write"
    )
    add_request_options(parser)


def run(args: argparse.Namespace) -> None:
    """Read the model and its domains, check that they fit, and write the page."""
    surrogate = Surrogate.load(args.model)
    domains = DomainSet.load(args.domains)
    check_same_domains(surrogate.domains, domains.names, "the model")
    domains = domains.subset(surrogate.domains)
    families = families_from(args, surrogate.outputs)
    request = Request.for_domains(
        domains,
        kl=args.kl,
        repetition=args.repetition,
        requested=args.target_tokens,
        prior=prior_from(args.domains, domains),
    )
    inputs = {"model": args.model, "domains": args.domains}
    exploration = Exploration(
        surrogate,
        request,
        domains.natural(),
        domains,
        families,
        title=args.model.resolve().parent.name,
        unit=args.unit,
        made_from={
            name: {"path": str(path), "sha256": sha256(path)} for name, path in inputs.items()
        },
    )
    write_explorer(args.out, exploration)
    sys.stdout.write(f"{args.out}: {len(domains)} domains, {len(surrogate.outputs)} tasks\n")
