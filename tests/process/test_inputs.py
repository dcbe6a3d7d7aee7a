"""Random inputs at the doors, `--inputs` at each: stdio, HTTP, imports and settings of hosts.

Each is answered or refused in words, and leaves no damage. Transcripts and replies of models have
their own tests, `tests/faces/hosts/test_hostile_transcripts.py` and `tests/learn`.
"""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.process.conftest import HELLO, RawClient
from tests.support.hostile import Hostile
from tests.support.original_files import original_file
from tests.support.served import MCP_HEADERS, Served

import memstore
from memstore import InvalidArgument, InvalidArgumentType, MemstoreError, Store
from memstore.faces.cli.main import main

pytestmark = [pytest.mark.process, pytest.mark.slow]

Record = Callable[[str, object], None]
FEW = 100
"""Inputs at each change; more are a long run."""
CANARY = "The canary sings in the morning"


@pytest.fixture
def inputs(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--inputs"))


@pytest.fixture
def chance(inputs: int, pytestconfig: pytest.Config) -> Hostile:
    """The same inputs at each change, others in a long run, which a failure names."""
    given = pytestconfig.getoption("--hypothesis-seed")
    seed = given or (23 if inputs <= FEW else random.randrange(2**32))
    print(f"repeat it with --inputs {inputs} --hypothesis-seed {seed}")
    return Hostile(int(seed))


def told(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(counted.items()))


def check_file(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        assert [fact.content for fact in store.of("all").list(subject="canary")] == [CANARY]


def check_log(said: str) -> None:
    at = said.find("Traceback")
    assert at < 0, said[at : at + 3000]


def filled(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        for number in range(20):
            store.add(f"Ana likes tea {number}", subject="ana")
            store.episodes.add(f"Ana said tea {number}", source="chat")
        store.add(CANARY, subject="canary")  # its id is not among those that are asked for


# -- requests --------------------------------------------------------------------------------------

METHODS = [
    "tools/call", "tools/call", "tools/call", "tools/call", "tools/list", "ping", "initialize",
    "resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete",
    "logging/setLevel", "notifications/cancelled", "notifications/initialized", "no/such",
]  # fmt: skip


def argument(chance: Hostile, name: str, schema: dict[str, Any]) -> Any:
    """Return a value for an argument of a tool: usually of its type."""
    if chance.random() < 0.15:
        return chance.value()
    kinds = [schema, *schema.get("anyOf", [])]
    kind = next((one["type"] for one in kinds if "type" in one), "string")
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if kind == "integer":
        return chance.randrange(1, 21) if "id" in name or name == "supersedes" else chance.value()
    if kind == "number":
        return chance.choice([0, 0.3, 1, -1, 1e308])
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "array":
        return [chance.value() for _ in range(chance.randrange(3))]
    if kind == "object":
        return {chance.text()[:30]: chance.value()}
    return chance.text()


def message(chance: Hostile, number: int, tools: list[dict[str, Any]]) -> dict[str, Any]:
    method = chance.choice(METHODS)
    params: Any = {}
    if method == "tools/call":
        tool = chance.choice(tools)
        schema = tool["inputSchema"]
        given = {
            name: argument(chance, name, one)
            for name, one in schema["properties"].items()
            if name in schema.get("required", ()) or chance.random() < 0.3
        }
        given.pop("namespace", None)
        params = {"name": tool["name"], "arguments": given}
    elif method == "initialize":
        params = chance.changed(HELLO)
    elif chance.random() < 0.5:
        params = {name: chance.value() for name in ("uri", "name", "ref", "level", "requestId")}
    whole = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    if method.startswith("notifications/"):
        del whole["id"]
    return chance.changed(whole) if chance.random() < 0.3 else whole


def is_request(raw: bytes, number: int) -> bool:
    """Return whether a line has to be answered with its id."""
    try:
        value = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return False
    is_call = isinstance(value, dict) and isinstance(value.get("method"), str)
    return is_call and value.get("jsonrpc") == "2.0" and value.get("id") == number


def test_stdio_answers_whatever_comes(
    path: Path, inputs: int, chance: Hostile, record_property: Record
) -> None:
    filled(path)
    counted = Counter[str]()
    client = RawClient(path, "--embedder", "none", "--tools", "facts,tasks,episodes")
    out, into = client.process.stdout, client.process.stdin
    assert out is not None
    assert into is not None
    client.hello()
    tools = client.request("tools/list")["tools"]
    try:
        for number in range(1000, 1000 + inputs):
            raw = chance.encoded(message(chance, number, tools))
            if chance.random() < 0.2:
                raw = chance.damaged(raw)
            raw = raw.replace(b"\n", b" ").replace(b"\r", b" ")
            ping = {"jsonrpc": "2.0", "id": f"after {number}", "method": "ping"}
            into.buffer.write(raw + b"\n" + json.dumps(ping).encode() + b"\n")
            into.buffer.flush()
            answered, pinged = not is_request(raw, number), False
            while not (answered and pinged):
                answer = client.receive()
                answered |= answer.get("id") == number
                pinged |= answer.get("id") == f"after {number}"
                if answer.get("id") == number:
                    failed = answer.get("result", {}).get("isError")
                    counted["errors" if "error" in answer or failed else "results"] += 1
        assert client.close() == 0
    finally:
        client.process.kill()
        errors = client.process.stderr
        assert errors is not None
        said = errors.read()
        client.process.wait()
        for pipe in (into, out, errors):
            with suppress(BrokenPipeError):
                pipe.close()
    check_log(said)
    check_file(path)
    record_property("counts", f"{inputs} inputs, {told(counted)}, 0 unanswered")


PATHS = [*["/mcp"] * 30, "/mcp/", "/", "/health", "/.well-known/x", "/mcp?answers=lines",
         "/mcp?answers=%00", "//mcp", "/mcp/../mcp", "*", "/" + "x" * 9000]  # fmt: skip
HEADERS = [
    "Host: evil.example", "Host: [::1", "Origin: http://evil.example", "Origin: null",
    "Accept: */*", "Accept: text/html", "Content-Type: text/plain", "Content-Length: -1",
    "Content-Length: 99999999999", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip",
    "Mcp-Session-Id: x", "Mcp-Protocol-Version: 1999-01-01", "Last-Event-ID: 3",
    "Expect: 100-continue",
    "Authorization: Basic eA==", "Authorization: Bearer mst_x", "Connection: close", "X: \xff",
    "No-Colon", ": empty", "Cookie: " + "c" * 20_000,
]  # fmt: skip


def http_input(
    chance: Hostile, number: int, server: Served, tools: list[dict[str, Any]]
) -> tuple[bytes, bool]:
    """Return the bytes of a request, and whether it is whole: one that is not is never answered."""
    body = chance.encoded(message(chance, number, tools))
    if chance.random() < 0.2:
        body = chance.damaged(body)
    others = ["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PO ST", "\0"]
    method = chance.choice(["POST"] * 8 + others)
    lines = [f"{method} {chance.choice(PATHS)} HTTP/{chance.choice(['1.1'] * 9 + ['1.0', '3'])}"]
    named = {"Host": server.address, **MCP_HEADERS, "Content-Length": str(len(body))}
    if chance.random() < 0.9:
        named["Authorization"] = f"Bearer {server.secret}"
    lines += [f"{name}: {value}" for name, value in named.items() if chance.random() < 0.98]
    is_whole = len(lines) >= len(named) + 1
    if chance.random() < 0.2:
        lines += chance.choices(HEADERS, k=chance.randrange(1, 3))
        is_whole = False
    raw = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body
    if chance.random() < 0.1:
        return chance.damaged(raw), False
    return raw, is_whole


def exchanged(server: Served, raw: bytes, *, is_whole: bool) -> bytes:
    """Send bytes, and the end of the input if there may be no answer; return the answer."""
    answer = b""
    with closing(server.connect()) as wire, suppress(OSError):
        wire.sendall(raw)
        if not is_whole:
            wire.shutdown(socket.SHUT_WR)
        while part := wire.recv(65536):
            answer += part
    return answer


def test_http_answers_whatever_comes(
    path: Path, inputs: int, chance: Hostile, record_property: Record
) -> None:
    filled(path)
    counted = Counter[str]()
    server = Served(path, "--tools", "facts,tasks,episodes")
    try:
        with memstore.open(path, embedder=None) as store:
            server.secret = store.file.tokens.create("attack", namespace=store.namespace)[1]
        tools = server.ask("tools/list")["tools"]
        for number in range(inputs):
            raw, is_whole = http_input(chance, number, server, tools)
            answer = exchanged(server, raw, is_whole=is_whole)
            status = answer[9:12].decode() if answer.startswith(b"HTTP/1.") else "no answer"
            counted[f"of {status}"] += 1
            assert not status.startswith("5"), (status, raw[:2000], answer[:2000])
            assert answer or not is_whole, raw[:2000]
            has_token = server.secret.encode() in raw
            assert has_token or b'"result"' not in answer, (raw[:2000], answer[:2000])
        assert server.ask("ping") == {}
    finally:
        server.close()
    check_log("".join(server.told))
    check_file(path)
    record_property("counts", f"{inputs} inputs, {told(counted)}")


# -- files -----------------------------------------------------------------------------------------


def exported(folder: Path) -> list[dict[str, Any]]:
    with memstore.open(folder / "source.db", embedder=None) as store:
        one = store.add("Ana lives in Oslo", subject="ana", metadata={"n": 1}, user_id="ana")
        store.add("Ana lives in Rome", subject="ana", supersedes=one.id, any_subject=True)
        told = store.episodes.add("Ana: I moved", source="chat", tags=["home"], thread="t")
        store.add("Ana moved", subject="ana", episode_id=told.id)
        store.delete(store.add("gone", subject="x").id)
        return [json.loads(line) for line in store.transfer.export()]


def foreign(chance: Hostile, source: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number in range(chance.randrange(1, 4)):
        text, at = f"Ana likes {chance.text()}", "2026-03-01T09:00:00Z"
        if source == "mem0":
            rows.append({"id": f"m{chance.randrange(10**6)}", "memory": text, "user_id": "ana",
                         "metadata": {"n": number}, "created_at": at, "updated_at": at,
                         "categories": ["a"], "run_id": None})  # fmt: skip
        elif source == "engram":
            rows.append({"id": f"e{chance.randrange(10**6)}", "content": text, "group_id": "g",
                         "tags": ["a"], "created_at": at, "valid_at": at})  # fmt: skip
        else:
            rows.append({"type": "entity", "name": "Ana", "entityType": "person",
                         "observations": [text, f"{number}"]})  # fmt: skip
            rows.append({"type": "relation", "from": "Ana", "to": "Ben", "relationType": "knows"})
    return [chance.changed(row) for row in rows]


def attempt(store: Store, source: str, file: Path, skip: bool) -> str:
    before = store.of("all").count(active_only=False), store.of("all").episodes.count()
    try:
        if source == "export":
            with file.open(encoding="utf-8") as lines:
                store.transfer.import_(lines)
        else:
            store.transfer.import_from(source, file, skip_damaged=skip)
    except (MemstoreError, InvalidArgument, InvalidArgumentType, UnicodeDecodeError) as error:
        said = str(error)
    else:
        return "imported"
    after = store.of("all").count(active_only=False), store.of("all").episodes.count()
    assert said
    assert after == before, (source, said)
    return "refused"


def test_imports_take_or_refuse_whatever_comes(
    path: Path, tmp_path: Path, inputs: int, chance: Hostile, record_property: Record
) -> None:
    filled(path)
    counted = Counter[str]()
    lines = exported(tmp_path)
    table = original_file(tmp_path / "original.db", 6).read_bytes()
    file = tmp_path / "input"
    with memstore.open(path, embedder=None, durability="normal") as store:
        for _ in range(inputs):
            source = chance.choice(["export", "mem0", "engram", "server-memory", "memstore"])
            if source == "memstore":
                raw = chance.damaged(table)
            elif source == "export":
                some = [{kind: chance.changed(one) if isinstance(one, dict) else one
                         for kind, one in line.items()} for line in lines]  # fmt: skip
                raw = b"\n".join(map(chance.encoded, some))
            else:
                rows = foreign(chance, source)
                whole = chance.choice([rows, {"results": rows}]) if chance.random() < 0.3 else None
                raw = chance.encoded(whole) if whole else b"\n".join(map(chance.encoded, rows))
            if source != "memstore" and chance.random() < 0.3:
                raw = chance.damaged(raw)
            file.write_bytes(raw)
            counted[attempt(store, source, file, chance.random() < 0.3)] += 1
        assert store.file.doctor(deep=True) == []
    check_file(path)
    record_property("counts", f"{inputs} inputs, {told(counted)}")


# -- settings --------------------------------------------------------------------------------------

SETTINGS = {
    "codex": ".codex/config.toml",
    "gemini-cli": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "zed": ".config/zed/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
}
SERVERS = ["mcpServers", "context_servers", "mcp_servers", "hooks", "theme", "memstore", "a b", "é"]


def commented(chance: Hostile, value: Any, indent: int = 0) -> str:
    """Write JSON with comments, commas at the end and any spaces."""
    gap = chance.choice(["", " ", "\n" + "  " * indent, " // c }\n", " /* [ */ ", "\t", "\r\n"])
    if isinstance(value, dict):
        inner = [f"{gap}{json.dumps(name)}:{gap}{commented(chance, one, indent + 1)}"
                 for name, one in value.items()]  # fmt: skip
        last = "," if inner and chance.random() < 0.2 else ""
        return "{" + ",".join(inner) + last + gap + "}"
    if isinstance(value, list):
        return "[" + ",".join(gap + commented(chance, one, indent + 1) for one in value) + gap + "]"
    return json.dumps(value)


def settings(chance: Hostile, depth: int = 0) -> Any:
    if depth > 2 or chance.random() < 0.2:
        return chance.choice([1, True, None, "x", "é\u2028", [], {}, [1, "a"], 0.5])
    names = chance.sample(SERVERS, k=chance.randrange(4))
    return {name: settings(chance, depth + 1) for name in names}


def toml(chance: Hostile) -> str:
    tables = ["mcp_servers.other", "mcp_servers.memstore", 'projects."/a b"', "mcp_servers",
              "hooks", "mcp_servers.other.env", "[list]", "a.b"]  # fmt: skip
    lines = [chance.choice(["", "# mine", 'model = "o3"', "a.c = 1", "x = '''\n[no]\n'''"])]
    for table in chance.sample(tables, k=chance.randrange(5)):
        lines += chance.choice([[], [""], ["# above", ""], ["", "# note"]])
        lines.append(f"[{table}]" + chance.choice(["", "  # why", " "]))
        lines += chance.sample(['command = "x"', "args = [1,\n 2]", 'k = "#"', "# in", "z = {a=1}"],
                               k=chance.randrange(3))  # fmt: skip
    return chance.choice(["\n", "\n", "\r\n"]).join(lines) + chance.choice(["", "\n", "\n\n"])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MEMSTORE_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("memstore", "memstore-mcp"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(programs))
    return tmp_path / "home"


def test_setup_undoes_itself_whatever_the_settings(
    home: Path,
    inputs: int,
    chance: Hostile,
    record_property: Record,
    capsys: pytest.CaptureFixture[str],
) -> None:
    counted = Counter[str]()
    for number in range(inputs):
        host = chance.choice(list(SETTINGS))
        text = toml(chance) if host == "codex" else commented(chance, settings(chance))
        if chance.random() < 0.1 and host != "codex":
            text = "\ufeff" + text
        raw = text.encode()
        if chance.random() < 0.15:
            raw = chance.damaged(raw)
        file = home / SETTINGS[host]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
        first = main(["setup", host])
        once = file.read_bytes()
        if first == 0:
            assert main(["setup", host]) == 0, (number, raw)
            assert file.read_bytes() == once, (number, raw)
            assert main(["setup", "--uninstall"]) == 0, (number, raw)
        else:
            main(["setup", "--uninstall"])
        said = capsys.readouterr()
        assert "Traceback" not in said.err, (number, raw)
        assert file.read_bytes() == raw, (number, host, raw, once, file.read_bytes())
        counted["set up" if first == 0 else "refused"] += 1
    record_property("counts", f"{inputs} inputs, {told(counted)}, every file restored")
