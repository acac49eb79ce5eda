"""Training steps per second against `transformers`' OLMo 2 of the same shape, on one core.

    OMP_NUM_THREADS=1 python tests/benchmarks/throughput.py

A step is forward, backward, clipping and AdamW. Both sides are measured in turns in one process,
so that a slow moment of the machine hits both; the best of the rounds counts. `transformers` is
given torch's fused AdamW.
"""

import argparse
import sys
import time
from collections.abc import Callable

import torch
import transformers

from olmix.model.export import transformers_config, transformers_tensors
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape, shape
from olmix.model.transformer import Transformer
from olmix.training.optimizer import Optimizer
from olmix.training.settings import RunSettings

# shape, vocabulary, sequences, tokens in each, steps in a round, ratio to reach
CASES = [
    ("tiny-1m", 256, 8, 64, 100, 1.5),
    ("tiny-15m", 256, 8, 64, 100, 1.5),
    ("tiny-30m", 256, 8, 64, 100, 1.5),
    ("tiny-30m", 256, 8, 32, 100, 1.5),
    ("tiny-60m", 256, 8, 64, 50, 1.5),
    ("tiny-target", 256, 8, 64, 30, 1.5),
    ("15m", 100_352, 1, 512, 2, 1.0),
]


def our_step(model: Transformer, ids: torch.Tensor) -> Callable[[], None]:
    settings = RunSettings(
        *(model.shape, {"all": 1.0}, ids.numel() * 1000, ids.shape[1], ids.shape[0], 1e-3, "", ""),
        z_loss=0.0,
    )
    optimizer = Optimizer(model, settings)

    def step() -> None:
        model.loss(ids).backward()
        optimizer.step(10)

    return step


def their_step(chosen: ModelShape, weights: dict, ids: torch.Tensor) -> Callable[[], None]:
    model = transformers.Olmo2ForCausalLM(transformers.Olmo2Config(**transformers_config(chosen)))
    model.load_state_dict(weights)
    model.train()
    parameters = list(model.parameters())
    adam = torch.optim.AdamW(parameters, lr=1e-3, fused=True)

    def step() -> None:
        adam.zero_grad()
        model(ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()

    return step


def seconds(step: Callable[[], None], count: int) -> float:
    started = time.process_time()  # of one thread: other people's work on the machine counts less
    for _ in range(count):
        step()
    return (time.process_time() - started) / count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side (default: 7)")
    parser.add_argument("--only", help="only this shape (default: all)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    missed = 0
    print(
        f"{'shape':<12} {'tokens':>7} {'ours ms':>9} {'theirs ms':>9} {'tokens/s':>9} {'ratio':>6}"
    )
    for name, vocabulary, batch, length, count, wanted in CASES:
        if args.only not in (None, name):
            continue
        chosen = shape(name, vocabulary)
        model = Transformer(chosen, init=Init("fast"))
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(vocabulary, (batch, length), generator=generator)
        weights = {key: value.clone() for key, value in transformers_tensors(model).items()}
        sides = our_step(model, ids), their_step(chosen, weights, ids)
        best = [float("inf"), float("inf")]
        for turn in range(args.rounds + 1):
            for side, step in enumerate(sides):
                spent = seconds(step, count)
                best[side] = min(best[side], spent) if turn else best[side]  # the first warms up
        ours, theirs = best
        ratio = theirs / ours
        missed += ratio < wanted
        print(
            f"{name:<12} {batch}x{length:<5} {1e3 * ours:9.2f} {1e3 * theirs:9.2f} "
            f"{ids.numel() / ours:9,.0f} {ratio:5.2f}x  (wanted {wanted}x)"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
