"""``python -m olmix fit``: from a finished swarm to a mix."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from olmix.commands.options import (
    add_domains_option,
    add_method_options,
    add_request_options,
    add_seed_option,
    add_swarm_options,
    method_from,
    scored_swarm,
    swarm_from,
)
from olmix.commands.outputs import output_folder
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import sha256
from olmix.mix import Mix
from olmix.presentation.explorer.content import MOST_REPLICATES, Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.presentation.proposal import plot_coefficients, plot_fit, plot_kl_sweep, plot_mix
from olmix.presentation.proposal_report import (
    gain_lines,
    law_lines,
    mix_table,
    write_mix_csv,
    write_sweep_csv,
)
from olmix.presentation.score_report import HELD_OUT, score_line, write_scores_csv
from olmix.proposers.method import Method
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.sensitivity import kl_sweep
from olmix.proposers.uncertainty import Bootstrap, Refits, bootstrap, refitted
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.validation import HeldOut, covered, score, validate
from olmix.swarm.domain_file import domains_from
from olmix.tables import SwarmTable

# The level at which intervals of single runs are checked.
_COVERAGE = 0.8

HELP = "fit a swarm you have (ratios.csv, metrics.csv) and propose a mix"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: a swarm, its domains, a method and a request."""
    add_swarm_options(parser)
    add_domains_option(parser)
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="where to write"
    )
    add_method_options(parser)
    add_request_options(parser)
    add_seed_option(parser)
    checks = parser.add_argument_group("checks")
    checks.add_argument(
        "--held-out", type=int, default=0, metavar="N",
        help="score a second fit on N runs it has not seen; the mix still uses all (default: 0)",
    )  # fmt: skip
    checks.add_argument(
        "--score", type=Path, nargs=2, action="append", default=[], metavar=("RATIOS", "METRICS"),
        help="score the fit on runs of other tables, which are not fitted: another sample, or the "
        "same domains at another model size; may be repeated",
    )  # fmt: skip
    checks.add_argument(
        "--bootstrap", type=int, default=0, metavar="N",
        help="resample the runs N times: intervals of each weight and of the gain (default: 0)",
    )  # fmt: skip
    checks.add_argument(
        "--level", type=float, default=0.9, help="level of those intervals (default: 0.9)"
    )
    checks.add_argument(
        "--explore", type=int, default=MOST_REPLICATES, metavar="N",
        help="refit on resampled runs N times for the intervals of explore.html, unless "
        f"--bootstrap does (default: {MOST_REPLICATES}, the most it holds)",
    )  # fmt: skip
    checks.add_argument(
        "--kl-sweep", action="store_true", help="also propose for other weights of the KL term"
    )


@dataclass(frozen=True)
class _Fit:
    """One call of the command, once its inputs are read and checked."""

    swarm: SwarmTable
    families: dict[str, list[str]]
    domains: DomainSet | None  # None where nothing says how large they are
    natural: Mix  # the natural distribution, or what stands in for it
    method: Method
    request: Request
    seed: int

    def propose(self, surrogate: Surrogate, request: Request) -> Proposal:
        return self.method.propose(surrogate, self.swarm, request, seed=self.seed)


def run(args: argparse.Namespace) -> None:
    """Fit, check, propose, write, and print what a person wants to know."""
    fit = _read(args)
    others = {
        str(metrics): scored_swarm(args, ratios, metrics, fit.swarm)
        for ratios, metrics in args.score
    }
    held_out = None
    if args.held_out:
        held_out = validate(
            fit.method, fit.swarm, held_out=args.held_out, seed=args.seed, families=fit.families
        )
    surrogate = fit.method.fit(fit.swarm, fit.families)
    scored = {
        name: score(surrogate, fit.swarm, other, fit.families) for name, other in others.items()
    }
    proposal = fit.propose(surrogate, fit.request)
    spread = _bootstrap(args, fit, surrogate, proposal) if args.bootstrap else None
    refits = spread or _refits(args, fit, surrogate, proposal)
    inputs = {"ratios": args.ratios, "metrics": args.metrics, "domains": args.domains}
    proposal.made_from.update(
        {
            name: {"path": str(path), "sha256": sha256(path)}
            for name, path in inputs.items()
            if path is not None
        },
        runs=len(fit.swarm),
        tasks=list(fit.swarm.tasks),
        notes=list(fit.swarm.notes),
        bootstrap=refits.to_dict() if refits else None,
    )
    _write(args, fit, surrogate, proposal, held_out, spread)
    if scored or held_out:
        ours = {HELD_OUT: held_out} if held_out else {}
        write_scores_csv(args.out / "scores.csv", ours | scored)
    if surrogate.regressor.terms():
        _write_explorer(args, fit, surrogate, proposal, refits.models if refits else ())
    _print(args, fit, surrogate, proposal, held_out, scored, refits)


def _read(args: argparse.Namespace) -> _Fit:
    """Read and check all inputs; what is wrong is refused before anything long starts."""
    if not 0 < args.level < 1:
        raise OlmixError(f"--level {args.level}: expected a number between 0 and 1")
    for option, value in (
        ("--bootstrap", args.bootstrap),
        ("--held-out", args.held_out),
        ("--explore", args.explore),
    ):
        if value < 0:
            raise OlmixError(f"{option} {value}: expected 0 or more")
    swarm, families = swarm_from(args)
    for path, values in ((args.ratios, swarm.mixes), (args.metrics, swarm.metrics)):
        if (values == values[0]).all():
            raise OlmixError(
                f"{path}: no run differs from the others ({len(swarm)} in all), so none is better"
            )
    domains, prior = domains_from(args.domains, swarm)
    if domains is None:
        if args.target_tokens is not None:
            raise OlmixError("--target-tokens needs --domains FILE with token_counts, for the caps")
        note = "no token counts: the prior stands in for the natural mix, nothing is capped"
        swarm = replace(swarm, notes=(*swarm.notes, note))
    request = Request(
        prior,
        args.kl,
        prior.weights if domains is None else domains.tokens.astype(float),
        args.repetition,
        args.target_tokens,
    )
    natural = prior if domains is None else domains.natural()
    return _Fit(swarm, families, domains, natural, method_from(args), request, args.seed)


def _bootstrap(
    args: argparse.Namespace, fit: _Fit, surrogate: Surrogate, proposal: Proposal
) -> Bootstrap:
    return bootstrap(
        fit.swarm,
        surrogate,
        fit.request,
        proposal,
        fit.propose,
        baseline=fit.natural,
        families=fit.families,
        replicates=args.bootstrap,
        level=args.level,
        seed=args.seed,
        on_progress=partial(_progress, "bootstrap"),
    )


def _refits(
    args: argparse.Namespace, fit: _Fit, surrogate: Surrogate, proposal: Proposal
) -> Refits | None:
    """The refits that explore.html holds: they also give the gain an interval."""
    if not surrogate.regressor.terms() or not args.explore:
        return None
    models = []
    for model in refitted(
        fit.swarm, surrogate, families=fit.families, replicates=args.explore, seed=args.seed
    ):
        models.append(model)
        _progress("refits for explore.html", len(models), args.explore)
    return Refits.of(models, proposal.mix, fit.natural, args.level)


def _progress(what: str, done: int, of: int) -> None:
    sys.stderr.write(f"\r{what}: {done} of {of}" + ("\n" if done == of else ""))


def _write(
    args: argparse.Namespace,
    fit: _Fit,
    surrogate: Surrogate,
    proposal: Proposal,
    held_out: HeldOut | None,
    spread: Bootstrap | None,
) -> None:
    """Write model.json, mix.json, mix.csv and the figures."""
    out, natural = args.out, fit.natural
    note = f"{args.ratios.resolve().parent.name}: {len(fit.swarm)} runs, {args.regressor}"
    weights = spread.weight_intervals() if spread else None
    surrogate.save(out / "model.json")
    proposal.save(out / "mix.json")
    write_mix_csv(out / "mix.csv", proposal, natural, weights)
    shown, train, test = surrogate, fit.swarm, None
    if held_out:
        shown, train, test = held_out.surrogate, held_out.train, held_out.test
    plot_fit(out / "fit.pdf", shown, train, test, fit.families, note, args.unit)
    plot_mix(out / "mix.pdf", proposal, natural, weights, note)
    plot_coefficients(out / "coefficients.pdf", surrogate, natural, note)
    if args.kl_sweep:
        points = kl_sweep(surrogate, fit.request, fit.propose)
        write_sweep_csv(out / "kl_sweep.csv", points)
        plot_kl_sweep(out / "kl_sweep.pdf", points, args.kl, note, args.unit)


def _write_explorer(
    args: argparse.Namespace,
    fit: _Fit,
    surrogate: Surrogate,
    proposal: Proposal,
    models: Sequence[Surrogate],
) -> None:
    """Write explore.html, with refits for its intervals."""
    exploration = Exploration(
        surrogate,
        fit.request,
        fit.natural,
        fit.domains,
        fit.families,
        models,
        args.level,
        title=args.ratios.resolve().parent.name,
        unit=args.unit,
        made_from=proposal.made_from,
    )
    write_explorer(args.out / "explore.html", exploration)


def _print(
    args: argparse.Namespace,
    fit: _Fit,
    surrogate: Surrogate,
    proposal: Proposal,
    held_out: HeldOut | None,
    scored: Mapping[str, HeldOut],
    refits: Refits | None,
) -> None:
    swarm = fit.swarm
    lines = [f"{len(swarm)} runs, {len(swarm.domains)} domains, {len(swarm.tasks)} tasks"]
    lines += [f"  note: {note}" for note in swarm.notes]
    if held_out:
        lines.append(score_line(f"fit on {len(held_out.test)} held-out runs", held_out))
        inside = covered(held_out, _COVERAGE, fit.families)
        lines.append(
            f"  {100 * _COVERAGE:g} % intervals of the average, from unseen runs of the fit, hold "
            f"{inside.sum()} of them"
        )
    for name, found in scored.items():
        lines.append(score_line(f"fit on {len(found.test)} runs of {name}", found))
        lines += [f"  note: {note}" for note in found.test.notes]
    natural = fit.natural
    intervals = refits.weight_intervals() if isinstance(refits, Bootstrap) else None
    lines += ["", *mix_table(proposal, natural, intervals), ""]
    average = float(surrogate.average(natural.weights[None])[0])
    lines += gain_lines(proposal, average, refits, args.unit)
    lines += law_lines(surrogate, proposal.mix, natural)
    explorer = "explore.html, " if surrogate.regressor.terms() else ""
    lines.append(f"written to {args.out}: {explorer}mix.json, mix.csv, model.json and figures")
    sys.stdout.write("\n".join(lines) + "\n")
