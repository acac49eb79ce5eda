"""Topic labels for documents that have none, by a text classifier such as WebOrganizer's.

A classifier is a folder, or a repository of the hub, that `transformers` loads for sequence
classification. Labels are the numbers of its classes, one for each line of a file of documents.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from olmix.corpus.sources import read_labels
from olmix.corpus.text import BrokenLine, read_documents
from olmix.errors import OlmixError
from olmix.files import replacing

__all__ = ["TopicClassifier", "label_file"]

BATCH = 32
# Tokens of a document that a classifier looks at.
LONGEST = 1024
#: The label of a line that holds no document: it leads to no domain.
NO_LABEL = -1


class TopicClassifier:
    """A classifier of texts, on a GPU where there is one."""

    def __init__(
        self, place: str, revision: str | None = None, *, remote_code: bool = False
    ) -> None:
        """Load it from a folder, or by its name from the hub.

        ``remote_code`` lets the repository bring code of its own, which WebOrganizer's does.
        """
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        options: dict[str, Any] = {"revision": revision, "trust_remote_code": remote_code}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(place, **options)
            self._model = AutoModelForSequenceClassification.from_pretrained(place, **options)
        except (OSError, ValueError) as error:
            why = str(error).strip().splitlines()[0]
            raise OlmixError(f"classifier {place!r} cannot be loaded: {why}") from error
        self._torch = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model.to(self._device).eval()

    def labels(self, texts: Iterable[str]) -> Iterator[int]:
        """The most likely class of each text."""
        waiting = iter(texts)
        while batch := list(islice(waiting, BATCH)):
            inputs = self._tokenizer(
                batch, truncation=True, max_length=LONGEST, padding=True, return_tensors="pt"
            )
            with self._torch.inference_mode():
                logits = self._model(**inputs.to(self._device)).logits
            yield from logits.argmax(-1).tolist()


def label_file(path: Path, labels: Path, classifier: TopicClassifier, text_field: str) -> int:
    """Write a label for each line of a file of documents; returns how many. Done ones are kept."""
    if labels.is_file():
        return len(read_labels(labels))
    entries = list(read_documents(path, text_field, None))
    texts = (entry.text for entry in entries if not isinstance(entry, BrokenLine))
    found = classifier.labels(texts)
    values = [NO_LABEL if isinstance(entry, BrokenLine) else next(found) for entry in entries]
    labels.parent.mkdir(parents=True, exist_ok=True)
    with replacing(labels) as temporary, temporary.open("wb") as file:
        np.save(file, np.array(values, dtype=np.int64))
    return len(values)
