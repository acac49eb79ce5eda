"""Progress from files: counts, the best run, time left by work, and when a line is told."""

import json
import os
import time

import pytest

from olmix.errors import OlmixError
from olmix.provenance.progress import (
    PROXIES,
    TARGETS,
    Progress,
    Training,
    Watch,
    closing_lines,
    newest_plan,
    write_plan,
)

HOUR = 3600.0


class Study:
    """Two swarms on disk: four proxies in two jobs, one target of five times the work."""

    def __init__(self, root):
        self.root = root
        self.plan = root / "tiny" / "progress.json"
        lists = root / "tiny" / "list_runs"
        write_plan(
            self.plan,
            [
                Training("topics", PROXIES, (f"{lists}/topics/0.json", f"{lists}/topics/1.json"),
                         4, 1.0),
                Training("rq7-target", TARGETS, (f"{lists}/rq7-target/0.json",), 2, 5.0),
            ],
        )  # fmt: skip
        self.started = json.loads(self.plan.read_text())["started"]

    def list_runs(self, swarm, shard, runs):
        path = self.root / "tiny" / "list_runs" / swarm / f"{shard}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = [{"folder": f"../../runs/{names[0]}", "names": list(names)} for names in runs]
        path.write_text(json.dumps(entries))

    def finish(self, run, after, average=None):
        folder = self.root / "tiny" / "runs" / run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text("{}")
        os.utime(folder / "run.json", (self.started + after,) * 2)
        if average is not None:
            (folder / "eval.json").write_text(json.dumps({"average": average}))


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)


def test_counts_and_best_as_runs_finish(study):
    progress = Progress(study.plan)
    progress.look()
    assert progress.line() == "proxies 0/4 · targets 0/2"
    study.list_runs("topics", 0, [["topics-0000"], ["topics-0017"]])
    study.finish("topics-0000", 10, 1.5)
    progress.look()
    assert progress.line() == "proxies 1/4 · targets 0/2 · best so far 1.500 BPB (topics, run 0)"
    study.finish("topics-0017", 20)  # trained, but not scored yet
    progress.look()
    assert progress.line().startswith("proxies 2/4")
    assert "1.500 BPB" in progress.line()
    study.finish("topics-0017", 20, 1.25)
    progress.look()
    assert "best so far 1.250 BPB (topics, run 17)" in progress.line()


def test_a_run_with_two_names_counts_for_both_and_named_runs_keep_their_names(study):
    study.list_runs("rq7-target", 0, [["exact", "kl-0.05"]])
    study.finish("exact", 10, 0.9)
    progress = Progress(study.plan)
    progress.look()
    assert (
        progress.line() == "proxies 0/4 · targets 2/2 · best so far 0.900 BPB (rq7-target, exact)"
    )


def test_time_left_is_by_work_since_the_first_finished_run(study):
    study.list_runs("topics", 0, [["topics-0000"], ["topics-0001"]])
    study.list_runs("topics", 1, [["topics-0002"], ["topics-0003"]])
    study.finish("topics-0000", 2 * HOUR)  # two hours in the queue do not count
    study.finish("topics-0001", 2 * HOUR + 600)
    progress = Progress(study.plan)
    progress.look()
    assert progress.seconds_left(study.started + 2 * HOUR + 1200) is None  # two are too few
    study.finish("topics-0002", 2 * HOUR + 1200)
    progress.look()
    now = study.started + 2 * HOUR + 1200
    # Two units in 1200 s; one proxy and two targets of five units are left.
    assert progress.seconds_left(now) == pytest.approx(11 * 600, rel=1e-6)
    assert "about 1.8 h left" in progress.line(now)


def test_a_list_that_is_to_be_written_again_is_not_read(study):
    study.list_runs("topics", 0, [["topics-0000"]])
    study.finish("topics-0000", 1)
    path = study.root / "tiny" / "list_runs" / "topics" / "0.json"
    os.utime(path, (study.started - 5,) * 2)
    progress = Progress(study.plan)
    progress.look()
    assert progress.done[PROXIES] == 0
    plan = json.loads(study.plan.read_text())
    plan["swarms"][0]["listed"] = True
    study.plan.write_text(json.dumps(plan))
    progress = Progress(study.plan)
    progress.look()
    assert progress.done[PROXIES] == 1


def test_runs_of_an_earlier_time_count_as_done_but_not_for_the_rate(study):
    study.list_runs("topics", 0, [["topics-0000"], ["topics-0001"]])
    for number, run in enumerate(("topics-0000", "topics-0001")):
        study.finish(run, -HOUR + number)
    progress = Progress(study.plan)
    progress.look()
    assert progress.done[PROXIES] == 2
    assert progress.seconds_left(study.started + 60) is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1, "5 s"), (42, "40 s"), (840, "14 min"), (2 * HOUR, "2.0 h"), (72 * HOUR, "3.0 days")],
)
def test_time_in_words(study, monkeypatch, seconds, said):
    progress = Progress(study.plan)
    monkeypatch.setattr(Progress, "seconds_left", lambda *_: seconds)
    assert f"about {said} left" in progress.line()


def test_a_watch_tells_only_news_and_ends_the_plan(study, monkeypatch):
    monkeypatch.setattr(Watch, "SHORTEST", 0.01)
    study.list_runs("topics", 0, [["topics-0000"], ["topics-0001"]])
    study.finish("topics-0000", 1)
    told = []
    watch = Watch(study.plan, told.append)
    watch.start()
    time.sleep(0.1)
    assert told == []  # nothing since the start
    study.finish("topics-0001", 2, 1.5)
    deadline = time.monotonic() + 5
    while not told and time.monotonic() < deadline:
        time.sleep(0.01)
    study.list_runs("topics", 1, [["topics-0002"], ["topics-0003"]])
    study.finish("topics-0003", 3)
    watch.stop()
    assert [line.split(" · ")[0] for line in told] == ["proxies 2/4", "proxies 3/4"]
    assert Progress(study.plan).ended is not None
    assert not watch._thread.is_alive()


def test_the_plan_of_the_last_start_is_found(study, tmp_path):
    assert newest_plan(tmp_path) == study.plan
    with pytest.raises(OlmixError, match="nothing is being trained"):
        newest_plan(tmp_path / "tiny")


def test_a_file_that_is_no_plan_is_refused(tmp_path):
    (tmp_path / "progress.json").write_text("{}")
    with pytest.raises(OlmixError, match="expected a plan"):
        Progress(tmp_path / "progress.json")


def test_at_the_end_it_says_what_was_made_where_to_look_and_what_is_open(tmp_path):
    board = tmp_path / "claims.csv"
    board.write_text("id,verdict\nC01,not decidable\nC02,reproduced\nC03,not decidable\n")
    made = [f"results/rq{n}" for n in range(1, 7)] + ["figures/solvers.pdf", str(board)]
    first, following, left = closing_lines(made, 485.0, board)
    assert first == f"Made in 8 min: {', '.join(made[:6])} and 2 more."
    assert "look at figures/solvers.pdf" in following
    assert "Open: 2 of 3 claims are not decided (C01, C03)" in left
    assert closing_lines(made[:1], 20.0, board)[0] == "Made in 20 s: results/rq1."
    assert "`snakemake claims` judges them" in closing_lines(made[:7], 20.0, board)[2]
    assert len(closing_lines(made[:7], 20.0, None)) == 2, "one's own text: no claim is open"
    board.write_text("id,verdict\nC01,reproduced\nC02,not measured here\n")
    assert "none of 2 claims" in closing_lines(made, 485.0, board)[2]
    assert closing_lines([], 20.0, board) == []
