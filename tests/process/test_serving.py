"""Servers as an operator runs them: how they end, their metrics, and two behind one address."""

from __future__ import annotations

import itertools
import re
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from prometheus_client.parser import text_string_to_metric_families
from tests.support.clock import wait_until
from tests.support.raw import raw
from tests.support.served import MCP_HEADERS, Served, request

import memstore

pytestmark = pytest.mark.process

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")

HOP = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive", "host"})


@pytest.fixture
def serve(path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers on the test's file and stops those still running."""
    running: list[Served] = []

    def start(*flags: str) -> Served:
        running.append(Served(path, *flags))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.fixture
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection that writes to the file, so that a call has to wait."""
    with raw(path, isolation_level=None, check_same_thread=False) as other:
        yield other


def _store_later(server: Served, answers: list[Any]) -> threading.Thread:
    """Send a call that waits for the writer; return once the server runs it."""

    def post() -> None:
        asked = request(
            "tools/call", name="memory_store", arguments={"content": "kept", "subject": "s"}
        )
        try:
            answers.append(
                httpx.post(f"{server.url}/mcp", json=asked, headers=MCP_HEADERS, timeout=30)
            )
        except httpx.HTTPError as error:
            answers.append(error)

    thread = threading.Thread(target=post)
    thread.start()
    return thread


# -- the end ---------------------------------------------------------------------------------------


@posix_only
def test_a_draining_server_is_unready_and_answers_until_a_second_signal_ends_it(
    serve: Callable[..., Served], writing: sqlite3.Connection
) -> None:
    server = serve("--no-token", "--drain", "3600")
    assert server.get("/readyz").status_code == 200
    writing.execute("BEGIN IMMEDIATE")
    answers: list[Any] = []
    thread = _store_later(server, answers)  # hangs
    server.process.send_signal(signal.SIGTERM)
    assert wait_until(lambda: server.get("/readyz").status_code == 503)
    assert server.get("/readyz").json() == {"status": "draining"}
    assert server.get("/livez").status_code == 200
    answer = server.post(request("tools/list"))
    assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
    server.process.send_signal(signal.SIGTERM)
    assert server.end() == 0
    thread.join()
    assert isinstance(answers[0], httpx.HTTPError)
    assert "Traceback" not in "".join(server.told)


@posix_only
def test_a_call_that_runs_while_draining_is_answered_and_the_server_ends_by_itself(
    serve: Callable[..., Served], writing: sqlite3.Connection, path: Path
) -> None:
    server = serve("--no-token", "--drain", "0.5", "--metrics", "127.0.0.1:0")
    server.call("memory_status")
    writing.execute("BEGIN IMMEDIATE")
    answers: list[Any] = []
    thread = _store_later(server, answers)
    assert wait_until(lambda: _metrics(server)["memstore_http_requests_running",] == 1)
    server.process.send_signal(signal.SIGTERM)
    writing.execute("ROLLBACK")
    thread.join()
    assert [one.status_code for one in answers] == [200]
    assert server.end() == 0
    with pytest.raises(httpx.ConnectError):
        server.get("/livez")
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 1


# -- metrics ---------------------------------------------------------------------------------------


def test_metrics_are_shown_at_their_own_address_without_a_token(
    serve: Callable[..., Served],
) -> None:
    server = serve("--metrics", "127.0.0.1:0")
    server.call("memory_store", content="the kettle is blue", subject="k")
    values = _metrics(server)
    assert values["memstore_tool_seconds_count", "memory_store"] == 1
    assert values["memstore_pending", "facts"] == 1
    assert values["process_open_fds",] > 0
    assert server.get("/metrics").status_code == 404
    elsewhere = _metrics_address(server).replace("/metrics", "/mcp")
    assert httpx.post(elsewhere, trust_env=False).status_code == 404


def _metrics_address(server: Served) -> str:
    (at,) = re.findall(r"metrics at (http://\S+/metrics)\n", "".join(server.told))
    return at


def _metrics(server: Served) -> dict[tuple[str, ...], float]:
    text = httpx.get(_metrics_address(server), trust_env=False).text
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--metrics", "127.0.0.1:9464"], "go with --http"),
        (["--drain", "5"], "go with --http"),
        (["--http", "127.0.0.1:8765", "--metrics", "0.0.0.0:8765"], "another port"),
        (["--http", "127.0.0.1:8765", "--metrics", "9464"], "--metrics: '9464' is not HOST:PORT"),
        (["--http", "127.0.0.1:8765", "--drain", "-1"], "--drain '-1' is not a number"),
        (["--http", "127.0.0.1:8765", "--drain", "nan"], "--drain 'nan' is not a number"),
        (["--http", "127.0.0.1:8765", "--drain", "soon"], "--drain 'soon' is not a number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_flags_are_one_line(
    capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    from memstore.faces.starting import every_flag

    with pytest.raises(SystemExit) as ended:
        every_flag.main([*flags, "--db", ":memory:"])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_a_missing_client_library_names_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memstore.faces.starting import every_flag

    monkeypatch.delitem(sys.modules, "memstore.faces.http.metrics", raising=False)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(SystemExit) as ended:
        every_flag.main(["--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--db", ":memory:"])
    assert ended.value.code == 2
    assert "pip install 'pymemstore[metrics]'" in capsys.readouterr().err


# -- two servers behind one address ----------------------------------------------------------------


@contextmanager
def balanced(servers: list[Served], log: list[int]) -> Iterator[str]:
    """A reverse proxy that sends each request to the next server, and past one that is gone.

    It knows nothing of the protocol, and keeps no client with a server.
    """
    turns = itertools.count()

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
            first = next(turns)
            for which in (first % len(servers), (first + 1) % len(servers)):
                try:
                    answer = httpx.post(
                        servers[which].url + self.path,
                        content=body,
                        headers={**headers, "X-Forwarded-For": "192.0.2.1"},
                        trust_env=False,
                    )
                except httpx.ConnectError:
                    continue
                log.append(which)
                break
            self.send_response_only(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}"
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()


def test_two_servers_behind_one_address_serve_one_client_and_one_may_end(
    serve: Callable[..., Served], path: Path
) -> None:
    with memstore.open(path, embedder=None) as store:
        _, secret = store.file.tokens.create("team", namespace=store.namespace)
    servers, log = [serve(), serve()], []

    async def work(address: str) -> list[str]:
        found = []
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            for number in range(6):
                if number == 4:  # a rolling restart takes one away
                    servers[0].process.terminate()
                    await anyio.to_thread.run_sync(servers[0].end)
                stored = {"content": f"the kettle number {number} is blue", "subject": "k"}
                await client.call_tool("memory_store", stored)
                answer = await client.call_tool("memory_search", {"query": f"kettle {number}"})
                found.append(answer.structured_content["facts"][0]["content"])
        return found

    with balanced(servers, log) as address:
        found = anyio.run(work, address)
    # What one server stored, the other one found at once.
    assert found == [f"the kettle number {number} is blue" for number in range(6)]
    assert {0, 1} == set(log)
    assert set(log[-3:]) == {1}
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 6
