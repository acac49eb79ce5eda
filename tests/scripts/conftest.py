"""Scripts of the workflow as modules, and a small data folder for them to read."""

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from olmix.corpus.store import StoreWriter
from olmix.corpus.tokenizer import load_tokenizer
from olmix.domains import DomainSet
from olmix.evaluation.suite import SuiteWriter

SCRIPTS = Path(__file__).parents[2] / "scripts"
TOKENS = {"web:a": 2000, "web:b": 1000, "books": 3000}
WORDS = ["<|endoftext|>", "<unk>", "a", "b", "c", "d", "e", "f"]


@pytest.fixture
def script() -> Callable[[str], ModuleType]:
    """``script("list_runs").main(...)``: what a rule runs, without Snakemake."""

    def load(name: str) -> ModuleType:
        spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def data(tmp_path) -> Path:
    """A data folder: corpus, domains, tokenizer and suite."""
    folder = tmp_path / "data"
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    _, info = load_tokenizer(folder / "tokenizer.json")
    for name, tokens in TOKENS.items():
        store = folder / "corpus" / name.replace(":", "-")
        with StoreWriter(store, domain=name, tokenizer=info) as writer:
            writer.add(np.full(tokens - 1, 2), bytes=tokens)
    DomainSet.from_token_counts(TOKENS).save(folder / "domains.json")
    with SuiteWriter(folder / "suite", "made-up") as suite:
        suite.add("letters", "qa", [("a b", " c"), ("b c", " d")])
        suite.add("pairs", "qa", [("a", " b")])
    return folder


@pytest.fixture
def updates(tmp_path) -> Path:
    """An updates file over the data folder's domains."""
    content = {
        "domains": TOKENS,
        "initial": ["web:a", "web:b"],
        "updates": [{"name": "more", "add": ["books"]}],
    }
    path = tmp_path / "updates.yaml"
    path.write_text(yaml.safe_dump(content))
    return path
