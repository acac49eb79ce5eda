"""Fetching the release from a local server that answers like the hub."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from olmix.corpus.hub import Hub
from olmix.errors import OlmixError
from olmix.published.fetch import fetch_released, list_released

COMMIT = "a" * 40
DATASET = "some/release"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format, *args):
        pass

    def do_GET(self):
        files = self.server.files
        self.server.asked.append((self.path, self.headers.get("Range")))
        if self.path.endswith("/revision/main"):
            self.answer(json.dumps({"sha": COMMIT}).encode())
        elif "/tree/" in self.path:
            self.answer(json.dumps([self.entry(path) for path in files]).encode())
        else:
            data = files[self.path.split(f"/resolve/{COMMIT}/")[1]]
            start = int((self.headers.get("Range") or "bytes=0-").split("=")[1].rstrip("-"))
            if self.server.drops:
                self.answer(data[start:], 206 if start else 200, sent=self.server.drops.pop())
            else:
                self.answer(data[start:], 206 if start else 200)

    def entry(self, path):
        data = self.server.files[path]
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        return {"type": "file", "path": path, "size": len(data), "oid": blob}

    def answer(self, body, status=200, sent=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:sent])


@pytest.fixture
def server(make_release, tmp_path):
    release = make_release(tmp_path / "release", runs=6, only=("dclm", "update5"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files = {
        str(path.relative_to(release.folder)): path.read_bytes()
        for path in sorted(release.folder.rglob("*"))
        if path.is_file()
    } | {"README.md": b"hello"}
    server.asked, server.drops = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hub(server):
    return Hub(f"http://127.0.0.1:{server.server_port}", retries=2, pause_seconds=0.01)


def test_every_swarm_arrives_and_is_remembered(server, hub, tmp_path):
    root = fetch_released(DATASET, "main", tmp_path / "down", hub)
    assert root == tmp_path / "down" / DATASET
    files = list_released(root)
    assert len(files) == 6
    for path, digest in files.items():
        assert digest == hashlib.sha256(server.files[path]).hexdigest()
    lock = json.loads((tmp_path / "down" / "checksums.json").read_text())
    assert lock[DATASET]["commit"] == COMMIT
    assert {p: entry["sha256"] for p, entry in lock[DATASET]["files"].items()} == files
    # A second fetch asks for no file again.
    before = len([path for path, _ in server.asked if "/resolve/" in path])
    fetch_released(DATASET, "main", tmp_path / "down", hub)
    assert len([path for path, _ in server.asked if "/resolve/" in path]) == before


def test_a_dropped_line_is_continued(server, hub, tmp_path):
    server.drops = [100]
    fetch_released(DATASET, "main", tmp_path / "down", hub)
    assert any(wanted == "bytes=100-" for _, wanted in server.asked)


def test_a_changed_file_is_refused(server, hub, tmp_path):
    root = fetch_released(DATASET, "main", tmp_path / "down", hub)
    path = root / "dclm_swarm" / "metrics.csv"
    path.write_text(path.read_text().replace("1", "2", 1))
    with pytest.raises(OlmixError, match=r"metrics\.csv: its SHA-256 is another \(1 such\)"):
        fetch_released(DATASET, "main", tmp_path / "down", hub)


def test_no_such_folder(tmp_path):
    with pytest.raises(OlmixError, match="no folder"):
        list_released(tmp_path / "none")
