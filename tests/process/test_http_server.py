"""The server over HTTP as a process: access, refusals, start and end."""

from __future__ import annotations

import json
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.support import identity_provider
from tests.support.clock import wait_until
from tests.support.raw import raw
from tests.support.served import MCP_HEADERS, Served, request

import memstore
from memstore.faces.http.gate import MAX_BODY_BYTES, Gate
from memstore.faces.serving.address import AcceptedNames
from memstore.faces.serving.loop import CONNECTIONS_AT_ONCE, UNTRUSTED_OF_A_PEER
from memstore.faces.serving.opening import Opening
from memstore.faces.serving.stores import MAX_STORES, Stores

pytestmark = pytest.mark.process

"""From a signal to the exit, with a margin for a busy machine: the server's own limit is six."""

READING = {"memory_search", "memory_list", "memory_history", "memory_status", "memory_task_list"}
STORE = {"name": "memory_store", "arguments": {"content": "The kettle is blue", "subject": "k"}}

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")


@pytest.fixture
def serve(path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers on the test's file and stops those still running."""
    running: list[Served] = []

    def start(*flags: str, **more: Any) -> Served:
        running.append(Served(path, *flags, **more))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "memory.db"


@pytest.fixture(scope="module")
def tokens(home: Path) -> dict[str, str]:
    """Secrets by name: of two namespaces, read-only and writing, valid and invalid."""
    with memstore.open(home, embedder=None, namespace="work") as work:
        made = {
            "work": work.file.tokens.create("work", namespace="work")[1],
            "reader": work.file.tokens.create("reader", namespace="work", access="read")[1],
            "other": work.file.tokens.create("other", namespace="other")[1],
            "revoked": work.file.tokens.create("revoked", namespace="work")[1],
            "expired": work.file.tokens.create(
                "expired", namespace="work", expires_at="2999-01-01"
            )[1],
        }
        work.file.tokens.revoke("revoked")
    with raw(home) as file:
        file.execute(
            "UPDATE memstore_tokens SET expires_at = '2020-01-01T00:00:00.000000Z'"
            " WHERE name = 'expired'"
        )
        file.commit()
    return made


@pytest.fixture(scope="module")
def guarded(home: Path, tokens: dict[str, str]) -> Iterator[Served]:
    """A server whose file has tokens."""
    server = Served(home)
    yield server
    server.close()
    # After all these tests, no secret is in the log.
    assert not [line for line in server.told for secret in tokens.values() if secret in line]


@pytest.fixture(scope="module")
def open_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for this machine only, without tokens."""
    server = Served(tmp_path_factory.mktemp("open") / "memory.db", "--no-token")
    yield server
    server.close()


# -- access control --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["lines", "json"])
def test_answers_have_the_form_of_the_flag(
    serve: Callable[..., Served], path: Path, form: str
) -> None:
    server = serve("--answers", form)
    stored = server.ask(
        "tools/call", name="memory_store", arguments={"content": "c", "subject": "s"}
    )
    found = server.ask("tools/call", name="memory_list", arguments={})
    tools = server.ask("tools/list")["tools"]
    if form == "lines":
        assert stored["content"][0]["text"] == "#1 active; undo: memory_delete id=1"
        assert found["content"][0]["text"].endswith("\n#1 s: c")
    else:
        assert found["structuredContent"]["facts"][0]["id"] == 1
    assert {"structuredContent" in one for one in (stored, found)} == {form == "json"}
    assert {"outputSchema" in tool for tool in tools} == {form == "json"}


def test_a_client_chooses_the_form_in_the_address(serve: Callable[..., Served]) -> None:
    server = serve("--answers", "lines", "--no-token")
    call = request("tools/call", name="memory_list", arguments={})
    had = {
        query: httpx.post(f"{server.url}/mcp{query}", json=call, headers=MCP_HEADERS).json()[
            "result"
        ]
        for query in ("", "?answers=json", "?answers=lines")
    }
    with_json = [query for query, result in had.items() if "structuredContent" in result]
    assert with_json == ["?answers=json"]
    assert had[""]["content"][0]["text"] == "no facts"
    unknown = httpx.post(f"{server.url}/mcp?answers=xml", json=call, headers=MCP_HEADERS)
    assert unknown.status_code == 400
    assert "lines or json" in unknown.json()["error"]["message"]


def test_health_needs_no_token_and_shows_no_details(guarded: Served) -> None:
    for headers in ({}, {"Host": "10.1.2.3:8765"}, {"Authorization": "Bearer nonsense"}):
        answer = guarded.get("/health", **headers)
        assert answer.status_code == 200
        assert answer.json() == {"status": "ok", "version": memstore.__version__}
    assert "server" not in answer.headers
    assert guarded.http("HEAD", "/health").content == b""
    assert guarded.http("POST", "/health").status_code == 405


def test_a_request_without_a_token_is_refused(guarded: Served) -> None:
    answer = guarded.post(request("tools/list"))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="memstore"'
    assert "Authorization: Bearer TOKEN" in answer.json()["error"]["message"]


@pytest.mark.parametrize("which", ["revoked", "expired", "unknown"])
def test_invalid_token_is_refused(guarded: Served, tokens: dict[str, str], which: str) -> None:
    secret = tokens.get(which, "mst_" + "x" * 43)
    answer = guarded.post(request("tools/list"), secret)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert which in answer.json()["error"]["message"]
    assert secret not in answer.text


@pytest.mark.parametrize("header", ["Basic bWU6bWU=", "Bearer", "", "mst_x", "Bearer é"])
def test_a_header_without_a_token_is_refused(guarded: Served, header: str) -> None:
    sent = {b"Authorization": header.encode()} | {
        k.encode(): v.encode() for k, v in MCP_HEADERS.items()
    }
    answer = httpx.post(f"{guarded.url}/mcp", content=b"{}", headers=sent, trust_env=False)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


def test_token_gives_access_only_to_its_namespace(guarded: Served, tokens: dict[str, str]) -> None:
    kept = guarded.call("memory_store", tokens["work"], content="Work uses Go", subject="stack")
    guarded.call("memory_store", tokens["other"], content="Home uses Rust", subject="stack")

    def found(name: str) -> list[str]:
        facts = guarded.call("memory_search", tokens[name], query="stack uses")["facts"]
        return [fact["content"] for fact in facts]

    assert found("work") == found("reader") == ["Work uses Go"]
    assert found("other") == ["Home uses Rust"]
    assert guarded.call("memory_status", tokens["other"])["namespace"] == "other"
    beyond = guarded.ask(
        "tools/call", tokens["other"], name="memory_history", arguments={"id": kept["id"]}
    )
    assert beyond["isError"]
    assert "Go" not in str(beyond)


def test_a_tokens_group_is_its_namespace(serve: Callable[..., Served], path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        secrets = {
            name: store.file.tokens.create(name, namespace=name)[1] for name in ("work", "home")
        }
    server = serve("--tools", "episodes")
    server.call("add_memory", secrets["home"], content="heard at home", source="chat")
    server.call("add_memory", secrets["work"], content="heard at work", source="chat")
    for tool, arguments in (
        ("add_memory", {"content": "slipped in", "source": "chat"}),
        ("search", {"query": "heard"}),
        ("get_episodes", {}),
    ):
        asked = {"name": tool, "arguments": arguments | {"group_id": "home"}}
        beyond = server.ask("tools/call", secrets["work"], **asked)
        assert beyond["isError"]
        assert "bound to the namespace 'work'" in beyond["content"][0]["text"]
        assert not server.ask("tools/call", secrets["home"], **asked)["isError"]
    assert "heard at home" not in str(server.call("search", secrets["work"], query="heard"))
    assert "home" not in str(server.call("get_status", secrets["work"]))


def test_read_only_token_lists_and_calls_only_reading_tools(
    guarded: Served, tokens: dict[str, str]
) -> None:
    reader = tokens["reader"]
    assert {tool["name"] for tool in guarded.ask("tools/list", reader)["tools"]} == READING
    before = guarded.call("memory_status", reader)["active"]
    answer = guarded.post(request("tools/call", **STORE), reader)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
    told = answer.json()
    assert told["id"] == 1
    assert "memory_store" in told["error"]["message"]
    assert guarded.call("memory_status", reader)["active"] == before
    # A Host header cannot bypass the gate by being parsed differently by the server.
    twice = json.dumps(request("tools/call", **STORE)).replace(
        '"memory_store"', '"memory_status", "name": "memory_store"'
    )
    assert guarded.post(twice.encode(), reader).status_code == 403
    assert guarded.call("memory_status", reader)["active"] == before


def test_first_token_ends_open_access_and_revoking_all_does_not_restore_it(
    serve: Callable[..., Served], path: Path
) -> None:
    server = serve("--no-token", "--namespace", "mine")
    server.call("memory_store", content="open", subject="s")
    with memstore.open(path, embedder=None, namespace="mine") as store:
        _, secret = store.file.tokens.create("first", namespace=store.namespace)
        assert server.post(request("tools/list")).status_code == 401
        assert server.call("memory_list", secret)["facts"][0]["content"] == "open"
        assert store.file.tokens.list()[0].last_used_at is not None
        store.file.tokens.revoke("first")
    assert server.post(request("tools/list"), secret).status_code == 401
    assert server.post(request("tools/list")).status_code == 401


# -- refused requests ------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
def test_an_unknown_host_is_refused(open_door: Served, host: str) -> None:
    answer = open_door.post(request("tools/list"), Host=host)
    assert answer.status_code == 421
    assert "--allow-host" in answer.json()["error"]["message"]


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"])
def test_forwarded_request_needs_a_token(
    open_door: Served, guarded: Served, tokens: dict[str, str], header: str
) -> None:
    handed_on = {header: "for=198.51.100.7"}
    answer = open_door.post(request("tools/list"), **handed_on)
    assert answer.status_code == 401
    assert "memstore token create" in answer.json()["error"]["message"]
    assert guarded.post(request("tools/list"), tokens["work"], **handed_on).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:9"])
def test_every_name_of_this_machine_is_accepted(open_door: Served, host: str) -> None:
    assert open_door.post(request("tools/list"), Host=host).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost@evil.example", 403),
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
    ],
)
def test_only_pages_of_allowed_origins_are_accepted(
    open_door: Served, origin: str, status: int
) -> None:
    assert open_door.post(request("tools/list"), Origin=origin).status_code == status


def test_names_and_origins_can_be_allowed(serve: Callable[..., Served], path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        _, secret = store.file.tokens.create("page", namespace=store.namespace)
    page = "https://app.example.com"
    allow = ("--allow-host", "memory.example.com", "--allow-host", "b.example:8443")
    server = serve(*allow, "--allow-origin", page)
    answered = {
        "memory.example.com:443": 200,
        "b.example:8443": 200,
        "b.example": 421,
        "a.example": 421,
    }
    for host, status in answered.items():
        assert server.post(request("tools/list"), secret, Host=host).status_code == status
    answer = server.post(request("tools/list"), secret, Origin=page)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, page)
    asking = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,mcp-protocol-version",
    }
    assert server.http("OPTIONS", "/mcp", Origin=page, **asking).status_code == 200
    assert server.http("OPTIONS", "/mcp", Origin="https://evil", **asking).status_code == 400


def test_only_posts_to_the_endpoint_are_requests(open_door: Served) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = open_door.http(method, "/mcp", Accept="text/event-stream")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert open_door.get("/").status_code == 404
    assert open_door.get("/health/x").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b'{"jsonrpc": "2.0", "id": 1}', 400), (b"\xff", 400), (b"", 400)],
)
def test_invalid_request_gets_an_error(open_door: Served, body: bytes, status: int) -> None:
    answer = open_door.post(body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_half_an_emoji_is_stored_not_refused(open_door: Served) -> None:
    arguments = {"content": "cut \ud83d here, whole \ud83d\ude00", "subject": "emoji"}
    answer = open_door.post(request("tools/call", name="memory_store", arguments=arguments))
    assert answer.status_code == 200, answer.text
    found = open_door.call("memory_list", subject="emoji")["facts"][0]["content"]
    assert found == "cut \ufffd here, whole \U0001f600"


def _head(server: Served, *more: str) -> bytes:
    lines = ["POST /mcp HTTP/1.1", f"Host: {server.address}", *more]
    lines += [f"{name}: {value}" for name, value in MCP_HEADERS.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _answer(wire: socket.socket) -> bytes:
    """Return one complete answer, whose body is an object."""
    answer = b""
    while not answer.endswith(b"}"):
        answer += wire.recv(65536) or b"}"
    return answer


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(open_door: Served) -> None:
    answer = open_door.raw(_head(open_door, f"Content-Length: {MAX_BODY_BYTES + 1}"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"16 MiB" in answer


def test_growing_body_is_refused_once_it_is_too_large(open_door: Served) -> None:
    sent = 0
    with closing(open_door.connect()) as wire:
        wire.sendall(_head(open_door, "Transfer-Encoding: chunked"))
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        try:
            while sent < 4 * MAX_BODY_BYTES:
                wire.sendall(piece)
                sent += 0x100000
        except OSError:
            pass  # the connection is closed
    assert sent < 4 * MAX_BODY_BYTES
    assert open_door.get("/health").status_code == 200


def test_a_large_fact_fits(open_door: Served) -> None:
    content = "é" * 500_000  # two bytes each in UTF-8, six when escaped
    assert open_door.call("memory_store", content=content, subject="large")["id"]


def test_body_without_a_valid_token_is_not_read(guarded: Served) -> None:
    answer = guarded.raw(_head(guarded, "Content-Length: 1000000", "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 401 ")


def test_slow_body_is_refused_after_its_time_limit(open_door: Served) -> None:
    with closing(open_door.connect()) as wire:
        wire.sendall(_head(open_door, "Content-Length: 1000") + b"{")
        answer = wire.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_silent_connection_is_closed(open_door: Served) -> None:
    with closing(open_door.connect()) as silent, closing(open_door.connect()) as dripping:
        dripping.sendall(b"POST /mcp HTTP/1.1\r\nX-Long: ")
        for _ in range(150):
            if select.select([dripping], [], [], 0.1)[0]:
                break  # the connection is closed
            with suppress(OSError):
                dripping.sendall(b"A")
        else:
            pytest.fail("it goes on reading what drips")
        assert silent.recv(1) == b""


def test_a_connection_may_idle_between_requests(open_door: Served) -> None:
    with closing(open_door.connect()) as wire:
        for pause_seconds in (2.5, 0):  # longer than the time limit of a head
            wire.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += wire.recv(65536) or b"}"
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert select.select([wire], [], [], pause_seconds)[0] == [], "it is left open"
        wire.sendall(b"GET /hea")
        assert wire.recv(1) == b""


@pytest.mark.parametrize("said", [b"", b"POST /mcp HTTP/1.1\r\n"], ids=["nothing", "half a head"])
def test_many_silent_connections_block_no_client(
    guarded: Served, tokens: dict[str, str], said: bytes
) -> None:
    """All from one address, as behind a proxy."""
    call = json.dumps(request("tools/list")).encode()
    let_in = _head(
        guarded, f"Authorization: Bearer {tokens['work']}", f"Content-Length: {len(call)}"
    )
    with ExitStack() as stack:
        early = stack.enter_context(closing(guarded.connect()))
        early.sendall(let_in + call)
        assert _answer(early).startswith(b"HTTP/1.1 200 ")
        crowd = [stack.enter_context(closing(guarded.connect())) for _ in range(560)]
        for one in crowd:
            with suppress(OSError):
                one.sendall(said)
        with closing(guarded.connect()) as late:
            late.sendall(let_in + call)
            assert late.recv(65536).startswith(b"HTTP/1.1 200 ")
        early.sendall(let_in + call)  # idle, and kept
        assert early.recv(65536).startswith(b"HTTP/1.1 200 ")
        open_ones = [one for one in crowd if select.select([one], [], [], 0)[0] == []]
        assert open_ones == crowd[-len(open_ones) :], "the newest are kept"
        assert len(open_ones) <= UNTRUSTED_OF_A_PEER


def test_the_number_of_connections_is_limited_for_every_client(
    guarded: Served, tokens: dict[str, str]
) -> None:
    head = _head(guarded, f"Authorization: Bearer {tokens['work']}", "Content-Length: 2")
    with ExitStack() as stack:
        crowd = []
        for _ in range(CONNECTIONS_AT_ONCE + 8):
            one = stack.enter_context(closing(guarded.connect()))
            one.sendall(head + b"{}")
            assert _answer(one).startswith(b"HTTP/1.1 400 ")
            crowd.append(one)
        assert guarded.call("memory_status", tokens["work"])
        assert crowd[0].recv(1) == b"", "the one that was idle longest is closed"
        crowd[-1].sendall(head + b"{}")
        assert _answer(crowd[-1]).startswith(b"HTTP/1.1 400 ")


AMBIGUOUS = {
    "bare LF": b"GET /health HTTP/1.1\nHost: x\n\n",
    "one bare LF": b"GET /health HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    "bare CR": b"GET /health HTTP/1.1\r\nHost: x\rA: b\r\n\r\n",
    "folded": b"GET /health HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "folded by a tab": b"GET /health HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n",
    "length beside chunks": (
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
        b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "two lengths": (
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"
    ),
    "a length with a sign": (b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc"),
    "another coding": (
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
    ),
}


@pytest.mark.parametrize("sent", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_an_ambiguous_request_head_is_refused(guarded: Served, sent: bytes) -> None:
    answer = guarded.raw(sent)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    good = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with closing(guarded.connect()) as wire:  # also byte by byte, after a valid one
        for at in range(len(good)):
            wire.sendall(good[at : at + 1])
        assert _answer(wire).startswith(b"HTTP/1.1 200 ")
        with suppress(OSError):
            for at in range(len(sent)):
                wire.sendall(sent[at : at + 1])
        assert wire.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_too_long_head_gets_an_error(guarded: Served) -> None:
    answer = guarded.raw(b"GET /health HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 17_000)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"16 KiB" in answer


def test_requests_can_be_pipelined_and_a_chunked_body_closes_the_connection(
    guarded: Served, tokens: dict[str, str]
) -> None:
    call = json.dumps(request("tools/list")).encode()
    bearer = f"Authorization: Bearer {tokens['work']}"
    plain = _head(guarded, bearer, f"Content-Length: {len(call)}") + call
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(call), call)
    chunked = _head(guarded, bearer, "Transfer-Encoding: chunked") + chunks
    answer = guarded.raw(b"\r\n" + plain + plain + chunked + plain)
    assert answer.count(b"HTTP/1.1 200 ") == 3
    assert answer.lower().count(b"connection: close") == 1


@pytest.mark.parametrize("piece", [65_536, 20 * 1024 * 1024])
def test_client_with_a_too_large_request_gets_the_reason(
    guarded: Served, tokens: dict[str, str], piece: int
) -> None:
    length = 20 * 1024 * 1024
    head = _head(guarded, f"Authorization: Bearer {tokens['work']}", f"Content-Length: {length}")
    for _ in range(3):
        with closing(guarded.connect()) as wire:
            wire.sendall(head)
            for _ in range(length // piece):
                wire.sendall(b" " * piece)
            answer = b""
            while part := wire.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"16 MiB" in answer


# -- real clients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_session(guarded: Served, tokens: dict[str, str], mode: str) -> None:
    async def conversation() -> None:
        bearer = {"Authorization": f"Bearer {tokens['work']}"}
        async with httpx2.AsyncClient(headers=bearer, trust_env=False) as http:
            way = streamable_http_client(f"{guarded.url}/mcp", http_client=http)
            async with Client(way, mode=mode) as client:
                assert len((await client.list_tools()).tools) == 12
                stored = await client.call_tool(
                    "memory_store", {"content": f"The {mode} fox runs", "subject": mode}
                )
                assert not stored.is_error, stored
                found = await client.call_tool("memory_search", {"query": f"{mode} fox"})
                assert f"The {mode} fox runs" in found.content[0].text
                refusal = await client.call_tool("memory_history", {"id": 10**6})
                assert refusal.is_error

    anyio.run(conversation)


def test_the_journal_names_the_client_by_its_request_or_its_user_agent(
    serve: Callable[..., Served], path: Path
) -> None:
    server = serve("--no-token")
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "1"},
    }
    newer = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
    newer["Mcp-Name"] = "memory_store"
    for number, (meta, more) in enumerate(
        [
            ({"_meta": envelope}, newer),
            ({}, {"User-Agent": "claude-code/2.1.0 (cli)"}),
            ({}, {"User-Agent": "python-httpx/1"}),
        ]
    ):
        arguments = {"content": f"tea {number}", "subject": "tea"}
        asked = request("tools/call", name="memory_store", arguments=arguments, **meta)
        answer = httpx.post(
            f"{server.url}/mcp", json=asked, headers=MCP_HEADERS | more, trust_env=False
        )
        assert answer.status_code == 200, answer.text
        assert not answer.json()["result"]["isError"], answer.text
    with memstore.open(path, embedder=None) as store:
        sources = [store.ledger.journal(fact.id)[0].source for fact in store.list()]
    assert sources == ["codex", "claude-code", "mcp"]


def test_handshake_of_a_read_only_token_says_read_only(
    guarded: Served, tokens: dict[str, str]
) -> None:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    assert "read-only" in guarded.ask("initialize", tokens["reader"], **hello)["instructions"]
    told = guarded.ask("initialize", tokens["work"], **hello)["instructions"]
    assert "memory_store" in told
    assert "read-only" not in told


def test_concurrent_clients_lose_no_writes(serve: Callable[..., Served], path: Path) -> None:
    names = [f"agent-{number}" for number in range(8)]
    with memstore.open(path, embedder=None) as store:
        secrets = {name: store.file.tokens.create(name, namespace=name)[1] for name in names}
    server = serve()

    def work(name: str) -> list[int]:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            ids = []
            for number in range(12):
                arguments = {"content": f"{name} {number}", "subject": name}
                answer = client.post(
                    "/mcp",
                    json=request("tools/call", name="memory_store", arguments=arguments),
                    headers=MCP_HEADERS | {"Authorization": f"Bearer {secrets[name]}"},
                )
                assert answer.status_code == 200, answer.text
                ids.append(answer.json()["result"]["structuredContent"]["id"])
            return ids

    with ThreadPoolExecutor(len(names)) as pool:
        stored = list(pool.map(work, names))
    assert len({number for ids in stored for number in ids}) == 8 * 12
    server.process.kill()  # what was acknowledged is on disk
    server.process.wait()
    with memstore.open(path, embedder=None) as store:
        for name, ids in zip(names, stored, strict=True):
            assert [fact.id for fact in store.within(name).list()] == ids
        assert store.file.doctor() == []


# -- start-up --------------------------------------------------------------------------------------


def refusal(server: Served) -> tuple[int, str]:
    code = server.end()
    return code, "".join(server.told)


def test_a_server_accepts_the_tokens_of_an_identity_provider(
    serve: Callable[..., Served], path: Path
) -> None:
    with identity_provider.providing() as provider:
        path.with_name("identity.toml").write_text(identity_provider.settings(provider))
        server = serve("--identity", str(path.with_name("identity.toml")))
        assert server.secret is None  # none is needed
        token = provider.token(groups=["search"])
        server.call("memory_store", token, content="The kettle is blue", subject="kettle")
        refused = server.post(request("tools/list"), provider.token())
        assert refused.status_code == 403
        assert server.post(request("tools/list"), "mst_" + "x" * 43).status_code == 401


@pytest.mark.parametrize("http", ["127.0.0.1:0", "0.0.0.0:0"])
def test_first_start_creates_a_token_and_shows_it_once(
    serve: Callable[..., Served], path: Path, http: str
) -> None:
    server = serve("--namespace", "work", http=http)
    told = "".join(server.told)
    assert "token 1 (first) reads and writes in work; its secret is shown this once" in told
    assert (
        f"claude mcp add --transport http memstore http://{server.address}/mcp "
        f'--header "Authorization: Bearer {server.secret}"\n'
    ) in told
    bare = httpx.post(
        f"{server.url}/mcp", json=request("tools/list"), headers=MCP_HEADERS, trust_env=False
    )
    assert bare.status_code == 401
    assert server.call("memory_status")["namespace"] == "work"
    again = serve(http=http)
    assert again.secret is None
    assert "mst_" not in "".join(again.told)
    assert again.post(request("tools/list"), server.secret).status_code == 200
    with memstore.open(path, embedder=None) as store:
        (token,) = store.file.tokens.list()
        assert (token.name, token.namespace, token.access) == ("first", "work", "write")
        assert store.file.doctor() == []


def test_server_refuses_to_start_without_a_valid_token(
    serve: Callable[..., Served], path: Path
) -> None:
    with memstore.open(path, embedder=None) as store:
        store.file.tokens.create("laptop", namespace=store.namespace)
        store.file.tokens.revoke("laptop")
    for http in ("127.0.0.1:0", "0.0.0.0:0"):
        code, told = refusal(serve(http=http))
        assert (code, "has no valid token" in told) == (1, True)
        assert "memstore token create" in told


@pytest.mark.parametrize(
    ("http", "flags"),
    [("0.0.0.0:0", []), ("127.0.0.1:0", ["--allow-host", "memory.example.com"])],
)
def test_remote_access_requires_a_token(
    serve: Callable[..., Served], path: Path, http: str, flags: list[str]
) -> None:
    code, told = refusal(serve("--no-token", *flags, http=http))
    assert (code, "--no-token serves this one only" in told) == (1, True)


def test_no_token_option_is_refused_once_a_token_exists(
    serve: Callable[..., Served], path: Path
) -> None:
    with memstore.open(path, embedder=None) as store:
        store.file.tokens.create("laptop", namespace=store.namespace)
    code, told = refusal(serve("--no-token"))
    assert code == 1
    assert "holds tokens, so requests need one: omit --no-token" in told


def test_a_read_only_server_creates_no_token(serve: Callable[..., Served], path: Path) -> None:
    memstore.open(path, embedder=None).close()
    code, told = refusal(serve("--read-only"))
    assert code == 1
    assert "memstore token create NAME" in told
    assert "--no-token" in told


def test_a_port_in_use_is_named(serve: Callable[..., Served]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, told = refusal(serve(http=f"127.0.0.1:{port}"))
    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in told
    assert "another program has the port" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--http", "8765"], "is not HOST:PORT"),
        (["--http", "localhost"], "is not HOST:PORT"),
        (["--http", "::1:80"], "is not HOST:PORT"),
        (["--http", "localhost:65536"], "is not HOST:PORT"),
        (["--http", "http://localhost:80"], "is not HOST:PORT"),
        (["--allow-host", "a.example"], "go with --http"),
        (["--no-token"], "go with --http"),
        (["--http", "localhost:0", "--allow-host", "http://a.example"], "--allow-host 'http:"),
        (["--http", "localhost:0", "--allow-origin", "a.example"], "--allow-origin 'a.example'"),
        (["--http", "localhost:0", "--allow-origin", "https://a.example/x"], "without a path"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    from memstore.faces.starting import every_flag

    with pytest.raises(SystemExit) as ended:
        every_flag.main([*flags, "--db", ":memory:"])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_unknown_host_is_a_one_line_error(serve: Callable[..., Served]) -> None:
    code, told = refusal(serve(http="no-such-host.invalid:80"))
    assert (code, told.startswith("memstore-mcp: cannot listen on no-such-host")) == (1, True)


def test_health_of_an_unreadable_database_gives_no_details(
    serve: Callable[..., Served], path: Path
) -> None:
    path.write_bytes(b"this is no database" * 100)
    server = serve()
    answer = server.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "version": memstore.__version__}
    answer = server.post(request("tools/list"))
    assert answer.status_code == 503
    assert str(path) not in answer.text
    path.unlink()  # once repaired, it serves without a restart
    assert server.get("/health").status_code == 200


def test_concurrent_health_checks_share_one_check(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    opened = threading.Event()

    def open_slowly() -> memstore.Store:
        opened.wait(30)
        return memstore.open(path, embedder=None)

    async def ask() -> list[int]:
        opening = Opening(open_slowly)
        gate = Gate(
            _nothing,
            Stores(opening),
            names=AcceptedNames.of("localhost", (), ()),
            writing=(),
            needs_token=False,
        )
        way = httpx.ASGITransport(gate)
        async with httpx.AsyncClient(transport=way, base_url="http://localhost") as client:
            told = [(await client.get("/health")).status_code for _ in range(3)]
            threads = [one for one in threading.enumerate() if "AnyIO" in one.name]
            assert len(threads) <= 2
            opened.set()
            while (answer := await client.get("/health")).status_code != 200:
                await anyio.lowlevel.checkpoint()
        opening.close()
        return [*told, answer.status_code]

    assert anyio.run(ask) == [503, 503, 503, 200]


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("nobody was let in")


@posix_only
def test_signal_during_opening_ends_the_server(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = ["--db", str(path), "--embedder", "none", "--http", f"0.0.0.0:{port}"]
    with raw(path, isolation_level=None) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")  # no other process can open it
        process = subprocess.Popen(
            [sys.executable, "-m", "memstore.faces.starting.quick_start", *flags],
            stderr=subprocess.PIPE,
        )
        assert wait_until(lambda: _listens(port))
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=15)  # while the file is locked
        assert (process.returncode, told) == (0, b"")


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def test_read_only_server_offers_only_reading_tools(
    serve: Callable[..., Served], path: Path
) -> None:
    memstore.open(path, embedder=None).close()
    server = serve("--read-only", "--no-token")
    assert {tool["name"] for tool in server.ask("tools/list")["tools"]} == READING


# -- shutdown --------------------------------------------------------------------------------------


@posix_only
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_signal_ends_the_server_with_open_connections(
    serve: Callable[..., Served], path: Path, name: str
) -> None:
    server = serve("--no-token")
    server.call("memory_store", content="kept", subject="s")  # its connection stays open
    with closing(server.connect()) as idle, closing(server.connect()) as half:
        half.sendall(_head(server, "Content-Length: 1000") + b"{")
        server.process.send_signal(getattr(signal, name))
        assert server.end() == 0
        assert idle.recv(1) == b""
    assert not Path(f"{path}-wal").exists()
    assert "Traceback" not in "".join(server.told)
    with memstore.open(path, embedder=None) as store:
        assert [fact.content for fact in store.list()] == ["kept"]


@pytest.fixture
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection that writes to the file, so that a call has to wait."""
    with raw(path, isolation_level=None, check_same_thread=False) as other:
        yield other


def _begin_call(server: Served) -> socket.socket:
    """Send a call that stores something, without reading its answer; return once it is received."""
    body = json.dumps(request("tools/call", **STORE)).encode()
    wire = server.connect()
    wire.sendall(_head(server, f"Content-Length: {len(body)}") + body)
    for _ in range(5):  # requests are read in order
        assert server.get("/health").status_code == 200
    return wire


@posix_only
def test_a_call_running_at_shutdown_is_answered(
    serve: Callable[..., Served], writing: sqlite3.Connection, path: Path
) -> None:
    server = serve("--no-token")
    server.call("memory_status")
    writing.execute("BEGIN IMMEDIATE")
    with closing(_begin_call(server)) as wire:
        server.process.send_signal(signal.SIGTERM)
        port = int(server.address.rpartition(":")[2])
        assert wait_until(lambda: not _listens(port))
        writing.execute("ROLLBACK")
        answer = wire.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert server.end() == 0
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 1


@posix_only
def test_hanging_call_does_not_delay_shutdown(
    serve: Callable[..., Served], writing: sqlite3.Connection, path: Path
) -> None:
    server = serve("--no-token")
    server.call("memory_status")
    writing.execute("BEGIN IMMEDIATE")
    with closing(_begin_call(server)) as wire:
        server.process.send_signal(signal.SIGTERM)
        assert server.end() == 0
        assert b"200" not in wire.recv(65536)[:16]
    writing.execute("ROLLBACK")
    with memstore.open(path, embedder=None) as store:
        assert store.count() == 0


def test_call_completes_after_its_client_disconnects(
    serve: Callable[..., Served], writing: sqlite3.Connection
) -> None:
    server = serve("--no-token")
    server.call("memory_status")
    writing.execute("BEGIN IMMEDIATE")
    _begin_call(server).close()
    writing.execute("ROLLBACK")
    assert wait_until(lambda: server.call("memory_list")["facts"])
    assert server.call("memory_list")["facts"][0]["content"] == "The kettle is blue"


def test_health_answers_while_all_call_threads_are_busy(
    serve: Callable[..., Served], writing: sqlite3.Connection
) -> None:
    server = serve("--no-token")
    server.call("memory_status")
    writing.execute("BEGIN IMMEDIATE")
    waiting = [threading.Thread(target=_post_alone, args=(server, n)) for n in range(40)]
    for thread in waiting:
        thread.start()
    for _ in range(50):
        assert server.get("/health").status_code == 200
    writing.execute("ROLLBACK")
    for thread in waiting:
        thread.join()
    assert server.call("memory_status")["active"] == 40


def _post_alone(server: Served, number: int) -> None:
    arguments = {"content": f"Kettle {number} is blue", "subject": "k"}
    httpx.post(
        f"{server.url}/mcp",
        json=request("tools/call", name="memory_store", arguments=arguments),
        headers=MCP_HEADERS,
        trust_env=False,
        timeout=60,
    )


# -- stores by namespace ---------------------------------------------------------------------------


def test_each_namespace_has_one_store_and_few_stay_open(
    open_store: Callable[..., memstore.Store],
) -> None:
    opening = Opening(lambda: open_store(embedder=None))
    stores = Stores(opening)
    first = stores.confined("first")
    assert stores.confined("first") is first
    fact = first.add("still works", subject="s")
    for number in range(MAX_STORES):
        stores.confined(f"namespace-{number}")
    assert stores.confined("first") is not first
    assert first.get(fact.id).content == "still works"  # a call that still has it can continue
    assert len(stores._open) == MAX_STORES
    opening.close()


def test_pending_facts_of_a_tokens_namespace_are_embedded(
    open_store: Callable[..., memstore.Store],
) -> None:
    with open_store(embedder=None, namespace="work") as wordless:
        fact = wordless.add("the fox runs", subject="fox")
        assert not fact.embedded
    opening = Opening(open_store)
    work = Stores(opening).confined("work")
    assert wait_until(lambda: work.get(fact.id).embedded)
    opening.close()


@pytest.mark.parametrize("missing", ["mcp_types", "uvicorn", "starlette"])
def test_missing_http_packages_name_the_extra(path: Path, missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from memstore.faces.starting.quick_start import main\n"
        f"main(['--db', {str(path)!r}, '--http', '127.0.0.1:0'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 2
    assert "pip install 'pymemstore[http]'" in ended.stderr
    assert missing in ended.stderr
    assert not path.exists()


def test_a_bad_body_of_a_head_request_ends_the_connection_and_nothing_else(
    serve: Callable[..., Served],
) -> None:
    server = serve()
    head = b"HEAD /mcp HTTP/1.1\r\nHost: " + server.address.encode()
    answer = server.raw(head + b"\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 4")
    assert server.ask("ping") == {}
    assert "Traceback" not in "".join(server.told)


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/hook", "/health", "/nothing"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_a_body_that_turns_out_invalid_is_answered_once(
    guarded: Served, method: str, path: str, pieces: int
) -> None:
    lines = f"{method} {path} HTTP/1.1\r\nHost: {guarded.address}\r\n"
    sent = f"{lines}Transfer-Encoding: chunked\r\n\r\n".encode(), b"1\r\n{\r\nno length\r\n"
    answer = guarded.raw(*(sent if pieces == 2 else (b"".join(sent),)))
    assert answer.startswith(b"HTTP/1.1 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert guarded.get("/livez").status_code == 200
    assert "Traceback" not in "".join(guarded.told)


PANICKING = """
from memstore._kernel import PanicException
from memstore.store.store import Store

def panicking(*_, **__):
    raise PanicException("index out of bounds")

Store.search = Store.subjects = panicking
"""


def test_a_panic_of_the_kernel_is_answered_and_the_server_goes_on(
    serve: Callable[..., Served],
) -> None:
    server = serve(first=PANICKING)
    for _ in range(10):  # more often than there are threads
        told = server.ask("tools/call", name="memory_search", arguments={"query": "tea"})
        assert told["isError"]
        assert "failed unexpectedly" in told["content"][0]["text"]
    added = server.ask(
        "tools/call", name="memory_store", arguments={"content": "Ana likes tea", "subject": "ana"}
    )
    assert not added["isError"]
    assert server.ask("ping") == {}
