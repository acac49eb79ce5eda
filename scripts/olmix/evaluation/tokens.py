"""A task suite tokenised once and laid out in padded batches, to score many models with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite, Task
from olmix.files import sha256

__all__ = ["PaddedBatch", "TokenisedInstances", "TokenisedSuite", "evenly_spaced", "lay_out"]

_ROWS_AT_ONCE = 1000  # texts handed to the tokenizer at a time: bounds its memory


@dataclass(frozen=True)
class TokenisedInstances:
    """Prompts and golds as token ids, for the instances of every task in the suite's order."""

    prompts: list[np.ndarray]
    golds: list[np.ndarray]
    gold_bytes: np.ndarray  # UTF-8 bytes of each gold, its leading space counted
    counts: dict[str, int]  # instances of each task with rows
    largest_id: int


@dataclass(frozen=True)
class PaddedBatch:
    """Rows of similar length, padded on the right, and which of their positions to score."""

    ids: np.ndarray  # (rows, length) int32
    positions: np.ndarray  # places in ids.ravel() whose next token is a gold token
    targets: np.ndarray  # those gold tokens
    owners: np.ndarray  # the instance each belongs to


class TokenisedSuite:
    """A suite under one tokenizer; tokens and batches are made on first use and then kept.

    Prompt and gold are tokenised separately and joined, without special tokens, so that the gold
    tokens do not depend on the prompt.
    """

    def __init__(self, suite: Suite, tokenizer_path: str | Path) -> None:
        """Open the tokenizer (a Hugging Face ``tokenizers`` JSON file) for ``suite``."""
        path = Path(tokenizer_path)
        if not path.is_file():
            raise OlmixError(f"{path}: no such file; expected a tokenizers JSON file")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the tokenizers library raises bare Exception
            raise OlmixError(f"{path}: not a tokenizers JSON file ({error})") from error
        # As when the training text was tokenised: whole texts, special tokens read as plain text.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.suite = suite
        self.tokenizer_path = path
        self.tokenizer_sha256 = sha256(path)
        self._instances: dict[int | None, TokenisedInstances] = {}
        self._batches: dict[tuple[int, int, int | None], list[PaddedBatch]] = {}

    def instances(self, max_instances: int | None = None) -> TokenisedInstances:
        """The tokens of every instance, or of at most ``max_instances`` evenly spaced per task."""
        if max_instances is not None and max_instances < 1:
            raise OlmixError(f"max_instances is {max_instances}; expected at least 1")
        if max_instances not in self._instances:
            self._instances[max_instances] = self._tokenise(max_instances)
        return self._instances[max_instances]

    def batches(
        self, context_length: int, batch_tokens: int, max_instances: int | None = None
    ) -> list[PaddedBatch]:
        """Padded batches of at most ``batch_tokens`` tokens (one row at least), longest first."""
        key = (context_length, batch_tokens, max_instances)
        if key not in self._batches:
            self._batches[key] = lay_out(self.instances(max_instances), *key[:2])
        return self._batches[key]

    def _tokenise(self, max_instances: int | None) -> TokenisedInstances:
        prompts: list[np.ndarray] = []
        golds: list[np.ndarray] = []
        gold_bytes: list[int] = []
        counts: dict[str, int] = {}
        for task in self.suite.tasks:
            if task.file is None:
                continue
            rows = self.suite.instances(task)
            chosen = evenly_spaced(len(rows), max_instances)
            rows = [rows[index] for index in chosen]
            task_prompts = self._encode([row.prompt for row in rows])
            task_golds = self._encode([row.gold for row in rows])
            self._check(task, chosen, task_prompts, task_golds)
            prompts += task_prompts
            golds += task_golds
            gold_bytes += [len(row.gold.encode("utf-8")) for row in rows]
            counts[task.name] = len(rows)
        largest = max(int(ids.max()) for ids in prompts + golds)
        return TokenisedInstances(prompts, golds, np.array(gold_bytes), counts, largest)

    def _encode(self, texts: list[str]) -> list[np.ndarray]:
        encoded: list[np.ndarray] = []
        for start in range(0, len(texts), _ROWS_AT_ONCE):
            part = texts[start : start + _ROWS_AT_ONCE]
            encodings = self._tokenizer.encode_batch_fast(part, add_special_tokens=False)
            encoded += [np.array(encoding.ids, dtype=np.int32) for encoding in encodings]
        return encoded

    def _check(
        self, task: Task, rows: np.ndarray, prompts: list[np.ndarray], golds: list[np.ndarray]
    ) -> None:
        """Refuse what cannot be scored: no tokens, or a gold outside the vocabulary."""
        unknown_token = getattr(self._tokenizer.model, "unk_token", None)
        unknown = self._tokenizer.token_to_id(unknown_token) if unknown_token else None
        for row, prompt, gold in zip(rows, prompts, golds, strict=True):
            problem = None
            if prompt.size == 0:  # the first gold token would have nothing to be predicted from
                problem = "the prompt has no tokens"
            elif gold.size == 0:
                problem = "the gold has no tokens"
            elif unknown is not None and unknown in gold:
                problem = "the gold has words outside the vocabulary"
            if problem:
                raise OlmixError(
                    f"{self.suite.folder / str(task.file)}:{row + 1}: {problem} under "
                    f"{self.tokenizer_path}; expected a tokenizer that covers the suite"
                )


def evenly_spaced(count: int, at_most: int | None) -> np.ndarray:
    """Indices of at most ``at_most`` of ``count`` rows, evenly spaced in file order.

    Evenly spaced rather than first, because files are ordered (by MMLU subject, for one).
    """
    if at_most is None or at_most >= count:
        return np.arange(count)
    return np.arange(at_most) * count // at_most


def _windows(prompt: int, gold: int, context_length: int) -> Iterator[tuple[int, int, int]]:
    """(start, stop, scored) stretches of prompt + gold that a model of this context can read.

    A stretch of n tokens feeds n - 1 to the model and scores its last ``scored``. One stretch is
    enough when the gold fits: the prompt loses its left part, the gold nothing. A gold longer than
    the context is scored in steps of half a context, each with all the text to its left that fits.
    """
    step = gold if gold <= context_length else max(1, context_length // 2)
    end = prompt + gold
    for scored_from in range(prompt, end, step):
        stop = min(scored_from + step, end)
        yield max(0, stop - context_length - 1), stop, stop - scored_from


def lay_out(
    instances: TokenisedInstances, context_length: int, batch_tokens: int
) -> list[PaddedBatch]:
    """Sort the stretches by length, longest first, and cut them into padded batches."""
    stretches: list[tuple[np.ndarray, int, int]] = []
    for owner, (prompt, gold) in enumerate(zip(instances.prompts, instances.golds, strict=True)):
        ids = np.concatenate([prompt, gold])
        for start, stop, scored in _windows(prompt.size, gold.size, context_length):
            stretches.append((ids[start:stop], scored, owner))
    stretches.sort(key=lambda stretch: -stretch[0].size)
    batches = []
    start = 0
    while start < len(stretches):
        rows = max(1, batch_tokens // (stretches[start][0].size - 1))
        batches.append(_batch(stretches[start : start + rows]))
        start += rows
    return batches


def _batch(stretches: list[tuple[np.ndarray, int, int]]) -> PaddedBatch:
    length = stretches[0][0].size - 1
    ids = np.zeros((len(stretches), length), dtype=np.int32)
    positions, targets, owners = [], [], []
    for row, (stretch, scored, owner) in enumerate(stretches):
        ids[row, : stretch.size - 1] = stretch[:-1]
        last = row * length + stretch.size - 1
        positions.append(np.arange(last - scored, last))
        targets.append(stretch[-scored:])
        owners.append(np.full(scored, owner))
    return PaddedBatch(
        ids,
        np.concatenate(positions).astype(np.int64),
        np.concatenate(targets).astype(np.int64),
        np.concatenate(owners).astype(np.int64),
    )
