"""What the repository promises about safety, checked on its sources and at its borders."""

import ast
import re

import jsonschema
import numpy as np
import pytest
import yaml

from olmix.config_files import check_name
from olmix.corpus.hub import Hub
from olmix.corpus.sources import read_labels, read_sources
from olmix.corpus.store import folder_name
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.paths import CONFIG, REPOSITORY
from olmix.questions.answer import Answer, QuestionData
from olmix.study.methods import load_methods
from olmix.study.proposals import olmix_base
from olmix.updates.sequence import load_updates

SOURCES = sorted(p for top in ("scripts", "envs") for p in (REPOSITORY / top).rglob("*.py"))
RULES = [REPOSITORY / "Snakefile", *sorted((REPOSITORY / "workflow").rglob("*.smk"))]
SCHEMAS = REPOSITORY / "workflow" / "schemas"

HOSTILE = [
    "a;touch pwned", "$(touch pwned)", "`touch pwned`", "../x", "a/b", "a b", "a'b", 'a"b', "a|b",
    "a&b", "a>b", "a\nb", "a\n", "", ".", "..", ".hidden", "-rf", "{config}", "a*", "é", "a\x00b",
]  # fmt: skip

UNPICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {
    "eval", "exec", "os.system", "os.popen", "torch.load", "torch.hub.load", "pd.read_pickle",
    "pandas.read_pickle", "yaml.unsafe_load", "yaml.full_load", "tempfile.mktemp",
    "subprocess.getoutput", "subprocess.getstatusoutput", "ssl._create_unverified_context",
}  # fmt: skip
SAFE_LOADERS = {"_StrictLoader", "yaml.SafeLoader", "SafeLoader", "yaml.CSafeLoader"}


def unsafe(tree: ast.AST) -> list[str]:
    """Every unsafe import or call of a module, with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{node.lineno}: import of {n}" for n in names if n in UNPICKLERS]
        if isinstance(node, ast.Call):
            problem = _unsafe_call(node)
            found += [f"{node.lineno}: {problem}"] if problem else []
    return found


def _unsafe_call(node: ast.Call) -> str | None:
    name = ast.unparse(node.func)
    options = {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg}
    if name in UNSAFE_CALLS:
        return name
    if name in ("np.load", "numpy.load") and options.get("allow_pickle") != "False":
        return "np.load without allow_pickle=False"
    if name == "yaml.load" and options.get("Loader") not in SAFE_LOADERS:
        return f"yaml.load with {options.get('Loader')}"
    if options.get("shell", "False") != "False":
        return f"{name} with a shell"
    if options.get("trust_remote_code", "False") != "False":
        return f"{name} trusting remote code"
    return f"{name} without verification" if options.get("verify") == "False" else None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_no_source_unpickles_evaluates_or_opens_a_shell(path):
    assert unsafe(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle", "from joblib import load", "eval('1')", "os.system('ls')",
        "torch.load('x')", "np.load('x')", "np.load('x', allow_pickle=True)",
        "yaml.load(t, Loader=yaml.Loader)", "yaml.load(t)", "subprocess.run('ls', shell=True)",
        "pd.read_pickle('x')", "load(n, trust_remote_code=True)", "get(url, verify=False)",
    ],
)  # fmt: skip
def test_the_scan_finds_what_it_looks_for(code):
    assert len(unsafe(ast.parse(code))) == 1


def test_the_scan_lets_safe_calls_pass():
    code = "np.load('x', allow_pickle=False)\nyaml.load(t, Loader=_StrictLoader)\nmodel.eval()"
    assert unsafe(ast.parse(code + "\nsubprocess.run(['ls'])")) == []


def test_no_rule_runs_a_shell():
    """Scripts get names and settings as values: there is nothing to quote."""
    assert RULES
    for path in RULES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^ +(shell|run):", text, re.MULTILINE), path
        assert not re.search(r"\bshell\(|os\.system|subprocess", text), path


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_plain(name):
    with pytest.raises(OlmixError, match="expected letters, digits"):
        check_name(name, "somewhere")


@pytest.mark.parametrize("name", ["a", "add_code", "1m", "olmix-base", "X2"])
def test_plain_names_pass(name):
    assert check_name(name, "somewhere") == name


@pytest.mark.parametrize("name", HOSTILE)
def test_schemas_refuse_hostile_names(name):
    config = yaml.safe_load((SCHEMAS / "config.schema.yaml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"scale": name}, config)
    scale = yaml.safe_load((SCHEMAS / "scale.schema.yaml").read_text())
    content = yaml.safe_load((CONFIG / "scales" / "smoke.yaml").read_text())
    jsonschema.validate(content, scale)
    for hostile in (
        content | {"models": content["models"] | {name: content["models"]["1m"]}},
        content | {"proxy": name},
        content | {"hardware": content["hardware"] | {"device": name}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(hostile, scale)


@pytest.mark.parametrize("path", ["a;b", "$(x)", "a b", "`x`", "-rf", "a\n", "a'b", "{x}", ""])
def test_schemas_refuse_hostile_paths(path):
    scale = yaml.safe_load((SCHEMAS / "scale.schema.yaml").read_text())
    content = yaml.safe_load((CONFIG / "scales" / "smoke.yaml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content | {"updates": path}, scale)


@pytest.mark.parametrize("name", [*HOSTILE, "final", "target", "code-probe", 3])
def test_stages_of_hostile_names_are_refused(tmp_path, name):
    content = {"domains": {"web": 10, "code": 5}, "initial": ["web"]}
    content["updates"] = [{"name": name, "add": ["code"]}]
    path = tmp_path / "updates.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(OlmixError, match="update 1: name"):
        load_updates(path)


def test_methods_of_hostile_names_are_refused(tmp_path):
    good = (CONFIG / "methods" / "olmix_base.yaml").read_text()
    (tmp_path / "a b;c.yaml").write_text(good)
    with pytest.raises(OlmixError, match="expected letters, digits"):
        load_methods(tmp_path)


@pytest.mark.parametrize("dataset", ["../../x", "/etc", "a/b/c", "a b", "a/../b", "http://x/y"])
def test_datasets_that_lead_elsewhere_are_refused(tmp_path, dataset):
    path = tmp_path / "corpora.yaml"
    entry = {"dataset": dataset, "domains": {"web": ["*.jsonl"]}}
    path.write_text(yaml.safe_dump({"sources": {"web": entry}}))
    with pytest.raises(OlmixError, match="expected one like"):
        read_sources(path)


@pytest.mark.parametrize("domain", ["web:a/b", "../x", "a;b $(c)", "web:../../../etc", "a\nb"])
def test_domains_of_hostile_names_stay_in_their_folder(tmp_path, domain):
    try:
        place = (tmp_path / folder_name(domain)).resolve()
    except OlmixError:
        return  # names that start with a dot have no folder at all
    assert place.parent == tmp_path.resolve()
    assert re.fullmatch(r"[A-Za-z0-9._-]+", place.name)


def test_an_address_with_a_password_is_refused_without_repeating_it():
    with pytest.raises(OlmixError) as caught:
        Hub("https://someone:sesame@hub.example")
    assert "hub.example" in str(caught.value)
    assert "sesame" not in str(caught.value)
    assert "someone" not in str(caught.value)


def test_arrays_with_objects_are_not_unpickled(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(OlmixError):
        read_labels(path)


def test_provenance_does_not_keep_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_sesame")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
    inputs = QuestionData("tiny", {"seeds": 1, "target_repeats": 1}, tmp_path, {}, {}, olmix_base())
    Answer(tmp_path, "rq1", inputs).finish({"found": 1})
    assert read_json(tmp_path / "provenance.json")["question"] == "rq1"
    for path in tmp_path.glob("*.json"):
        assert "sesame" not in path.read_text()
