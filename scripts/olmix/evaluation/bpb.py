"""Bits per byte of gold continuations: what every table of the paper is made of.

For one instance, BPB = -log2 p(gold | prompt) / UTF-8 bytes of the gold, its leading space counted.
A task's value is the plain mean over its instances, a family's the mean over its tasks, and the
average the mean over all tasks (Section "Evaluation" of the paper).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.evaluation.tokens import PaddedBatch, TokenisedSuite

if TYPE_CHECKING:
    from olmix.training.distributed import Processes

__all__ = ["LanguageModel", "arithmetic", "evaluate", "gold_nats", "summarise"]

# Only gold positions are projected onto the vocabulary, and no more than this many logits at a
# time (28 MB in float32 on a CPU, 512 MB on a GPU, whose products want many rows): with the
# 100,352 tokens of Dolma 2 they would fill the memory.
_LOGITS_AT_ONCE = {"cpu": 7 * 2**20, "cuda": 2**27}


class LanguageModel(Protocol):
    """What `evaluate` needs of a model; `olmix.model.transformer.Transformer` offers it."""

    shape: Any  # with vocab_size and context_length

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Token ids (B, T) to the states (B, T, d) that `head` reads."""

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        """States (..., d) to next-token logits (..., V)."""


def evaluate(
    model: LanguageModel,
    suite: TokenisedSuite,
    *,
    device: str | torch.device = "cpu",
    batch_tokens: int = 4096,
    max_instances: int | None = None,
    precision: str = "auto",
    on_progress: Callable[[int, int], None] | None = None,
    team: "Processes | None" = None,
) -> dict[str, Any]:
    """Score a model on every task of a suite.

    ``batch_tokens`` and ``device`` are about speed and memory and do not change the numbers
    (beyond rounding); ``precision`` "bfloat16" runs the network in bfloat16, the log-likelihood
    still in float32, and "auto" does so on a GPU. ``max_instances`` scores at most that many
    evenly spaced instances per task, and the result says so. ``on_progress(done, total)`` counts
    batches. Every process of a ``team`` scores its share and returns the whole result.
    """
    instances = suite.instances(max_instances)
    if instances.largest_id >= model.shape.vocab_size:
        raise OlmixError(
            f"{suite.tokenizer_path}: gives token {instances.largest_id}, but the model's "
            f"vocabulary has {model.shape.vocab_size}; expected the tokenizer it was trained with"
        )
    batches = suite.batches(model.shape.context_length, batch_tokens, max_instances)
    if team is not None:  # longest first: dealt out in turn, shares take the same time
        batches = batches[team.rank :: team.count]
    nats = gold_nats(
        model,
        batches,
        len(instances.golds),
        device=device,
        precision=precision,
        on_progress=on_progress,
    )
    if team is not None:
        nats = team.sum(nats)
    bpb = nats.cpu().numpy() / math.log(2) / instances.gold_bytes
    return summarise(suite.suite, bpb, instances.counts) | {"subsampled": max_instances}


def gold_nats(
    model: LanguageModel,
    batches: Sequence[PaddedBatch],
    instances: int,
    *,
    device: str | torch.device,
    precision: str = "auto",
    on_progress: Callable[[int, int], None] | None = None,
) -> torch.Tensor:
    """-log p in nats of the gold of each instance, as far as ``batches`` have its tokens."""
    # Where the model is: a GPU is asked for its results once, not after every batch.
    nats = torch.zeros(instances, dtype=torch.float64, device=device)
    with torch.inference_mode(), _evaluating(model), _computing_in(precision, device):
        for done, batch in enumerate(batches, start=1):
            losses = _gold_losses(model, batch, torch.device(device))
            owners = torch.from_numpy(batch.owners)
            nats.index_add_(0, owners.to(nats.device), losses.double())
            if on_progress is not None:
                on_progress(done, len(batches))
    return nats


def summarise(suite: Suite, bpb: np.ndarray, counts: dict[str, int]) -> dict[str, Any]:
    """BPB of tasks, families and the average, from each instance's (tasks one after another)."""
    values: dict[str, float] = {}
    start = 0
    for name, count in counts.items():
        values[name] = float(bpb[start : start + count].mean())
        start += count
        if not math.isfinite(values[name]):
            raise OlmixError(
                f"suite {suite.name!r}, task {name!r}: BPB is {values[name]}; expected a finite "
                "number (did the model's training diverge?)"
            )
    for task in suite.tasks:
        if task.mean_of:
            values[task.name] = float(np.mean([values[name] for name in task.mean_of]))
    tasks = {task.name: values[task.name] for task in suite.tasks}
    return {
        "tasks": tasks,
        "families": {
            family: float(np.mean([tasks[name] for name in names]))
            for family, names in suite.families.items()
        },
        "average": float(np.mean(list(tasks.values()))),
        "suite": {"name": suite.name, "hash": suite.hash},
        "instances": {task.name: counts.get(task.name, 0) for task in suite.tasks},
    }


def _gold_losses(model: LanguageModel, batch: PaddedBatch, device: torch.device) -> torch.Tensor:
    """-log p in nats of each gold token of a batch, in the order of ``batch.owners``."""
    ids = torch.from_numpy(batch.ids).to(device).long()
    targets = torch.from_numpy(batch.targets).to(device)
    # Padding is on the right and the model is causal: no scored position sees it.
    states = model.hidden(ids).flatten(0, 1)[torch.from_numpy(batch.positions).to(device)]
    rows = max(1, _LOGITS_AT_ONCE[device.type] // model.shape.vocab_size)
    return torch.cat(
        [
            cross_entropy(model.head(some).float(), gold, reduction="none")
            for some, gold in zip(states.split(rows), targets.split(rows), strict=True)
        ]
    )


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """The model in evaluation mode inside the ``with``, and as it was after."""
    was_training = getattr(model, "training", False)
    if was_training:
        model.eval()
    try:
        yield
    finally:
        if was_training:
            model.train()


def arithmetic(precision: str, device: str | torch.device) -> str:
    """The arithmetic that "auto" stands for on a device; any other precision as it is."""
    if precision == "auto":
        return "bfloat16" if torch.device(device).type == "cuda" else "float32"
    return precision


def _computing_in(precision: str, device: str | torch.device) -> AbstractContextManager[Any]:
    kind = arithmetic(precision, device)
    if kind == "float32":
        return nullcontext()
    if kind == "bfloat16":
        return torch.autocast(torch.device(device).type, dtype=torch.bfloat16)
    raise OlmixError(f"precision is {kind!r}; expected 'auto', 'float32' or 'bfloat16'")
