"""The measured table and what is said of it, from measurements made up for the purpose."""

import math

import pytest

from olmix.cost.compute import Machine, RunCost
from olmix.cost.measured import measured_file, with_measured
from olmix.files import write_json
from olmix.preflight.models import preflight_scale
from olmix.preflight.report import Preflight, report_lines
from olmix.study.scale import Scale

HARDWARE = {
    "device": "H100", "peak_tflops": 1000, "utilisation": 0.4, "step_seconds": 0.0,
    "evaluation_minutes": 5, "safety": 2, "spare_minutes": 15, "longest_job": 1440,
    "process_mb": 16000, "device_gb": 64, "devices": 64, "checkpoint_minutes": 20,
}  # fmt: skip
MODELS = {
    "30m": {"shape": "30m", "gpu": 1, "runs_per_job": 4},
    "target": {"shape": "1b", "gpu": 32, "nodes": 4, "runs_per_job": 1},
}
SCALE = Scale("made_up", {"models": MODELS, "hardware": HARDWARE})


def measurement(name: str, **changes) -> dict:
    """Just what was expected of a model."""
    models = preflight_scale(SCALE)["models"]
    run = RunCost(name, models[name], Machine.from_dict(HARDWARE))
    seconds = 3600 * run.hours(0) / run.size.steps
    return {
        "of": run.subject, "device": "NVIDIA H100", "backend": "nccl", "step_seconds": seconds,
        "tokens_per_second": run.size.tokens / run.size.steps / seconds, "memory_gb": 40.0,
        "micro_batch": 4, "compiled": True, "precision": "bfloat16", "sharding": "node",
        "shardings": {"node": seconds, "all": 1.5 * seconds},
        "differences": {"float32": 1e-5, "bfloat16": 1e-3},
        "reading": {"step_seconds": 0.01, "bytes_per_second": 1e9},
        "evaluation": {"tokens_per_second": 1e5, "minutes": None},
        "checkpoint": {"held_seconds": 2.0, "writing_seconds": 30.0, "bytes": 2e10},
    } | changes  # fmt: skip


def preflight(**changes) -> Preflight:
    """Measurements as expected, but for ``changes`` of models by name."""
    models = preflight_scale(SCALE)["models"]
    found = {name: measurement(name, **changes.get(name, {})) for name in models}
    return Preflight(models, HARDWARE, found)


def test_a_model_on_several_nodes_is_also_measured_on_one_with_its_share_of_the_batch():
    models = preflight_scale(SCALE)["models"]
    assert list(models) == ["30m", "target", "target-one_node"]
    one = RunCost("one", models["target-one_node"], Machine.from_dict(HARDWARE))
    assert (one.devices, one.processes, one.size.batch_size) == (8, 8, 128)
    whole = RunCost("all", models["target"], Machine.from_dict(HARDWARE))
    assert one.size.steps == whole.size.steps
    assert one.hours(0) == pytest.approx(whole.hours(0))


def test_nothing_is_to_change_where_all_is_as_expected():
    found = preflight()
    assert found.changes() == []
    assert found.utilisation("30m") == pytest.approx(0.4)
    assert found.utilisation("target") == pytest.approx(0.4)
    lines = report_lines("made_up", found, "table.json")
    assert "All is well." in lines
    assert any("node (all +50%)" in line for line in lines)
    for name, run in found.expected.items():
        assert found.found[name].hours(0) == pytest.approx(run.hours(0))


@pytest.mark.parametrize(
    ("model", "change", "said"),
    [
        ("30m", {"device": "cpu"}, "30m: torch sees no GPU"),
        ("30m", {"differences": {"float32": 0.1, "bfloat16": 0}}, "float32 are up to 0.1 of"),
        ("30m", {"differences": {"float32": 0, "bfloat16": math.nan}}, "bfloat16 are up to nan"),
        ("30m", {"step_seconds": 1.0}, "30m: 6% of the expected speed"),
        ("target", {"memory_gb": 70.0}, "target: 70 GB of a device are filled"),
        ("target", {"tokens_per_second": 1.0}, "on all nodes a device does 0%"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_plainly(model, change, said):
    assert any(said in line for line in preflight(**{model: change}).changes())


@pytest.mark.parametrize(
    "change",
    [{"device": "cpu"}, {"differences": {"float32": 0.1, "bfloat16": 0}}],
    ids=["no gpu", "wrong"],
)
def test_what_was_measured_of_a_model_that_failed_is_not_used(change):
    found = preflight(target=change)
    assert list(found.table["measured"]) == ["30m", "target-one_node"]
    lines = report_lines("made_up", found, "table.json")
    assert lines[-1] == "Not in it, and trained at your own risk: target."


def test_a_file_system_too_slow_is_said_plainly():
    slow = {"reading": {"step_seconds": 9.0, "bytes_per_second": 1e5}}
    assert any(
        "put the tokenised corpus on a faster" in c for c in preflight(target=slow).changes()
    )
    slow = {"checkpoint": {"held_seconds": 2.0, "writing_seconds": 700.0, "bytes": 2e10}}
    assert any("raise `checkpoint_minutes`, now 20" in c for c in preflight(target=slow).changes())


def test_a_run_longer_than_a_job_is_said_plainly():
    (said,) = [c for c in preflight(target={"step_seconds": 6.0}).changes() if "retries" in c]
    # 61,006 steps of six seconds are 102 hours, in jobs of a day.
    assert "1 run(s) of 102 h are about 5 jobs of 1440 min" in said


def test_the_table_takes_the_place_of_the_assumptions_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert with_measured(SCALE) is SCALE
    found = preflight(target={"step_seconds": 6.0, "evaluation": {"minutes": 3.0}})
    write_json(measured_file("made_up"), found.table)
    scale = with_measured(SCALE)
    run = RunCost("target", scale.model("target"), Machine.from_dict(scale["hardware"]))
    assert run.hours(1) == pytest.approx((6.0 * 61_006 + 3 * 60 / 32) / 3600)
    assert scale["hardware"]["longest_job"] == 1440
    # Where there is no suite yet the assumed minutes stay.
    assert scale["hardware"]["measured"]["30m"]["evaluation_minutes"] == 5
