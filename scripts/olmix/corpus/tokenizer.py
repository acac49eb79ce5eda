"""Loading a Hugging Face `tokenizers` JSON file, ready to encode training text."""

from pathlib import Path

from tokenizers import Tokenizer

from olmix.corpus.store import TokenizerInfo
from olmix.errors import OlmixError
from olmix.files import sha256

__all__ = ["END_OF_TEXT_NAMES", "load_tokenizer"]

# Tried in this order when the user names no end-of-text token.
END_OF_TEXT_NAMES = ("<|endoftext|>", "<eos>", "</s>")


def load_tokenizer(
    path: str | Path, end_of_text: str | None = None
) -> tuple[Tokenizer, TokenizerInfo]:
    """Read a tokenizer and what a token store remembers of it.

    Truncation and padding stored in the file are switched off, and the *text* of a special token
    inside a document is encoded as ordinary text: only the store writer ends a document.
    """
    path = Path(path)
    if not path.is_file():
        raise OlmixError(f"{path}: no such tokenizer file")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises the bare class
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OlmixError(
            f"{path}: not a Hugging Face tokenizers JSON file ({first_line})"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    names = (end_of_text,) if end_of_text is not None else END_OF_TEXT_NAMES
    ids = [tokenizer.token_to_id(name) for name in names]
    found = [number for number in ids if number is not None]
    if not found:
        raise OlmixError(
            f"{path}: no end-of-text token {' or '.join(map(repr, names))} in the vocabulary; "
            "name yours with --end-of-text"
        )
    info = TokenizerInfo(
        sha256=sha256(path),
        # Ids may have gaps (Dolma 2 has): the largest one decides, not the number of entries.
        vocab_size=max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1,
        end_of_text=found[0],
    )
    return tokenizer, info
