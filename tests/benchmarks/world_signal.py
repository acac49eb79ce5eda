"""Does the embedded world carry signal? Spread between mixes over noise of runs, and a law's fit.

    OMP_NUM_THREADS=1 python tests/benchmarks/world_signal.py --shape tiny-target --held-out 0
    OMP_NUM_THREADS=1 python tests/benchmarks/world_signal.py --shape tiny-30m --set final

The natural mix and the first mixes of a sparse swarm around it are each trained with several orders
of their data, the same orders for all. Printed per task and for the average BPB:

- spread: standard deviation between the mixes, the noise of their means taken off;
- noise: standard deviation between the orders of one mix, pooled over the mixes, and in percent of
  each mix's BPB (to reach for the average BPB of the target: at most 1.5 %);
- ratio: spread over noise (to reach for the average BPB of the target: 12).

For the average BPB also the ratio by the natural mix's noise alone, which is what the study `noise`
sees, and how far the deviations of two mixes go together when they share an order.

With held-out mixes, a swarm of K = 3(m+1) and these are trained once each; Pearson is the
correlation of the log-linear law's predictions with what was measured, the mean over random splits
into K and the rest (to reach: 0.9 for the average BPB).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from olmix.corpus.store import Corpus
from olmix.domains import DomainSet
from olmix.evaluation.bpb import evaluate
from olmix.evaluation.suite import Suite
from olmix.evaluation.tokens import TokenisedSuite
from olmix.mix import Mix
from olmix.model.shapes import shape
from olmix.model.weights import load_model
from olmix.paths import CONFIG
from olmix.regressors.log_linear import LogLinear
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
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
MOST_NOISE, LEAST_RATIO, LEAST_PEARSON = 1.5, 12.0, 0.9

Measure = Callable[[Mix, int], np.ndarray]


def runs_of(world: Path, folder: Path, args: argparse.Namespace) -> Measure:
    """A function that trains the shape on a mix with a data seed and returns its BPB per task."""
    corpus = Corpus.open(world / "corpus")
    tasks = TokenisedSuite(Suite.open(world / "suites" / SUITE), world / "tokenizer.json")
    recipe = preset(args.shape)
    model = shape(args.shape, vocab_size=corpus.tokenizer.vocab_size)
    batch = args.batch_size or recipe.batch_size
    steps = args.steps or recipe.tokens // (recipe.sequence_length * recipe.batch_size)

    def measure(mix: Mix, seed: int) -> np.ndarray:
        weights = mix.to_dict()
        settings = RunSettings(
            model=model,
            mix=weights,
            tokens=steps * recipe.sequence_length * batch,
            sequence_length=recipe.sequence_length,
            batch_size=batch,
            learning_rate=args.learning_rate or recipe.learning_rate,
            corpus=data_fingerprint(corpus, weights),
            tokenizer=corpus.tokenizer.sha256,
            init=recipe.init,
            warmup_steps=recipe.warmup_steps(steps),
            data_seed=seed,
            max_repetition=100.0,
        )
        run = folder / settings.hash
        train_run(settings, corpus, run, folder / "state", hardware=Hardware(device="cpu"))
        result = evaluate(load_model(run / "weights.safetensors", "cpu"), tasks)
        return np.array(list(result["tasks"].values()))

    return measure


def with_average(bpb: np.ndarray) -> np.ndarray:
    """Values per task (last axis) with their average after them."""
    return np.concatenate([bpb, bpb.mean(axis=-1, keepdims=True)], axis=-1)


def noise_of(repeated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pooled deviation between orders, in BPB and in percent, of values (mixes, orders, tasks)."""
    variances = repeated.var(axis=1, ddof=1)
    percent = 100 * np.sqrt((variances / repeated.mean(axis=1) ** 2).mean(axis=0))
    return np.sqrt(variances.mean(axis=0)), percent


def spread_of(repeated: np.ndarray) -> np.ndarray:
    """Deviation between mixes: that of their means, less what the noise adds to it."""
    between = repeated.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt(np.maximum(0, between - noise_of(repeated)[0] ** 2 / repeated.shape[1]))


def shared_noise(averages: np.ndarray) -> float:
    """Mean correlation of two mixes' deviations under shared orders, of values (mixes, orders)."""
    alike = np.corrcoef(averages - averages.mean(axis=1, keepdims=True))
    return float(alike[np.triu_indices(len(alike), 1)].mean())


def report_noise(names: Sequence[str], repeated: np.ndarray) -> bool:
    """Print the table of spread and noise; whether the average BPB reaches what it has to."""
    repeated = with_average(repeated)
    spread, (noise, percent) = spread_of(repeated), noise_of(repeated)
    sys.stdout.write(
        f"{'task':<14}{'mean':>8}{'spread':>9}{'noise':>9}{'noise %':>9}{'ratio':>8}\n"
    )
    for index, name in enumerate([*names, "average BPB"]):
        sys.stdout.write(
            f"{name:<14}{repeated[..., index].mean():>8.3f}{spread[index]:>9.4f}"
            f"{noise[index]:>9.4f}{percent[index]:>9.2f}{spread[index] / noise[index]:>8.1f}\n"
        )
    natural = repeated[0, :, -1].std(ddof=1)
    sys.stdout.write(
        f"spread / noise of the average BPB: {spread[-1] / noise[-1]:.1f} (to reach: "
        f"{LEAST_RATIO:g}), by the noise of natural alone {spread[-1] / natural:.1f}\n"
        f"noise of the average BPB: {percent[-1]:.2f} % (to reach: {MOST_NOISE}), of natural alone "
        f"{100 * natural / repeated[0, :, -1].mean():.2f} %\n"
        f"deviations of two mixes under the same order: correlation "
        f"{shared_noise(repeated[..., -1]):.2f}\n"
    )
    return bool(percent[-1] <= MOST_NOISE and spread[-1] / noise[-1] >= LEAST_RATIO)


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


def report_fit(mixes: np.ndarray, bpb: np.ndarray, runs: int) -> bool:
    """Print the fit on held-out mixes; whether it reaches what it has to."""
    pearson = held_out_pearson(mixes, bpb, runs)
    average = pearson[:, -1]
    sys.stdout.write(
        f"held-out Pearson, K = {runs}, {SPLITS} splits: average BPB {average.mean():.3f} (from "
        f"{average.min():.3f}; to reach: {LEAST_PEARSON}), mean over tasks "
        f"{pearson[:, :-1].mean():.3f}\n"
    )
    return bool(average.mean() >= LEAST_PEARSON)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, default="web", help="domains (default: web)")
    parser.add_argument(
        "--design", type=Path, default=CONFIG / "world.yaml", help="world (default: %(default)s)"
    )
    parser.add_argument("--world-seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--swarm-seed", type=int, default=0, help="(default: 0)")
    parser.add_argument("--mixes", type=int, default=12, help="repeated mixes (default: 12)")
    parser.add_argument("--orders", type=int, default=4, help="orders of each (default: 4)")
    parser.add_argument("--held-out", type=int, default=15, help="0: no fit (default: 15)")
    parser.add_argument("--shape", default="tiny-30m", help="model (default: tiny-30m)")
    parser.add_argument("--steps", type=int, help="(default: the shape's preset)")
    parser.add_argument("--batch-size", type=int, help="(default: the shape's preset)")
    parser.add_argument("--learning-rate", type=float, help="(default: the shape's preset)")
    return parser.parse_args()


def main() -> int:
    args = parse()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        record = build_world(WorldDesign.load(args.design), args.world_seed, folder / "w")
        every = DomainSet.load(folder / "w" / "domains.json")
        domains = DomainSet(tuple(domain for domain in every if SETS[args.set](domain)))
        runs = 3 * (len(domains) + 1)
        distribution = SwarmDistribution("sparse")
        swarm = sample_swarm(
            domains.natural(),
            max(runs, args.mixes) + args.held_out,
            seed=args.swarm_seed,
            distribution=distribution,
        )
        measure = runs_of(folder / "w", folder, args)
        mixes = [domains.natural(), *swarm][: args.mixes]
        start = time.process_time()
        repeated = np.array([[measure(mix, seed) for seed in range(args.orders)] for mix in mixes])
        seconds = (time.process_time() - start) / repeated[..., 0].size
        sys.stdout.write(
            f"{args.set}, {args.shape}, world seed {args.world_seed}, swarm seed "
            f"{args.swarm_seed}: {args.mixes} mixes x {args.orders} orders, {seconds:.2f} s of CPU "
            "per run with evaluation\n"
        )
        reached = report_noise(list(record["tasks"]), repeated)
        if args.held_out:
            bpb = np.array([measure(mix, 100 + seed) for seed, mix in enumerate(swarm)])
            reached = report_fit(np.array(swarm.mixes), bpb, runs) and reached
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
