"""A byte-level BPE tokenizer of a fitting size, trained on as much of each domain."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from olmix.corpus.text import Document, read_documents
from olmix.corpus.tokenizer import END_OF_TEXT_NAMES
from olmix.errors import OlmixError
from olmix.files import replacing

__all__ = ["check_size", "fitting_size", "train_tokenizer"]

# Bytes and an end of text; beyond it merges.
SMALLEST = 320
# Text a word of the vocabulary is worth: rarer ones are hardly trained.
BYTES_PER_WORD = 8_000
# Characters of each domain it is trained on; the mix is not known yet, so all count alike.
SAMPLE_CHARACTERS = 2_000_000


def fitting_size(text_bytes: int, largest: int) -> int:
    """Words of the vocabulary for so much text: a power of two, and no more than ``largest``."""
    wanted = 2 ** round(math.log2(max(text_bytes / BYTES_PER_WORD, 1)))
    return max(SMALLEST, min(wanted, largest))


def check_size(size: int) -> None:
    """Refuse a vocabulary without room for all bytes."""
    if size < SMALLEST:
        raise OlmixError(f"a vocabulary of {size} words: expected {SMALLEST} or more")


def train_tokenizer(shards: Mapping[str, list[Path]], size: int, path: str | Path) -> None:
    """Train on a sample of every domain's shards and write a tokenizers JSON file."""
    check_size(size)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END_OF_TEXT_NAMES[0]],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = (text for paths in shards.values() for text in _sample(paths))
    tokenizer.train_from_iterator(texts, trainer)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(json.loads(tokenizer.to_str())), encoding="utf-8")


def _sample(shards: list[Path]) -> Iterator[str]:
    """The first documents of every shard, as much of each."""
    share = -(-SAMPLE_CHARACTERS // max(len(shards), 1))
    for shard in shards:
        left = share
        for entry in read_documents(shard):
            if isinstance(entry, Document):
                yield entry.text[:left]
                left -= len(entry.text)
            if left <= 0:
                break
