"""Places that cannot be written are refused in one line, before any work is done."""

import pytest

from olmix.commands.outputs import output_file, output_folder
from olmix.errors import OlmixError

# What each command is asked to do: never begun, so none of the files it names need be there.
ASKED = {
    "fit": ["--ratios", "r.csv", "--metrics", "m.csv", "--out"],
    "reuse": ["--from", "a.json", "--to", "b.json", "--mix", "m.json", "--out"],
    "simulate": ["--out"],
    "world": ["--out"],
    "tokenize": ["--tokenizer", "t.json", "--domain", "a=*.txt", "--out"],
    "train": ["--corpus", "corpus", "--out"],
    "evaluate": ["--run", "r", "--suite", "s", "--tokenizer", "t.json", "--out"],
    "export": ["--weights", "w.safetensors", "--out"],
    "download": ["--to"],
    "tasks": ["--prepare"],
}


@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("place", ["{file}/out", "{file}/deeper/out", "/proc/no/such/place"])
def test_every_command_refuses_it(refused, command, place, tmp_path):
    (tmp_path / "file").touch()
    place = place.format(file=tmp_path / "file")
    assert f"{place}: cannot be written (" in refused(command, *ASKED[command], place)


def test_a_new_place_is_accepted_and_nothing_is_left_there(tmp_path):
    assert output_folder(str(tmp_path / "a" / "b")) == tmp_path / "a" / "b"
    assert output_file(str(tmp_path / "c.json")) == tmp_path / "c.json"
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_and_a_folder_no_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OlmixError, match="is a file, expected a folder"):
        output_folder(str(tmp_path / "file"))
    with pytest.raises(OlmixError, match="is a folder, expected a file"):
        output_file(str(tmp_path))


def test_what_the_system_refuses_later_is_one_line_too(refused, monkeypatch, tmp_path):
    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("olmix.commands.simulate.write_table", full_disk)
    line = refused("simulate", "--source", "stack-edu", "--runs", 5, "--out", tmp_path / "out")
    assert line == "error: No space left on device\n"
