"""The cost of a job of many tiny runs over the sum of their training times, on one core.

    OMP_NUM_THREADS=1 python tests/benchmarks/swarm_job.py

Starts `python -m olmix train --runs` once for the whole swarm, imports included. Wanted: a proxy
in about 1 s, and the job within 1.15 times the sum of the training seconds its runs report.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.files import read_json, write_json
from olmix.model.shapes import shape
from olmix.training.presets import preset
from olmix.training.settings import RunSettings, data_fingerprint, whole_batches

VOCABULARY = 256
DOMAINS = 12
WANTED = 1.15


def write_corpus(root: Path) -> Corpus:
    """Twelve domains of 200,000 tokens in which the next word is often the same."""
    random = np.random.default_rng(0)
    info = TokenizerInfo("0" * 64, VOCABULARY, 0)
    for number in range(DOMAINS):
        following = random.permutation(np.arange(1, VOCABULARY))
        with StoreWriter(root / f"d{number}", domain=f"d{number}", tokenizer=info) as writer:
            for _ in range(2000):
                ids = [int(random.integers(1, VOCABULARY))]
                for jump in random.random(98) < 0.3:
                    step = random.integers(1, VOCABULARY) if jump else following[ids[-1] - 1]
                    ids.append(int(step))
                writer.add(ids, bytes=500)
    return Corpus.open(root)


def swarm(corpus: Corpus, count: int, name: str) -> list[dict]:
    random = np.random.default_rng(1)
    recipe, model = preset(name), shape(name, VOCABULARY)
    tokens = whole_batches(recipe.tokens, recipe.sequence_length, recipe.batch_size)
    entries = []
    for number in range(count):
        weights = random.dirichlet(np.ones(DOMAINS))
        mix = dict(zip(corpus.domains, (weights / weights.sum()).tolist(), strict=True))
        settings = RunSettings(
            model=model,
            mix=mix,
            tokens=tokens,
            sequence_length=recipe.sequence_length,
            batch_size=recipe.batch_size,
            learning_rate=recipe.learning_rate,
            corpus=data_fingerprint(corpus, mix),
            tokenizer=corpus.tokenizer.sha256,
            init=recipe.init,
            warmup_steps=12,
        )
        entry = {"folder": f"run{number}", "corpus": str(corpus.root)}
        entries.append(entry | {"settings": settings.to_dict()})
    return entries


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=128, help="runs (default: 128)")
    parser.add_argument("--shape", default="tiny-30m", help="their shape (default: tiny-30m)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        entries = swarm(write_corpus(root / "corpus"), args.count, args.shape)
        write_json(root / "runs.json", entries)
        command = [sys.executable, "-m", "olmix", "train", "--runs", str(root / "runs.json")]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        started = time.perf_counter()
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        job = time.perf_counter() - started
        records = [read_json(root / entry["folder"] / "run.json") for entry in entries]
    training = sum(record["seconds"] for record in records)
    first, last = (np.mean([r["losses"][place]["loss"] for r in records]) for place in (0, -1))
    print(
        f"{args.count} runs of {args.shape}: {training / args.count:.2f} s each, loss {first:.2f} "
        f"to {last:.2f}; job {job:.1f} s = {job / training:.3f} x the training (wanted {WANTED})"
    )
    return 0 if job <= WANTED * training else 1


if __name__ == "__main__":
    sys.exit(main())
