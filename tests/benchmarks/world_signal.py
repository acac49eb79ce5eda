"""Does the embedded world carry signal? Fit of the log-linear law, and spread over noise.

    OMP_NUM_THREADS=1 python tests/benchmarks/world_signal.py --set web
    OMP_NUM_THREADS=1 python tests/benchmarks/world_signal.py --set final

A swarm of K = 3(m+1) mixes around the natural distribution and held-out mixes from the same
distribution are trained and evaluated. Printed per task and on average:

- Pearson: correlation of predicted and measured BPB on the held-out mixes, the mean over random
  splits of all mixes into K and the rest (to reach: a mean over tasks of 0.8);
- spread / noise: standard deviation of BPB across mixes over that across seeds of the natural mix,
  where a seed decides the order of the data (to reach: 3 for the average BPB).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from olmix.corpus.store import Corpus
from olmix.domains import DomainSet
from olmix.evaluation.bpb import evaluate
from olmix.evaluation.suite import Suite, TokenisedSuite
from olmix.mix import Mix
from olmix.model.shapes import shape
from olmix.model.weights import load_model
from olmix.paths import CONFIG
from olmix.regressors.log_linear import LogLinear
from olmix.swarm import SwarmDistribution, sample_swarm
from olmix.training.presets import preset
from olmix.training.settings import Hardware, RunSettings, data_fingerprint
from olmix.training.trainer import train_run
from olmix.world.build import SUITE, build_world
from olmix.world.design import WorldDesign

SETS = {
    "web": lambda domain: domain.source == "web",
    "final": lambda domain: domain.name not in ("stackv2", "algebra_code"),
}
SPLITS = 20

Measure = Callable[[Mix, int], np.ndarray]


def proxy(world: Path, folder: Path, args: argparse.Namespace) -> Measure:
    """A function that trains a proxy on a mix with a data seed and returns its BPB per task."""
    corpus = Corpus.open(world / "corpus")
    tasks = TokenisedSuite(Suite.open(world / "suites" / SUITE), world / "tokenizer.json")
    recipe = preset(args.shape)
    model = shape(args.shape, vocab_size=corpus.tokenizer.vocab_size)
    steps = args.steps or recipe.tokens // (recipe.sequence_length * recipe.batch_size)
    state = folder / "state"

    def measure(mix: Mix, seed: int) -> np.ndarray:
        weights = mix.to_dict()
        settings = RunSettings(
            model=model,
            mix=weights,
            tokens=steps * recipe.sequence_length * recipe.batch_size,
            sequence_length=recipe.sequence_length,
            batch_size=recipe.batch_size,
            learning_rate=args.learning_rate or recipe.learning_rate,
            corpus=data_fingerprint(corpus, weights),
            tokenizer=corpus.tokenizer.sha256,
            init=recipe.init,
            warmup_steps=recipe.warmup_steps(steps),
            data_seed=seed,
            max_repetition=100.0,
        )
        run = folder / settings.hash
        train_run(settings, corpus, run, state, hardware=Hardware(device="cpu"))
        result = evaluate(load_model(run / "weights.safetensors", "cpu"), tasks)
        return np.array(list(result["tasks"].values()))

    return measure


def held_out_pearson(mixes: np.ndarray, bpb: np.ndarray, runs: int) -> np.ndarray:
    """Pearson per (split, task), and for the average BPB in the last column."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(SPLITS):
        order = rng.permutation(len(mixes))
        train, test = order[:runs], order[runs:]
        predicted = LogLinear().fit(mixes[train], bpb[train]).predict(mixes[test])
        pairs = zip(with_average(predicted).T, with_average(bpb[test]).T, strict=True)
        found.append([np.corrcoef(left, right)[0, 1] for left, right in pairs])
    return np.array(found)


def with_average(bpb: np.ndarray) -> np.ndarray:
    return np.column_stack([bpb, bpb.mean(axis=1)])


def report(names: list[str], bpb: np.ndarray, repeats: np.ndarray, pearson: np.ndarray) -> str:
    bpb, repeats = with_average(bpb), with_average(repeats)
    spread, noise = bpb.std(axis=0, ddof=1), repeats.std(axis=0, ddof=1)
    lines = [
        f"{'task':<14}{'natural':>9}{'least':>8}{'most':>8}{'spread':>9}{'noise':>9}"
        f"{'ratio':>8}{'Pearson':>9}"
    ]
    for index, name in enumerate([*names, "average BPB"]):
        lines.append(
            f"{name:<14}{repeats[:, index].mean():>9.3f}{bpb[:, index].min():>8.3f}"
            f"{bpb[:, index].max():>8.3f}{spread[index]:>9.4f}{noise[index]:>9.4f}"
            f"{spread[index] / noise[index]:>8.1f}{pearson[:, index].mean():>9.3f}"
        )
    over_tasks = pearson[:, :-1].mean(axis=1)
    lines.append(
        f"held-out Pearson, mean over tasks: {over_tasks.mean():.3f} over {SPLITS} splits "
        f"(from {over_tasks.min():.3f} to {over_tasks.max():.3f}; to reach: 0.8)"
    )
    lines.append(f"spread / noise of average BPB: {spread[-1] / noise[-1]:.1f} (to reach: 3)")
    return "\n".join(lines) + "\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, default="web", help="domains (default: web)")
    parser.add_argument("--kind", default="sparse", help="sparse or dense swarm (default: sparse)")
    parser.add_argument("--strengths", type=float, nargs=2, help="bounds (default: the kind's)")
    parser.add_argument("--world-seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--swarm-seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--held-out", type=int, default=15, help="held-out mixes (default: 15)")
    parser.add_argument("--repeats", type=int, default=6, help="seeds of one mix (default: 6)")
    parser.add_argument("--shape", default="tiny-30m", help="proxy (default: tiny-30m)")
    parser.add_argument("--steps", type=int, help="(default: the shape's preset)")
    parser.add_argument("--learning-rate", type=float, help="(default: the shape's preset)")
    return parser.parse_args()


def main() -> int:
    args = parse()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        record = build_world(WorldDesign.load(CONFIG / "world.yaml"), args.world_seed, folder / "w")
        every = DomainSet.load(folder / "w" / "domains.json")
        domains = DomainSet(tuple(domain for domain in every if SETS[args.set](domain)))
        runs = 3 * (len(domains) + 1)
        distribution = SwarmDistribution(args.kind, strengths=args.strengths)
        swarm = sample_swarm(
            domains.natural(),
            runs + args.held_out,
            seed=args.swarm_seed,
            distribution=distribution,
            sources=[domain.source for domain in domains] if args.kind == "dense" else None,
        )
        measure = proxy(folder / "w", folder, args)
        start = time.perf_counter()
        bpb = np.array([measure(mix, seed) for seed, mix in enumerate(swarm)])
        natural = domains.natural()
        repeats = np.array([measure(natural, 10_000 + seed) for seed in range(args.repeats)])
        seconds = (time.perf_counter() - start) / (len(bpb) + len(repeats))
    pearson = held_out_pearson(np.array(swarm.mixes), bpb, runs)
    sys.stdout.write(
        f"{args.set}: m = {len(domains)}, K = {runs}, {args.kind} swarm, {args.shape}, "
        f"{seconds:.2f} s per proxy with evaluation, world seed {args.world_seed}, "
        f"swarm seed {args.swarm_seed}\n" + report(list(record["tasks"]), bpb, repeats, pearson)
    )
    reached = pearson[:, :-1].mean() >= 0.8
    ratio = with_average(bpb)[:, -1].std(ddof=1) / with_average(repeats)[:, -1].std(ddof=1)
    return 0 if reached and ratio >= 3 else 1


if __name__ == "__main__":
    sys.exit(main())
