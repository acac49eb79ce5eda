"""Downloads against a local server that answers like the hub, with faults on demand."""

import errno
import hashlib
import json
import logging
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from olmix.corpus import download as module
from olmix.corpus import hub as hub_module
from olmix.corpus.download import download, plan_download, verify_downloads
from olmix.corpus.hub import Hub
from olmix.corpus.sources import TextSource
from olmix.errors import OlmixError

COMMIT = "c" * 40
SECRET = "hf_secret_token"


class FakeHub:
    """Files of dataset some/data, and what is to go wrong with them."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.files = {
            "data/a/1.jsonl.zst": rng.bytes(300_000),
            "data/a/2.jsonl.zst": rng.bytes(5_000),
            "data/b/1.jsonl.zst": rng.bytes(7_000),
            "data/b/deep/2.jsonl.zst": rng.bytes(10),
            "documents/s0.jsonl": b'{"text": "x"}\n',
            "topics/s0__choice.npy": b"labels of s0",
            "documents/s1.jsonl": b"",
            "topics/s1__choice.npy": b"labels of s1",
            "README.md": b"hello\n",
        }
        self.large = {path for path in self.files if path.endswith(".zst")}
        self.commit = COMMIT
        self.requests: list[tuple[str, str | None]] = []  # path, Range
        self.drop_after: dict[str, list[int]] = {}  # bytes sent before each drop of the line
        self.corrupt: dict[str, int] = {}  # how many times a file arrives altered
        self.ignore_range = False
        self.status: list[int] = []  # answers to give first
        self.redirect_to: str | None = None
        self.gated = False
        self.tokens_seen: list[str | None] = []

    def entry(self, path):
        data = self.files[path]
        sha1 = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        entry = {"type": "file", "path": path, "size": len(data), "oid": sha1}
        if path in self.large:
            oid = hashlib.sha256(data).hexdigest()
            entry["lfs"] = {"oid": oid, "size": len(data), "pointerSize": 130}
        return entry


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> FakeHub:
        return self.server.hub

    def log_message(self, format, *args):
        pass

    def send(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.hub.requests.append((url.path, self.headers.get("Range")))
        self.hub.tokens_seen.append(self.headers.get("Authorization"))
        if self.hub.status:
            status, headers = self.hub.status.pop(0), {}
            if isinstance(status, tuple):
                status, headers = status
            self.send(status, **headers)
        elif self.hub.gated and self.headers.get("Authorization") != f"Bearer {SECRET}":
            self.send(401)
        elif url.path == "/api/datasets/some/data/revision/main":
            self.send(200, json.dumps({"sha": self.hub.commit}).encode())
        elif url.path.startswith("/api/datasets/some/data/tree/"):
            self.tree(url)
        elif "/resolve/" in url.path:
            self.file(url.path.split("/resolve/")[1].split("/", 1)[1])
        else:
            self.send(404)

    def tree(self, url):
        folder = url.path.split("/tree/")[1].partition("/")[2]
        paths = sorted(p for p in self.hub.files if p.startswith(f"{folder}/" if folder else ""))
        if not paths:
            self.send(404)
            return
        cursor = int(urllib.parse.parse_qs(url.query).get("cursor", ["0"])[0])
        page = [self.hub.entry(path) for path in paths[cursor : cursor + 2]]
        page.append({"type": "directory", "path": "data/a", "size": 0, "oid": "0"})
        link = {}
        if cursor + 2 < len(paths):
            link["Link"] = f'<{url.path}?recursive=true&cursor={cursor + 2}>; rel="next"'
        self.send(200, json.dumps(page).encode(), **link)

    def file(self, path):
        path = urllib.parse.unquote(path)
        if self.hub.redirect_to:
            self.send(302, Location=f"{self.hub.redirect_to}{self.path}")
            return
        data = self.hub.files[path]
        if self.hub.corrupt.get(path, 0) > 0:
            self.hub.corrupt[path] -= 1
            data = data[:-1] + bytes([data[-1] ^ 1])
        start = 0
        if self.headers.get("Range") and not self.hub.ignore_range:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.send(416)
                return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        drops = self.hub.drop_after.get(path)
        if drops:
            self.wfile.write(data[start : start + drops.pop(0)])
            self.close_connection = True
            return
        self.wfile.write(data[start:])


def serve(hub):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.hub = hub
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    return server


@pytest.fixture
def fake():
    hub = FakeHub()
    server = serve(hub)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    yield hub
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(fake):
    return Hub(fake.url, retries=3, pause_seconds=0.001)


SOURCE = TextSource(
    "mine",
    {"a": ("data/a/*.jsonl.zst",), "b": ("data/b/**/*.zst",)},
    dataset="some/data",
    local=False,
)


def one_file(path: str) -> TextSource:
    return TextSource("mine", {"a": (path,)}, dataset="some/data", local=False)


def file_requests(fake):
    return [(path.split("/resolve/")[1], r) for path, r in fake.requests if "/resolve/" in path]


def fetch(source, to, client, **options):
    download(plan_download(source, to, client), to, client, **options)


def test_plan_lists_all_pages_and_matches_folder_by_folder(tmp_path, client):
    plan = plan_download(SOURCE, tmp_path, client)
    assert [file.path for file in plan.files] == [
        "data/a/1.jsonl.zst",
        "data/a/2.jsonl.zst",
        "data/b/1.jsonl.zst",
        "data/b/deep/2.jsonl.zst",
    ]
    assert (plan.commit, plan.bytes) == (COMMIT, 312_010)
    flat = plan_download(one_file("data/*/[12].jsonl.zst"), tmp_path, client)
    assert len(flat.files) == 3
    assert len(plan_download(SOURCE, tmp_path, client, max_files=1).files) == 2


def test_files_arrive_whole_and_are_remembered(tmp_path, fake, client):
    seen = []
    fetch(SOURCE, tmp_path, client, on_progress=lambda done, total: seen.append((done, total)))
    for path in sorted(fake.large):
        assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]
    assert seen[-1] == (312_010, 312_010)
    checksums = json.loads((tmp_path / "checksums.json").read_text())["some/data"]
    assert checksums["commit"] == COMMIT
    data = fake.files["data/a/2.jsonl.zst"]
    assert checksums["files"]["data/a/2.jsonl.zst"] == {
        "size": 5000,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    assert not list(tmp_path.rglob("*.part"))
    before = len(file_requests(fake))
    fetch(SOURCE, tmp_path, client)
    assert len(file_requests(fake)) == before  # nothing is fetched twice


def test_labels_come_with_their_documents(tmp_path, fake, client):
    source = TextSource(
        "web",
        {"": ("documents/*.jsonl",)},
        labels="../topics/{stem}__choice.npy",
        routes={0: "x"},
        dataset="some/data",
        local=False,
    )
    fetch(source, tmp_path, client)
    root = tmp_path / "some/data"
    assert (root / "topics/s1__choice.npy").read_bytes() == b"labels of s1"
    assert (root / "documents/s1.jsonl").read_bytes() == b""  # an empty file is a file
    del fake.files["topics/s0__choice.npy"]
    with pytest.raises(OlmixError, match=r"no file topics/s0__choice.npy"):
        plan_download(source, tmp_path / "other", client)


def test_a_dropped_line_is_continued_where_it_broke(tmp_path, fake, client):
    path = "data/a/1.jsonl.zst"
    fake.drop_after[path] = [100_000, 50_000]
    fetch(one_file(path), tmp_path, client)
    assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]
    ranges = [r for _, r in file_requests(fake)]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_an_interrupted_download_continues_in_the_next_run(tmp_path, fake, client):
    path = "data/a/1.jsonl.zst"
    fake.drop_after[path] = [120_000, 0, 0, 0, 0, 0]
    with pytest.raises(OlmixError, match=r"stopped at 120000 of 300000 bytes .* run the command"):
        fetch(one_file(path), tmp_path, client)
    assert not (tmp_path / "some/data" / path).exists()
    fake.drop_after.clear()
    fake.requests.clear()
    fetch(one_file(path), tmp_path, client)
    assert [r for _, r in file_requests(fake)] == ["bytes=120000-"]
    assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]


def test_a_server_without_ranges(tmp_path, fake, client):
    path = "data/a/1.jsonl.zst"
    fake.ignore_range = True
    fake.drop_after[path] = [100_000]
    fetch(one_file(path), tmp_path, client)
    assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]


def test_a_file_damaged_once_is_fetched_again(tmp_path, fake, client, caplog):
    path = "data/a/1.jsonl.zst"
    fake.corrupt[path] = 1
    with caplog.at_level(logging.WARNING):
        fetch(one_file(path), tmp_path, client)
    assert "arrived damaged" in caplog.text
    assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]


@pytest.mark.parametrize("path", ["data/a/1.jsonl.zst", "documents/s0.jsonl"])
def test_a_file_that_stays_damaged_is_refused(tmp_path, fake, client, path):
    """Large files are checked by SHA-256, small ones by git's hash."""
    fake.corrupt[path] = 9
    with pytest.raises(OlmixError, match=f"some/data/{path}: arrived damaged twice"):
        fetch(one_file(path), tmp_path, client)
    assert not (tmp_path / "some/data" / path).exists()
    assert not list(tmp_path.rglob("*.part"))


def test_bytes_of_another_version_are_not_continued(tmp_path, fake, client):
    path = "data/a/1.jsonl.zst"
    fake.drop_after[path] = [120_000, 0, 0, 0, 0, 0]
    with pytest.raises(OlmixError, match="stopped at"):
        fetch(one_file(path), tmp_path, client)
    (tmp_path / "checksums.json").unlink()
    fake.drop_after.clear()
    fake.files[path] = fake.files[path][::-1]
    fake.requests.clear()
    fetch(one_file(path), tmp_path, client)
    assert [r for _, r in file_requests(fake)] == [None]
    assert (tmp_path / "some/data" / path).read_bytes() == fake.files[path]


def test_the_first_commit_is_kept(tmp_path, fake, client):
    fetch(one_file("data/a/2.jsonl.zst"), tmp_path, client)
    fake.commit = "d" * 40
    assert plan_download(SOURCE, tmp_path, client).commit == COMMIT
    moved = TextSource(
        "mine", {"a": ("data/a/*",)}, dataset="some/data", revision="v2", local=False
    )
    with pytest.raises(OlmixError, match=r"asks for revision 'v2' .* pins to 'main'"):
        plan_download(moved, tmp_path, client)
    plan = plan_download(SOURCE, tmp_path / "new", client)
    with pytest.raises(
        OlmixError, match=r"pins some/data to commit cccccccccccc, not dddddddddddd"
    ):
        download(plan, tmp_path, client)


def test_content_that_changed_under_a_commit_is_refused(tmp_path, fake, client):
    path = "data/a/2.jsonl.zst"
    fetch(one_file(path), tmp_path, client)
    fake.files[path] = b"other"
    with pytest.raises(OlmixError, match=r"is not the \w+ of the first fetch"):
        fetch(one_file(path), tmp_path, client)


def test_verify_finds_damage(tmp_path, fake, client):
    fetch(SOURCE, tmp_path, client)
    assert {problem for _, problem in verify_downloads(tmp_path)} == {""}
    root = tmp_path / "some/data/data"
    (root / "a/1.jsonl.zst").write_bytes(bytes(300_000))
    (root / "a/2.jsonl.zst").write_bytes(b"short")
    (root / "b/1.jsonl.zst").unlink()
    problems = {path.removeprefix("some/data/data/"): p for path, p in verify_downloads(tmp_path)}
    assert problems == {
        "a/1.jsonl.zst": "its SHA-256 is another",
        "a/2.jsonl.zst": "5 bytes, expected 5000",
        "b/1.jsonl.zst": "missing",
        "b/deep/2.jsonl.zst": "",
    }


def test_a_file_of_unknown_origin_is_checked(tmp_path, fake, client):
    path = "data/a/2.jsonl.zst"
    local = tmp_path / "some/data" / path
    local.parent.mkdir(parents=True)
    local.write_bytes(bytes(5000))
    fetch(one_file(path), tmp_path, client)
    assert local.read_bytes() == fake.files[path]
    (tmp_path / "checksums.json").unlink()
    fake.requests.clear()
    fetch(one_file(path), tmp_path, client)  # it is there and right: only read, not fetched
    assert file_requests(fake) == []


def test_passing_faults_are_retried(tmp_path, fake, client):
    fake.status = [503, 429]
    plan = plan_download(one_file("data/a/2.jsonl.zst"), tmp_path, client)
    fake.status = [500, 502]
    download(plan, tmp_path, client)
    fake.status = [503] * 4
    with pytest.raises(OlmixError, match=r"no answer \(HTTP Error 503"):
        plan_download(SOURCE, tmp_path / "new", client)


def test_a_server_with_too_many_requests_is_left_alone_as_long_as_it_says(
    tmp_path, fake, client, monkeypatch
):
    pauses = []
    monkeypatch.setattr(hub_module.time, "sleep", pauses.append)
    told = {"RateLimit": '"api";r=0;t=55', "RateLimit_Policy": '"fixed window";"api";q=500;w=300'}
    fake.status = [(429, told), (503, {"Retry_After": "7"}), (429, {"Retry_After": "9999"})]
    plan = plan_download(one_file("data/a/2.jsonl.zst"), tmp_path, client)
    assert pauses == [55.0, 7.0, hub_module.LONGEST_PAUSE]
    fake.status = [(429, told), 503]
    download(plan, tmp_path, client)
    assert pauses[3:] == [55.0, pytest.approx(0.004)]


def test_gated_dataset(tmp_path, fake, client, caplog):
    fake.gated = True
    with pytest.raises(OlmixError, match=r"refuses access \(HTTP 401\).*HF_TOKEN"):
        plan_download(SOURCE, tmp_path, client)
    with caplog.at_level(logging.DEBUG):
        fetch(SOURCE, tmp_path, Hub(fake.url, SECRET, pause_seconds=0.001))
    assert SECRET not in caplog.text
    assert SECRET not in (tmp_path / "checksums.json").read_text()


def test_the_token_does_not_follow_a_redirect_elsewhere(tmp_path, fake):
    storage = FakeHub()
    server = serve(storage)
    try:
        fake.redirect_to = f"http://127.0.0.1:{server.server_port}"
        path = "data/a/1.jsonl.zst"
        storage.drop_after[path] = [1000]
        fetch(one_file(path), tmp_path, Hub(fake.url, SECRET, pause_seconds=0.001))
        assert set(fake.tokens_seen) == {f"Bearer {SECRET}"}
        assert set(storage.tokens_seen) == {None}
        assert [r for _, r in storage.requests] == [None, "bytes=1000-"]
    finally:
        server.shutdown()
        server.server_close()


def test_nothing_there(tmp_path, fake, client):
    with pytest.raises(OlmixError, match=r"no file matches none/\*.jsonl \(of 'a'\)"):
        plan_download(one_file("none/*.jsonl"), tmp_path, client)
    both = TextSource("m", {"a": ("gone/*", "data/a/*")}, dataset="some/data", local=False)
    assert len(plan_download(both, tmp_path, client).files) == 2
    missing = TextSource("mine", {"a": ("x",)}, dataset="no/such", local=False)
    with pytest.raises(OlmixError, match=r"no/such.*not found \(HTTP 404\)"):
        plan_download(missing, tmp_path, client)
    fake.files["data/a/../../../evil"] = b""
    with pytest.raises(OlmixError, match="refusing the file name"):
        plan_download(SOURCE, tmp_path, client)


def test_sources_that_need_no_download(tmp_path, client):
    with pytest.raises(OlmixError, match="'mine' is read from its 'paths'"):
        plan_download(TextSource("mine", {"a": ("x",)}), tmp_path, client)
    secret = TextSource("mine", {}, unavailable="it is private", local=False)
    with pytest.raises(OlmixError, match="'mine' cannot be downloaded: it is private"):
        plan_download(secret, tmp_path, client)
    with pytest.raises(OlmixError, match="endpoint 'ftp://x': expected an http"):
        Hub("ftp://x")


def test_no_room(tmp_path, client, monkeypatch):
    plan = plan_download(SOURCE, tmp_path, client)
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OlmixError, match=r"GB to fetch for 'mine', 0.0 GB free"):
        download(plan, tmp_path, client)


def test_a_full_disk_is_one_line(tmp_path, client, monkeypatch):
    plan = plan_download(SOURCE, tmp_path, client)

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    monkeypatch.setattr(module, "write_json", lambda path, value: None)
    with pytest.raises(OlmixError, match="No space left on device"):
        download(plan, tmp_path, client)
