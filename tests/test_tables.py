import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.tables import SwarmTable, average_columns, read_swarm, write_table

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
        ("name,web\nr0,1\n", r"no column 'run', found name, web"),
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
