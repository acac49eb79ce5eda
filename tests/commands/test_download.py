"""`python -m olmix download`: listing, fetching and verifying against a local server."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from olmix.__main__ import main

DATA = b'{"text": "hello"}\n' * 100
COMMIT = "a" * 40


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format, *args):
        pass

    def do_GET(self):
        self.server.tokens.add(self.headers.get("Authorization"))
        entry = {
            "type": "file",
            "path": "data/x.jsonl",
            "size": len(DATA),
            "oid": "0" * 40,
            "lfs": {"oid": hashlib.sha256(DATA).hexdigest(), "size": len(DATA), "pointerSize": 1},
        }
        listing = json.dumps([entry]).encode()
        answers = {
            "/api/datasets/me/texts/revision/main": json.dumps({"sha": COMMIT}).encode(),
            f"/api/datasets/me/texts/tree/{COMMIT}/data?recursive=true": listing,
            f"/datasets/me/texts/resolve/{COMMIT}/data/x.jsonl": DATA,
        }
        body = answers.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"")


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.tokens = set()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def arguments(tmp_path, server):
    (tmp_path / "c.yaml").write_text(
        "sources:\n"
        "  texts: {dataset: me/texts, domains: {x: [data/*.jsonl]}}\n"
        "  mine: {paths: [somewhere/*.txt]}\n"
        "  lost: {unavailable: nobody has it}\n"
    )
    endpoint = f"http://127.0.0.1:{server.server_port}"
    return [
        *("download", "--corpora", f"{tmp_path}/c.yaml", "--to", f"{tmp_path}/dl"),
        *("--endpoint", endpoint),
    ]


def test_list_fetch_verify(tmp_path, arguments, capsys):
    local = tmp_path / "dl/me/texts/data/x.jsonl"
    assert main([*arguments, "--list"]) == 0
    assert capsys.readouterr().out == "texts: 1 files, 0.00 GB from me/texts@aaaaaaaaaaaa\n"
    assert not local.exists()
    assert main(arguments) == 0
    assert local.read_bytes() == DATA
    capsys.readouterr()
    assert main([*arguments, "--verify"]) == 0
    assert capsys.readouterr().out == "1 of 1 files are as they were fetched\n"
    local.write_bytes(DATA[:-1] + b" ")
    assert main([*arguments, "--verify"]) == 1
    assert "me/texts/data/x.jsonl: its SHA-256 is another" in capsys.readouterr().out


def test_token_comes_from_the_environment_and_is_not_shown(arguments, server, capsys, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_hidden")
    assert main(arguments) == 0
    assert server.tokens == {"Bearer hf_hidden"}
    output = capsys.readouterr()
    assert "hf_hidden" not in output.out + output.err


def test_endpoint_from_the_environment(tmp_path, arguments, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", arguments[-1])
    assert main([*arguments[:-2], "--list"]) == 0


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--source", "lost"], "'lost' cannot be downloaded: nobody has it"),
        (["--source", "mine"], "'mine' is read from its 'paths'"),
        (["--source", "none"], "no source 'none'"),
        (["--connections", "0"], "--connections 0: expected at least 1"),
        (["--max-files", "0"], "--max-files 0: expected at least 1"),
        (["--endpoint", "nowhere"], "endpoint 'nowhere'"),
        (["--verify"], "nothing was downloaded here"),
    ],
)
def test_bad_inputs(arguments, capsys, extra, message):
    assert main([*arguments, *extra]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert message in errors[0]
