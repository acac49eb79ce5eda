"""Named shapes: the paper's numbers and the relations between them."""

import pytest

from olmix.errors import OlmixError
from olmix.model.shapes import SHAPES, ModelShape, chinchilla_tokens, shape


def test_the_30m_proxy_has_the_released_budget():
    proxy = shape("30m")
    assert proxy.parameters - proxy.embedding_parameters == 29_102_336
    assert chinchilla_tokens(proxy) == 2_910_233_600
    assert chinchilla_tokens(proxy, multiple=1) == 582_046_720


@pytest.mark.parametrize(
    ("name", "layers", "heads", "d_model", "head_dim"),
    [
        ("1m", 4, 4, 16, 4),
        ("15m", 8, 4, 128, 32),
        ("30m", 4, 8, 256, 32),
        ("60m", 8, 8, 384, 48),
        ("1b", 16, 16, 2048, 128),
    ],
)
def test_the_papers_table(name, layers, heads, d_model, head_dim):
    chosen = shape(name)
    assert (chosen.n_layers, chosen.n_heads, chosen.d_model) == (layers, heads, d_model)
    assert (chosen.head_dim, chosen.vocab_size) == (head_dim, 100_352)


def test_sizes_grow_with_their_names():
    for prefix in ("", "tiny-"):
        names = [prefix + size for size in ("1m", "15m", "30m", "60m")]
        names.append("tiny-target" if prefix else "1b")
        sizes = [SHAPES[name].parameters for name in names]
        assert sizes == sorted(set(sizes))


def test_another_vocabulary_and_json():
    small = shape("15m", vocab_size=300)
    assert small.vocab_size == 300
    assert small.parameters == 2 * 300 * 128 + small.non_embedding_parameters
    assert ModelShape.from_dict(small.to_dict()) == small


def test_wrong_shapes_are_refused():
    with pytest.raises(OlmixError, match="unknown model shape '2b'; expected one of 1m, 15m"):
        shape("2b")
    with pytest.raises(OlmixError, match="vocab_size is 0"):
        shape("tiny-30m", vocab_size=0)
    with pytest.raises(OlmixError, match="not an even head size"):
        ModelShape("odd", 10, 12, 1, 4, 8, 8)
    with pytest.raises(OlmixError, match="not a model shape"):
        ModelShape.from_dict({"name": "x"})
