import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.tables import (
    SwarmTable,
    average_columns,
    metric_columns,
    read_swarm,
    scale_metrics,
    write_table,
)

RATIOS = "run,name,index,web,code\nr0,n0,0,0.25,0.75\nr1,n1,1,0.5,0.5\n"
METRICS = "run,name,index,arc:rc,lambada\nr0,n0,0,1.5,2.5\nr1,n1,1,1.25,2.25\n"


@pytest.fixture
def read(tmp_path):
    def read(ratios=RATIOS, metrics=METRICS):
        (tmp_path / "ratios.csv").write_text(ratios, encoding="utf-8")
        (tmp_path / "metrics.csv").write_text(metrics, encoding="utf-8")
        return read_swarm(tmp_path / "ratios.csv", tmp_path / "metrics.csv")

    return read


def test_reads_what_is_there(read):
    swarm = read()
    assert swarm.runs == ("r0", "r1")
    assert swarm.domains == ("web", "code")
    assert swarm.tasks == ("arc:rc", "lambada")
    np.testing.assert_array_equal(swarm.mixes, [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_array_equal(swarm.metrics, [[1.5, 2.5], [1.25, 2.25]])
    assert swarm.notes == ()
    assert len(swarm) == 2


def test_an_unnamed_index_column_is_ignored_and_noted(read):
    unnamed = ",run,name,index,web,code\n0,r0,n0,0,0.25,0.75\n1,r1,n1,1,0.5,0.5\n"
    swarm = read(ratios=unnamed)
    assert swarm.domains == ("web", "code")
    assert swarm.notes == ("ratios.csv: unnamed index column ignored",)


def test_rounded_ratios_are_renormalised_and_noted(read):
    swarm = read(ratios="run,web,code,wiki\nr0,0.333,0.333,0.333\nr1,0.5,0.25,0.25\n")
    np.testing.assert_allclose(swarm.mixes[0], 1 / 3)
    np.testing.assert_allclose(swarm.mixes.sum(1), 1.0, atol=1e-15)
    assert swarm.notes == ("ratios.csv: 1 mixes renormalised (rounded weights)",)


def test_runs_in_one_file_only_are_left_out_and_noted(read):
    swarm = read(metrics=METRICS.replace("r0,n0", "other,n0"))
    assert swarm.runs == ("r1",)
    np.testing.assert_array_equal(swarm.metrics, [[1.25, 2.25]])
    assert swarm.notes == (
        "ratios.csv: 1 runs left out, only there: r0",
        "metrics.csv: 1 runs left out, only there: other",
    )


def test_rows_are_joined_by_run_not_by_position(read):
    lines = METRICS.splitlines()
    swarm = read(metrics="\n".join([lines[0], lines[2], lines[1]]) + "\n")
    assert swarm.runs == ("r0", "r1")
    np.testing.assert_array_equal(swarm.metrics, [[1.5, 2.5], [1.25, 2.25]])


def test_task_names_may_be_odd(read):
    names = ["a:b::c", "with space", "x/y", "ü", "a,b"]
    header = "run," + ",".join(f'"{name}"' for name in names)
    swarm = read(metrics=f"{header}\nr0,1,2,3,4,5\nr1,1,2,3,4,6\n")
    assert swarm.tasks == tuple(names)
    assert swarm.select_tasks(["a,b"]).metrics.tolist() == [[5.0], [6.0]]


def test_run_names_stay_text(read):
    ratios = RATIOS.replace("r0", "007").replace("r1", "NA")
    swarm = read(ratios=ratios, metrics=METRICS.replace("r0", "007").replace("r1", "NA"))
    assert swarm.runs == ("007", "NA")


def test_a_byte_order_mark_is_no_part_of_the_header(read):
    assert read(ratios="\ufeff" + RATIOS).domains == ("web", "code")


@pytest.mark.parametrize(
    ("ratios", "message"),
    [
        ("", r"ratios\.csv: not a CSV table"),
        ("run,web,code\n", r"ratios\.csv: no runs"),
        ("model,web\nr0,1\n", r"share no column that names their runs .*found model, web and run"),
        ("name,web\nr0,1\n", r"have no run in common \(by column 'name'"),
        ("web\n1\n", r"not a CSV table \(its first line has one column: 'web'\)"),
        ("run,name,index\nr0,n0,0\n", r"no columns besides run, name, index"),
        (RATIOS.replace("r1", "r0"), r"run 'r0' appears again on line 3"),
        (RATIOS.replace("r1", ""), r"line 3 has no run"),
        (RATIOS.replace("code", "web"), r"column 'web' appears more than once"),
        (RATIOS[:-5], r"line 3 has 4 values, expected the header's 5"),
        (RATIOS.replace("0.25,0.75", "0.25,0.75,9"), r"line 2 has 6 values"),
        (RATIOS.replace("0.25", "nan"), r"line 2, column 'web': 'nan'.*\(run 'r0'\)"),
        (RATIOS.replace("0.25", ""), r"line 2, column 'web': '' is not a finite number"),
        (RATIOS.replace("0.25", "oops"), r"line 2, column 'web': 'oops'"),
        (RATIOS.replace("0.25", "inf"), r"line 2, column 'web': 'inf'"),
        (RATIOS.replace("0.25,0.75", "-0.25,1.25"), r"run 'r0' has weight -0\.25 on 'web'"),
        (RATIOS.replace("0.25,0.75", "0.25,0.7"), r"weights of run 'r0' sum to 0\.95"),
        (RATIOS.replace("0.25,0.75", "25,75"), r"sum to 100"),
        ("run,web\nz,1\n", r"have no run in common"),
    ],
)
def test_what_cannot_be_repaired_is_refused_with_its_place(read, ratios, message):
    with pytest.raises(OlmixError, match=message) as error:
        read(ratios=ratios)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["nan", "", "n/a", "-inf"])
def test_a_bad_metric_names_file_line_and_column(read, value):
    with pytest.raises(OlmixError, match=r"metrics\.csv: line 3, column 'lambada'"):
        read(metrics=METRICS.replace("2.25", value))


def test_a_missing_file(tmp_path):
    with pytest.raises(OlmixError, match=r"none\.csv: no such file"):
        read_swarm(tmp_path / "none.csv", tmp_path / "none.csv")


def test_write_then_read_is_exact(tmp_path):
    rng = np.random.default_rng(0)
    mixes, metrics = rng.dirichlet(np.ones(3), size=5), rng.random((5, 2))
    runs = [f"r{k}" for k in range(5)]
    write_table(tmp_path / "ratios.csv", runs, ("a", "b:c", "d e"), mixes)
    write_table(tmp_path / "metrics.csv", runs, ("t", "u"), metrics)
    swarm = read_swarm(tmp_path / "ratios.csv", tmp_path / "metrics.csv")
    np.testing.assert_allclose(swarm.mixes, mixes, atol=1e-16)
    np.testing.assert_array_equal(swarm.metrics, metrics)
    assert swarm.domains == ("a", "b:c", "d e")
    header = (tmp_path / "ratios.csv").read_text().splitlines()[0]
    assert header == "run,name,index,a,b:c,d e"


TABLE = SwarmTable(
    ("r0", "r1", "r2"),
    ("a", "b"),
    np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
    ("x", "y", "z"),
    np.arange(9.0).reshape(3, 3),
)


def test_rows_and_tasks_in_the_order_given():
    assert TABLE.rows([2, 0]).runs == ("r2", "r0")
    assert TABLE.rows([2, 0]).metrics.tolist() == [[6, 7, 8], [0, 1, 2]]
    assert len(TABLE.rows([])) == 0
    assert TABLE.select_tasks(["z", "x"]).metrics[0].tolist() == [2, 0]
    assert TABLE.drop_tasks(["y"]).tasks == ("x", "z")
    with pytest.raises(OlmixError, match="no task 'w'"):
        TABLE.drop_tasks(["w"])


def test_average_columns_by_hand():
    averaged = average_columns(TABLE, "xy", {"x": 1.0, "y": 3.0})
    assert averaged.tasks == ("z", "xy")
    assert averaged.metrics[:, 1].tolist() == [0.75, 3.75, 6.75]
    with pytest.raises(OlmixError, match="'z' exists already"):
        average_columns(TABLE, "z", {"x": 1.0, "y": 1.0})


def test_a_split_is_a_partition_by_seed():
    train, test = TABLE.split(1, seed=4)
    assert sorted(train.runs + test.runs) == ["r0", "r1", "r2"]
    assert (len(train), len(test)) == (2, 1)
    assert TABLE.split(1, seed=4)[1].runs == test.runs
    assert len({TABLE.split(1, seed=seed)[1].runs for seed in range(20)}) == 3
    for wrong in (0, 3, -1):
        with pytest.raises(OlmixError, match="held-out runs"):
            TABLE.split(wrong, seed=0)


def test_a_split_keeps_runs_of_a_mix_together():
    mixes = np.tile(np.eye(5), (2, 1))
    runs = tuple(map(str, range(10)))
    table = SwarmTable(runs, tuple("abcde"), mixes, ("t",), np.arange(10.0)[:, None])
    for seed in range(5):
        train, test = table.split(4, seed=seed)
        assert not (train.mixes.sum(0) * test.mixes.sum(0)).any()


# Swarms of other groups: whatever names the runs, separates the columns or sums to a whole.


@pytest.mark.parametrize("key", ["index", "name", "run_id", "Index", ""])
def test_runs_are_joined_on_what_names_them(read, key):
    swarm = read(
        ratios=f"{key},web,code\n0,0.25,0.75\n1,0.5,0.5\n",
        metrics=f"{key},loss\n1,2.0\n0,3.0\n",
    )
    assert swarm.metrics.ravel().tolist() == [3.0, 2.0]
    assert swarm.domains == ("web", "code")
    called = f"column '{key}'" if key else "unnamed first column"
    assert f"runs joined on the {called}" in swarm.notes


def test_a_name_all_runs_share_tells_nothing(read):
    swarm = read(
        ratios="name,index,web,code\nsweep,0,0.25,0.75\nsweep,1,0.5,0.5\n",
        metrics="name,index,loss\nsweep,1,2.0\nsweep,0,3.0\n",
    )
    assert swarm.runs == ("0", "1")
    assert swarm.metrics.ravel().tolist() == [3.0, 2.0]


def test_an_index_saved_as_a_float_is_the_same_index(read):
    swarm = read(
        ratios="index,web,code\n0,0.25,0.75\n1,0.5,0.5\n", metrics="index,loss\n0.0,3\n1.0,2\n"
    )
    assert swarm.runs == ("0", "1")


def test_the_run_column_may_be_named(tmp_path):
    (tmp_path / "r.csv").write_text("seed,web,code\n7,0.25,0.75\n8,0.5,0.5\n")
    (tmp_path / "m.csv").write_text("seed,loss\n8,2\n7,3\n")
    swarm = read_swarm(tmp_path / "r.csv", tmp_path / "m.csv", run_column="seed")
    assert swarm.runs == ("7", "8")
    assert swarm.domains == ("web", "code")
    with pytest.raises(OlmixError, match=r"r\.csv: no column 'mix', found seed, web, code"):
        read_swarm(tmp_path / "r.csv", tmp_path / "m.csv", run_column="mix")


@pytest.mark.parametrize(("separator", "called"), [("\t", "tabs"), (";", "semicolons")])
def test_other_separators(read, separator, called):
    swarm = read(ratios=RATIOS.replace(",", separator), metrics=METRICS)
    np.testing.assert_array_equal(swarm.mixes, [[0.25, 0.75], [0.5, 0.5]])
    assert swarm.notes == (f"ratios.csv: columns are separated by {called}",)


def test_a_separator_inside_names_does_not_mislead(read):
    swarm = read(metrics="run\ta, b\tc\nr0\t1\t2\nr1\t3\t4\n")
    assert swarm.tasks == ("a, b", "c")


def test_decimal_commas_are_refused_with_a_hint(read):
    with pytest.raises(OlmixError, match=r"'0,25' is not a finite number.*with a point"):
        read(ratios="run;web;code\nr0;0,25;0.75\nr1;0.5;0.5\n")


def test_percent_is_told_from_shares(read):
    swarm = read(ratios="run,web,code\nr0,25,75\nr1,50.1,49.8\n")
    np.testing.assert_allclose(swarm.mixes, [[0.25, 0.75], [0.501 / 0.999, 0.498 / 0.999]])
    assert "ratios.csv: weights are in percent" in swarm.notes


def test_three_decimals_of_many_domains(read):
    """40 weights that are each half a thousandth too large sum to 1.02."""
    names = ",".join(f"d{j}" for j in range(40))
    row = ",".join(["0.0255"] * 40)
    swarm = read(ratios=f"run,{names}\nr0,{row}\nr1,{row}\n")
    np.testing.assert_allclose(swarm.mixes, 1 / 40)


def test_columns_of_text_are_left_out_and_noted(read):
    swarm = read(
        ratios="run,model,web,code\nr0,1M,0.25,0.75\nr1,1M,0.5,0.5\n",
        metrics="run,arc,url,lambada\nr0,1.5,http://x/0,2.5\nr1,1.25,http://x/1,2.25\n",
    )
    assert swarm.domains == ("web", "code")
    assert swarm.tasks == ("arc", "lambada")
    assert "ratios.csv: text columns ignored: model" in swarm.notes
    assert "metrics.csv: text columns ignored: url" in swarm.notes


def test_numbers_that_are_no_domain_can_be_ignored(tmp_path):
    (tmp_path / "r.csv").write_text("run,seed,web,code\nr0,1,0.25,0.75\nr1,2,0.5,0.5\n")
    (tmp_path / "m.csv").write_text("run,seed,loss\nr0,1,2\nr1,2,3\n")
    with pytest.raises(OlmixError, match="sum to 2"):
        read_swarm(tmp_path / "r.csv", tmp_path / "m.csv")
    swarm = read_swarm(tmp_path / "r.csv", tmp_path / "m.csv", ignore=["seed"])
    assert (swarm.domains, swarm.tasks) == (("web", "code"), ("loss",))


@pytest.mark.parametrize("value", ["nan", "", "null", "inf"])
def test_missing_values_by_policy(tmp_path, value):
    (tmp_path / "r.csv").write_text(RATIOS)
    (tmp_path / "m.csv").write_text(METRICS.replace("2.25", value))
    paths = (tmp_path / "r.csv", tmp_path / "m.csv")
    without_run = read_swarm(*paths, missing="drop-runs")
    assert without_run.runs == ("r0",)
    assert "m.csv: 1 runs left out, values missing: r1" in without_run.notes
    without_task = read_swarm(*paths, missing="drop-tasks")
    assert (without_task.runs, without_task.tasks) == (("r0", "r1"), ("arc:rc",))
    assert read_swarm(*paths, skip=lambda task: task == "lambada").tasks == ("arc:rc",)
    with pytest.raises(OlmixError, match="expected one of refuse"):
        read_swarm(*paths, missing="guess")


def test_all_values_missing(tmp_path):
    (tmp_path / "r.csv").write_text(RATIOS)
    (tmp_path / "m.csv").write_text("run,loss,acc\nr0,,1\nr1,,2\n")
    with pytest.raises(OlmixError, match="none of the 2 runs has all its values"):
        read_swarm(tmp_path / "r.csv", tmp_path / "m.csv", missing="drop-runs")


def test_a_file_without_a_last_line_end_is_noted(read):
    assert any("may be truncated" in note for note in read(metrics=METRICS[:-1]).notes)


def test_ambiguous_separators_are_refused(read):
    with pytest.raises(OlmixError, match="commas or semicolons"):
        read(ratios="run,x;web\nr0,1;1\nr1,1;1\n")


def test_scaled_metrics_have_median_one():
    scaled = scale_metrics(TABLE)
    np.testing.assert_allclose(np.median(scaled.metrics, axis=0), 1.0)
    assert scaled.notes == ("every metric divided by its median over the runs",)


def test_metric_columns_without_reading_values(tmp_path):
    (tmp_path / "m.csv").write_text(",run,name,index,a/b,c d\n0,r,n,0,x,y\n")
    assert metric_columns(tmp_path / "m.csv") == ["a/b", "c d"]
