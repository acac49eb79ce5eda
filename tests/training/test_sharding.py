"""What each way to share the weights sends between nodes."""

import pytest

from olmix.training.sharding import SHARDINGS, between_nodes, shards_of


def test_parts_of_the_weights():
    assert [shards_of(name, 32, 8) for name in SHARDINGS] == [1, 8, 8, 32]
    assert [shards_of(name, 1, 1) for name in SHARDINGS] == [1, 1, 1, 1]


def test_bytes_between_nodes_written_out():
    """Four nodes: each lacks three quarters of what all hold together."""
    lacks = 3 / 4 * 1000
    for name in ("none", "node", "kept"):
        # A ring: sums of float32 one way, results the other, once however many micro batches.
        assert between_nodes(name, 1000, 4, 7) == lacks * 8
    # bfloat16 weights twice a micro batch, float32 gradients once.
    assert between_nodes("all", 1000, 4, 1) == lacks * (2 + 2 + 4)
    assert between_nodes("all", 1000, 4, 4) == lacks * (16 + 4)


def test_the_papers_target_saves_three_fifths_between_nodes():
    """Four micro batches of four sequences on each of 32 GPUs."""
    saved = 1 - between_nodes("node", 1, 4, 4) / between_nodes("all", 1, 4, 4)
    assert saved == pytest.approx(0.6)


def test_one_node_sends_nothing():
    assert not any(between_nodes(name, 1000, 1, 3) for name in SHARDINGS)
