"""FLOPs, hours, memory and requests against closed forms and against what torch really keeps."""

import math

import pytest

from olmix.cost.compute import (
    Machine,
    RunCost,
    activation_bytes,
    run_size,
    training_flops,
)
from olmix.errors import OlmixError
from olmix.model.logits import loss_memory, loss_traffic
from olmix.model.shapes import SHAPES, ModelShape
from olmix.paths import CONFIG
from olmix.study.scale import load_scale

MACHINE = Machine.from_dict(
    {
        "device": "H100", "peak_tflops": 1000, "utilisation": 0.5, "step_seconds": 0.0,
        "evaluation_minutes": 0, "safety": 1, "spare_minutes": 0, "longest_job": 10**9,
        "process_mb": 1000, "device_gb": 80, "devices": 64,
    }
)  # fmt: skip
PAPER = load_scale(CONFIG / "scales", "paper")
TINY = load_scale(CONFIG / "scales", "tiny")


def cost(name, machine=MACHINE, **model):
    return RunCost(name, {"shape": name, "gpu": 1, **model}, machine)


def machine(**changes):
    return Machine(**{**MACHINE.__dict__, **changes})


def test_flops_of_one_layer_written_out():
    d, h, v, t = 8, 24, 100, 16
    shape = ModelShape("one", v, d, 1, 1, h, t)
    products = 4 * d * d + 3 * d * h + v * d  # multiply-adds of one token, forward
    norms = 4 * d + d
    attention = 2 * (t / 2) * d  # scores and sums over half of the positions
    assert training_flops(shape, 1, t) == 3 * 2 * (products + norms + attention)


def test_flops_are_proportional_to_tokens():
    shape = SHAPES["30m"]
    assert training_flops(shape, 7000, 2048) == 7000 * training_flops(shape, 1, 2048)


def test_flops_come_near_the_usual_6nd_for_the_target():
    shape = SHAPES["1b"]
    parameters = shape.parameters - shape.embedding_parameters
    ratio = training_flops(shape, 10**11, 4096) / (6 * parameters * 10**11)
    # Attention adds T·L·d to a token's parameters: 4096·16·2048 of 1.28 billion.
    assert ratio == pytest.approx(1 + 4096 * 16 * 2048 / parameters)
    assert 1.1 < ratio < 1.11


def test_flops_against_torchs_count_of_a_real_step():
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    from olmix.model.transformer import Transformer

    d, length, sequences = 32, 256, 2
    shape = ModelShape("small", 64, d, 2, 2, 96, 512)
    with FlopCounterMode(display=False) as counter:
        Transformer(shape).loss(torch.randint(0, 64, (sequences, length + 1))).backward()
    tokens = sequences * length
    # It counts matrix products, and neither norms nor (on a CPU) attention.
    norms, attention = 6 * (2 * 4 * d + d), 6 * 2 * length * d
    assert counter.get_total_flops() == training_flops(shape, tokens, length) - tokens * (
        norms + attention
    )


def test_hours_of_a_run_are_flops_over_what_the_devices_do():
    run = cost("30m")
    assert run.hours(0) == pytest.approx(run.flops / 0.5e15 / 3600)
    two = RunCost("30m", {"shape": "30m", "gpu": 2}, MACHINE)
    assert two.hours(0) == pytest.approx(run.hours(0) / 2)
    slow = cost("30m", machine(step_seconds=0.1, evaluation_minutes=6))
    assert slow.hours(2) - run.hours(0) == pytest.approx(run.size.steps * 0.1 / 3600 + 0.2)


def test_all_processes_score_together():
    one = machine(evaluation_minutes=64)
    target = RunCost("1b", {"shape": "1b", "gpu": 32, "nodes": 4}, one)
    assert target.hours(3) - target.hours(0) == pytest.approx(3 * 64 / 60 / 32)


def test_the_papers_seconds_of_a_step_are_what_its_loss_moves_through_memory():
    """3.35 TB/s, and a fifth more for all else."""
    assumed = PAPER["hardware"]["step_seconds"]
    for proxy in ("30m", "60m"):
        loss = loss_traffic(SHAPES[proxy], 64 * 2048) / 3.35e12
        assert 1.1 * loss < assumed < 1.25 * loss


def test_what_was_measured_takes_the_place_of_what_is_assumed():
    model = {"shape": "1b", "gpu": 32, "nodes": 4}
    found = {
        "of": ["1b", 4096, 512, 32, 4], "step_seconds": 2.0, "evaluation_minutes": 3.2,
        "micro_batch": 4, "sharding": "kept",
    }  # fmt: skip
    run = RunCost("target", model, machine(measured={"target": found}))
    assert run.hours(2) == pytest.approx((run.size.steps * 2.0 + 2 * 3.2 * 60 / 32) / 3600)
    assert run.training_request(1).micro_batch == 4
    assert run.sharding == "kept"
    assert RunCost("target", model | {"sharding": "all"}, run.machine).sharding == "all"
    # Of another model, batch or number of processes it says nothing.
    other = RunCost("target", model | {"gpu": 16}, run.machine)
    assert other.measured is None
    assert other.hours() == RunCost("target", model | {"gpu": 16}, MACHINE).hours()


def test_weights_shared_by_a_node_take_more_room_than_shared_by_all():
    model = {"shape": "1b", "gpu": 32, "nodes": 4}
    by_all, by_node, by_none = (
        RunCost("t", model | {"sharding": sharding}, MACHINE)._device_bytes(16)
        for sharding in ("all", "node", "none")
    )
    states = 16 * SHAPES["1b"].parameters
    assert by_node - by_all == pytest.approx(states / 8 - states / 32)
    assert by_none - by_node == pytest.approx(states - states / 8)


def test_size_of_a_run_is_the_presets_unless_the_scale_overrides_it():
    assert run_size({"shape": "30m"}).tokens == 22_204 * 64 * 2048  # 2,910,233,600 rounded up
    assert run_size({"shape": "30m"}).steps == 22_204
    changed = run_size({"shape": "30m", "tokens": 100, "batch_size": 2, "sequence_length": 10})
    assert changed == (100, 10, 2)
    assert (
        run_size({"shape": "30m", "tokens": 101, "batch_size": 2, "sequence_length": 10})[0] == 120
    )


def test_request_has_room_to_spare_and_a_ceiling():
    run = cost("30m", machine(safety=2, spare_minutes=15))
    expected = math.ceil(2 * 3 * run.hours(1) * 60 + 15)
    assert run.training_request(runs=3).runtime == expected
    assert cost("30m", machine(longest_job=30)).training_request(runs=9).runtime == 30


def test_memory_of_a_node_counts_its_processes_and_a_checkpoint():
    parameters = SHAPES["1b"].parameters
    one = RunCost("1b", {"shape": "1b", "gpu": 32, "nodes": 4}, MACHINE).training_request(1)
    assert one.mem_mb == pytest.approx(8 * 1000 + 24 * parameters / 1e6, abs=100)
    assert one.mem_mb >= 8 * 1000 + 24 * parameters / 1e6


def test_micro_batch_is_the_largest_divisor_that_fits():
    run = RunCost("1b", {"shape": "1b", "gpu": 32}, MACHINE)
    chosen = run.training_request(1).micro_batch
    assert chosen == 4
    sequence = 4096 * activation_bytes(SHAPES["1b"])
    # Beside the sequences: gathered weights, whole gradients, the loss; one 32nd of the states.
    beside = (2 + 4 + 16 / 32) * SHAPES["1b"].parameters + loss_memory(SHAPES["1b"])
    assert chosen * sequence + beside < 80e9 < 8 * sequence + beside
    larger = RunCost("1b", {"shape": "1b", "gpu": 32}, machine(device_gb=1000))
    assert larger.training_request(1).micro_batch == 512 // 32


def test_a_model_too_large_for_its_devices_is_refused():
    small = machine(device_gb=5)
    with pytest.raises(OlmixError, match=r"'1b': one sequence takes .* hardware.device_gb, 5; "):
        cost("1b", small).training_request(1)


def test_a_batch_that_does_not_split_is_refused():
    with pytest.raises(OlmixError, match="64 sequences cannot be split evenly over 3 processes"):
        RunCost("30m", {"shape": "30m", "gpu": 3}, MACHINE).training_request(1)


def test_a_table_without_a_key_is_refused():
    with pytest.raises(OlmixError, match="hardware: key 'safety' is missing"):
        Machine.from_dict({k: v for k, v in MACHINE.__dict__.items() if k != "safety"})


@pytest.mark.parametrize(("d", "hidden", "heads"), [(128, 512, 4), (256, 768, 8), (256, 1024, 4)])
def test_activations_are_what_autograd_keeps(d, hidden, heads):
    torch = pytest.importorskip("torch")
    from olmix.model.transformer import Transformer

    tokens = 2 * 256

    def kept(layers: int) -> float:
        model = Transformer(ModelShape("x", 128, d, layers, heads, hidden, 512))
        fixed = {p.untyped_storage().data_ptr() for p in model.parameters()}
        sizes, alive = {}, []

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in fixed:
                sizes[storage.data_ptr()] = storage.nbytes()
                alive.append(tensor)
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
        with hooks, torch.autocast("cpu", torch.bfloat16):
            model.hidden(torch.randint(0, 128, (2, 256)))
        return sum(sizes.values())

    copies = 2 * (4 * d * d + 3 * d * hidden)  # of the weights in bfloat16: counted elsewhere
    measured = ((kept(3) - kept(1)) / 2 - copies) / tokens
    assert measured == pytest.approx(
        activation_bytes(ModelShape("x", 128, d, 1, heads, hidden, 512)), rel=0.05
    )


def test_paper_requests_suit_the_cluster():
    hardware = Machine.from_dict(PAPER["hardware"])
    proxy = RunCost("30m", PAPER.model("30m"), hardware)
    assert 0.3 < proxy.hours() < 2
    request = proxy.training_request(PAPER.model("30m")["runs_per_job"])
    assert request.runtime < 600
    assert 8_000 < request.mem_mb < 64_000
    target = RunCost("target", PAPER.model("target"), hardware)
    assert target.devices == 32
    assert 15 < target.hours() < 30
    assert target.training_request(1).runtime == hardware.longest_job
    assert 100_000 < target.training_request(1).mem_mb < 512_000


def test_tiny_requests_suit_a_laptop():
    hardware = Machine.from_dict(TINY["hardware"])
    for name in TINY["models"]:
        request = RunCost(name, TINY.model(name), hardware).training_request(48)
        assert request.runtime <= 60
        assert request.mem_mb <= 4000
        assert request.micro_batch == run_size(TINY.model(name)).batch_size
