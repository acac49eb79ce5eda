"""Topic labels by a classifier of the kind that WebOrganizer published, small and made here."""

import json

import numpy as np
import pytest
import yaml
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from olmix.corpus.shards import label_shard, tokenize_shard
from olmix.corpus.sources import read_sources
from olmix.corpus.topics import TopicClassifier
from olmix.errors import OlmixError

WORDS = ("[PAD]", "[UNK]", "goal", "team", "loop", "byte")


@pytest.fixture(scope="module")
def classifier_folder(tmp_path_factory):
    """Two topics, told by their words: the weights are set by hand, not trained."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("classifier")
    words = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder)
    config = transformers.DistilBertConfig(
        vocab_size=len(WORDS), dim=4, n_layers=1, n_heads=1, hidden_dim=4, num_labels=2,
        max_position_embeddings=64, sinusoidal_pos_embds=False,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.DistilBertForSequenceClassification(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.distilbert.embeddings.LayerNorm.weight.fill_(1)
        for word, value in (("goal", 1.0), ("team", 1.0), ("loop", -1.0), ("byte", -1.0)):
            row = model.distilbert.embeddings.word_embeddings.weight[WORDS.index(word)]
            row[0], row[1] = value, -value
        for block in model.distilbert.transformer.layer:
            block.sa_layer_norm.weight.fill_(1)
            block.output_layer_norm.weight.fill_(1)
        model.pre_classifier.weight.copy_(torch.eye(4))
        model.classifier.weight[0, 0], model.classifier.weight[1, 1] = 1.0, 1.0
    model.save_pretrained(folder)
    return folder


def test_documents_are_labelled_and_go_to_the_domains_of_their_labels(
    classifier_folder, tokenizer_file, tmp_path
):
    texts = ["goal goal", "loop goal", "byte", "team"]
    lines = [json.dumps({"text": text}) for text in texts]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "not a document"]) + "\n")
    entry = {
        "paths": [str(tmp_path / "*.jsonl")],
        "labels": "topics/{stem}.npy",
        "classifier": {"repository": str(classifier_folder)},
        "domains": {"web:sports": 0, "web:code": 1},
    }
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump({"sources": {"web": entry}}))
    (web,) = read_sources(tmp_path / "corpora.yaml")
    classifier = TopicClassifier(str(classifier_folder))
    label_shard(web, 0, 1, downloaded=None, classifier=classifier, out=tmp_path / "labels.json")
    assert np.load(tmp_path / "topics" / "a.npy").tolist() == [0, 1, 1, 0, -1]
    written = (tmp_path / "topics" / "a.npy").stat().st_mtime_ns
    label_shard(web, 0, 1, downloaded=None, classifier=classifier, out=tmp_path / "labels.json")
    assert (tmp_path / "topics" / "a.npy").stat().st_mtime_ns == written, "kept as it is"
    lenient = dict(downloaded=None, tokenizer=tokenizer_file, processes=1)
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, json.dumps({"text": ""})]) + "\n")
    tokenize_shard(web, 0, 1, **lenient, to=tmp_path / "out", out=tmp_path / "stores.json")
    counts = json.loads((tmp_path / "stores.json").read_text())["domains"]
    assert {c["domain"]: c["documents"] for c in counts} == {"web:code": 2, "web:sports": 2}


def test_a_classifier_that_is_not_there_is_refused_in_a_line(tmp_path):
    with pytest.raises(OlmixError, match="cannot be loaded"):
        TopicClassifier(str(tmp_path))
