"""The cost report against sums done by hand, and against the paper's counts of runs."""

import json
from dataclasses import replace

import pytest

from olmix.cost.compute import Machine
from olmix.cost.report import StudyCost, cost_lines, finished_runs
from olmix.errors import OlmixError

HARDWARE = {
    "device": "H100", "peak_tflops": 1000, "utilisation": 0.5, "step_seconds": 0.0,
    "evaluation_minutes": 0, "safety": 1, "spare_minutes": 0, "longest_job": 1440,
    "process_mb": 1000, "device_gb": 80, "devices": 64,
}  # fmt: skip
MODELS = {
    "30m": {"shape": "30m", "gpu": 1, "runs_per_job": 4},
    "target": {"shape": "1b", "gpu": 32, "runs_per_job": 1},
}


def swarm(model, runs, after=(), scored=1, pool=False):
    after = list(after)
    return {"model": model, "runs": runs, "scored": scored, "after": after, "pool": pool}


SWARMS = {
    "topics": swarm("30m", 128),
    "around": swarm("30m", 65, ["topics"]),
    "final": swarm("target", 3, ["topics"]),
    "pool-initial": swarm("30m", 10, pool=True),
    "main-target": swarm("target", 1, ["pool-initial"]),
}
QUESTIONS = {
    "rq1": {"swarms": ["final", "topics"], "figures": ["one", "two"], "unasked": True},
    "rq2": {"swarms": ["around", "topics"], "figures": [], "unasked": True},
}
CHAINS = [
    {"group": "main", "strategy": "full", "c": 3, "requested": "relaxed", "seed": seed,
     "counted": 832, "trained": 0, "target": "main-target"}
    for seed in range(3)
]  # fmt: skip


def study(finished=None, devices=64, hardware=HARDWARE):
    return StudyCost(
        MODELS, Machine.from_dict(hardware), devices, SWARMS, QUESTIONS, CHAINS, finished or {}
    )


def rows(cost):
    return {row["question"]: row for row in cost.question_rows()}


def test_runs_tokens_and_flops_are_sums_over_swarms():
    cost = study()
    row = rows(cost)["rq1"]
    assert (row["proxy_runs"], row["target_runs"]) == (128, 3)
    proxy, target = cost.runs["30m"], cost.runs["target"]
    assert row["tokens"] == 128 * proxy.size.tokens + 3 * target.size.tokens
    assert row["flops"] == pytest.approx(128 * proxy.flops + 3 * target.flops)
    assert row["device_hours"] == pytest.approx(row["flops"] / 0.5e15 / 3600)


def test_shared_swarms_count_once_in_the_total():
    found = rows(study())
    assert found["all"]["proxy_runs"] == 128 + 65
    assert found["rq1"]["proxy_runs"] + found["rq2"]["proxy_runs"] == 2 * 128 + 65


def test_hours_are_waves_of_runs_in_the_order_of_the_swarms():
    cost = study()
    proxy, target = cost.runs["30m"].hours(), cost.runs["target"].hours()
    # 128 proxies in two waves of 64; 65 in two; three targets of 32 GPUs in two waves of two.
    assert rows(cost)["rq2"]["hours"] == pytest.approx(4 * proxy)
    assert rows(cost)["rq1"]["hours"] == pytest.approx(2 * proxy + 2 * target)
    assert rows(cost)["all"]["hours"] == pytest.approx(4 * proxy + 2 * target)
    assert study(devices=128).wall_hours(["final"]) == pytest.approx(target)


def test_hours_never_beat_all_devices_at_work():
    for row in study().question_rows():
        assert row["hours"] >= row["device_hours"] / 64 * (1 - 1e-12)


def test_fewer_devices_than_a_run_takes_are_refused():
    with pytest.raises(OlmixError, match="16 devices: one run of model 'target' takes 32"):
        study(devices=16)


def test_done_is_the_share_of_device_hours():
    found = rows(study({"topics": 64}))
    assert found["rq2"]["done"] == pytest.approx(64 / 193)
    assert found["rq1"]["done"] < 0.03  # half of the proxies are little beside three targets
    assert rows(study({"topics": 128, "around": 65}))["rq2"]["done"] == 1


def test_finished_runs_are_those_with_a_record(tmp_path):
    listed = tmp_path / "list_runs" / "topics"
    listed.mkdir(parents=True)
    entries = [
        {"names": ["a"], "folder": "../../runs/x"},
        {"names": ["b", "c"], "folder": "../../runs/y"},
    ]
    (listed / "0.json").write_text(json.dumps(entries))
    assert finished_runs(tmp_path, "topics") == 0
    (tmp_path / "runs" / "y").mkdir(parents=True)
    (tmp_path / "runs" / "y" / "run.json").write_text("{}")
    assert finished_runs(tmp_path, "topics") == 2
    assert finished_runs(tmp_path, "unknown") == 0


def test_report_has_units_totals_and_assumptions():
    text = "\n".join(cost_lines("paper", study()))
    assert "GPU-hours" in text
    assert "hours on 64 GPUs" in text
    assert "832" in text
    assert "2,496 counted; trained are 0, and 10 of the pools" in text
    assert "1000 TFLOP/s peak per GPU, 50% of it reached" in text
    assert "one two" in text


def test_small_studies_are_told_in_minutes():
    text = "\n".join(cost_lines("tiny", study(hardware=HARDWARE | {"peak_tflops": 1e9})))
    assert "GPU-minutes" in text
    assert "GPU-hours" not in text


def test_a_study_that_trains_nothing_says_so():
    assert "were its runs trained" in cost_lines("simulated", study(), trained=False)[0]
    assert "were" not in cost_lines("paper", study())[0]


def test_columns_are_aligned():
    lines = cost_lines("paper", study())
    header = next(line for line in lines if line.startswith("question"))
    row = next(line for line in lines if line.startswith("rq1"))
    for word in ("runs", "GPU-hours", "done"):
        end = header.index(word) + len(word)
        assert row[end - 1] not in " "


def test_what_is_made_only_when_asked_for_is_not_in_the_sum():
    asked = {"unasked": False, "swarms": ["around"], "figures": []}
    first = {"unasked": True, "swarms": ["topics"], "figures": []}
    found = rows(replace(study(), questions={"rq1": first, "ours": asked}))
    assert found["all"]["device_hours"] == found["rq1"]["device_hours"]
    assert found["ours"]["device_hours"] > 0
