"""``memstore web`` as a process: start, the way to the browser, limits, end; and its imports."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from tests.support.clock import wait_until
from tests.support.served import Served
from tests.support.web_server import WebServer

import memstore

pytestmark = pytest.mark.process


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with memstore.open(path, embedder=None) as store:
        store.add("The kettle is blue", subject="kettle")
    return path


@pytest.fixture
def server(db: Path, tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(db, tmp_path / "data", "--embedder", "none", "--no-browser")
    yield server
    server.close()


@contextmanager
def entered(server: WebServer, code: str) -> Iterator[httpx.Client]:
    """Yield a client that is signed in, with the path of the pages as its base."""
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        answer = http.post("/enter", data={"code": code}, headers={"Origin": server.url})
        assert answer.status_code == 303, answer.text
        http.base_url = httpx.URL(server.url + answer.headers["location"])
        yield http


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal(server: WebServer, number: signal.Signals) -> None:
    with entered(server, server.code()) as http:
        assert "What your agent will know next" in http.get("").text
    assert server.end(number) == 0


def test_it_prints_the_code_only_where_no_browser_is_opened(db: Path, tmp_path: Path) -> None:
    """The browser gets the name of a file that only the user can read, and no code."""
    calls = tmp_path / "calls"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    browser.chmod(0o755)
    server = WebServer(db, tmp_path / "data", "--embedder", "none", BROWSER=f"{browser} %s")
    try:
        assert wait_until(calls.exists)
        assert wait_until(lambda: calls.read_text().strip())
        (name,) = re.findall(r"file://(\S+)", calls.read_text())
        file = Path(name)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        code = re.search(rf"{server.url}/enter#([\w-]+)", file.read_text())
        assert code is not None
        assert code[1] not in calls.read_text()
        with entered(server, code[1]):
            pass
        assert wait_until(lambda: not file.exists())  # it was used
    finally:
        server.close()
    assert not [line for line in server.lines if code[1] in line]


def test_a_second_server_has_another_port_and_the_same_path(
    db: Path, tmp_path: Path, server: WebServer
) -> None:
    other = WebServer(db, tmp_path / "data", "--embedder", "none", "--no-browser")
    try:
        with entered(server, server.code()) as one, entered(other, other.code()) as two:
            assert one.base_url.path == two.base_url.path
            assert [*one.cookies] != [*two.cookies]
            cookie = one.cookies[f"memstore-{server.port}"]
            forged = {"Cookie": f"memstore-{other.port}={cookie}"}
            assert httpx.get(two.base_url, headers=forged).status_code == 303
    finally:
        other.close()


def test_a_taken_port_is_an_error_if_it_was_named(db: Path, tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        flags = ("--port", str(taken.getsockname()[1]), "--no-browser")
        server = WebServer(db, tmp_path / "data", *flags)
        try:
            assert server.process.wait(timeout=30) == 1
            assert "another program has the port" in server.lines[0]
        finally:
            server.close()


def test_heads_of_64_kib_arrive_and_larger_ones_do_not(server: WebServer) -> None:
    with httpx.Client(base_url=server.url, trust_env=False) as http:
        others = "; ".join(f"other{n}={'x' * 1000}" for n in range(60))
        assert http.get("/enter", headers={"Cookie": others}).status_code == 200
        more = f"{others}; last={'x' * 10_000}"
        assert http.get("/enter", headers={"Cookie": more}).status_code == 431


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memstore", "web", "--db", str(tmp_path / "no.db"), "--no-browser"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "does not exist" in done.stderr


def test_a_broken_file_is_a_page(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is no database" * 1000)
    server = WebServer(path, tmp_path / "data", "--embedder", "none", "--no-browser")
    try:
        with entered(server, server.code()) as http:
            answer = http.get("")
            assert answer.status_code == 503
            assert "Try again" in answer.text
    finally:
        server.close()


def test_it_never_imports_the_sdk() -> None:
    program = (
        "import sys; from memstore.faces.web.server import run\n"
        "from memstore.faces.web.pages import search; search._catalogue()\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = {*done.stdout.split()}
    assert "memstore.faces.web.server.gate" in loaded
    assert (
        loaded & {"mcp", "mcp_types", "pydantic", "httpx", "memstore.faces.http.endpoint"} == set()
    )


def test_help_and_other_commands_do_not_import_it() -> None:
    program = (
        "import sys; from memstore.faces.cli.main import main\n"
        "try: main(['web', '--help'])\nexcept SystemExit: pass\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "--no-browser" in done.stdout
    assert {*done.stderr.split()} & {"jinja2", "starlette", "uvicorn"} == set()


def test_without_its_packages_it_says_how_to_install_them(db: Path) -> None:
    program = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from memstore.faces.cli.main import main\n"
        f"sys.exit(main(['web', '--db', {str(db)!r}, '--no-browser']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "pip install 'pymemstore[web]'" in done.stderr


@pytest.mark.model
def test_the_demo_shows_its_memory_and_leaves_nothing(tmp_path: Path) -> None:
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\ncp "${{1#file://}}" {opened}.part && mv {opened}.part {opened}\n'
    )
    browser.chmod(0o755)
    own = {"XDG_DATA_HOME": str(tmp_path / "data"), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "memstore", "demo", "--web"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **own, "BROWSER": f"{browser} %s"},
    )
    try:
        assert wait_until(opened.exists)
        address = re.search(r"(http://[^/]+)/enter#([\w-]+)", opened.read_text())
        assert address is not None
        url, code = address.groups()
        answer = httpx.post(f"{url}/enter", data={"code": code}, headers={"Origin": url})
        assert answer.status_code == 303
        assert [*tmp_path.glob("memstore-demo-*")]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=15) == 0
        assert not [*tmp_path.glob("memstore-demo-*")]
    finally:
        process.kill()
        process.wait()


# -- memstore-mcp --pages --------------------------------------------------------------------------


@pytest.fixture
def both(db: Path) -> Iterator[Served]:
    server = Served(db, "--pages")
    yield server
    server.close()


def test_the_http_server_has_pages_behind_its_tokens(both: Served) -> None:
    answer = httpx.post(
        f"{both.url}/enter", data={"token": both.secret}, headers={"Origin": both.url}
    )
    assert answer.status_code == 303
    (name, cookie), *_ = answer.cookies.items()
    path = answer.headers["location"]
    page = httpx.get(both.url + path, headers={"Cookie": f"{name}={cookie}"})
    assert "What your agent will know next" in page.text
    assert page.headers.get("access-control-allow-origin") is None
    # Cookies never call tools, and bearer tokens open no page.
    refused = httpx.post(f"{both.url}/mcp", json={}, headers={"Cookie": f"{name}={cookie}"})
    assert refused.status_code == 401
    bearer = {"Authorization": f"Bearer {both.secret}"}
    assert httpx.get(both.url + path, headers=bearer).status_code == 303
    assert both.call("memory_list")["facts"][0]["content"] == "The kettle is blue"


def test_pages_need_a_token_even_if_the_endpoint_does_not(db: Path) -> None:
    server = Served(db, "--pages", "--no-token")
    try:
        answer = httpx.post(
            f"{server.url}/enter", data={"token": ""}, headers={"Origin": server.url}
        )
        assert answer.status_code == 403
        assert "memstore web" in answer.text
    finally:
        server.close()


def test_pages_are_served_only_if_asked_for(db: Path) -> None:
    server = Served(db)
    try:
        assert server.get("/enter").status_code == 404
    finally:
        server.close()
