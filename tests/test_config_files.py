import pytest

from olmix.config_files import check_keys, read_config
from olmix.errors import OlmixError


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_and_json_give_the_same(tmp_path):
    expected = {"a": {"b": [1, 2]}, "dclm:x": 3}
    assert read_config(write(tmp_path, "c.json", '{"a": {"b": [1, 2]}, "dclm:x": 3}')) == expected
    assert read_config(write(tmp_path, "c.yaml", "a: {b: [1, 2]}\ndclm:x: 3\n")) == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.yaml", "web: 1\ncode: 2\nweb: 3\n", "line 3: key 'web' appears twice"),
        ("c.yaml", "a:\n  b: 1\n  b: 2\n", "line 3: key 'b' appears twice"),
        ("c.json", '{"a": {"b": 1, "b": 2}}', "key 'b' appears twice"),
        ("c.yaml", "a: [1, 2\n", "cannot be read"),
        ("c.json", "{", "cannot be read"),
        ("c.yaml", "- 1\n- 2\n", "holds list, expected a mapping"),
        ("c.yaml", "", "holds NoneType, expected a mapping"),
        ("c.yaml", "a: !!python/object/apply:os.getcwd []\n", "cannot be read"),
        ("c.toml", "a = 1\n", "ends in '.toml', expected .json, .yaml or .yml"),
    ],
)
def test_bad_files_are_one_line_with_the_path(tmp_path, name, text, message):
    path = write(tmp_path, name, text)
    with pytest.raises(OlmixError) as error:
        read_config(path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(OlmixError, match="no such file"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(OlmixError, match="cannot be read"):
        read_config(tmp_path / "folder.yaml")


def test_check_keys():
    check_keys({"a": 1}, ("a", "b"), ("a",), where="here")
    with pytest.raises(OlmixError, match="here: unknown key 'c', expected one of a, b"):
        check_keys({"c": 1}, ("a", "b"), where="here")
    with pytest.raises(OlmixError, match="here: key 'b' is missing"):
        check_keys({"a": 1}, ("a", "b"), ("b",), where="here")
