"""What the programs import: a command imports only what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.sources import SOURCE, wings

import memstore

pytestmark = pytest.mark.process

ELSEWHERE = frozenset(
    """anyio asyncio concurrent.futures dataclasses email http httpx importlib.metadata inspect
    locale logging mcp numpy pathlib platform pydantic rich secrets socket ssl starlette
    tempfile urllib.parse urllib.request uuid uvicorn memstore.graph memstore.importing
    memstore.learn memstore.transfer memstore.file.doctor""".split()
)
"""Not needed by any command that reads or writes a few facts: the network, the colours of a
terminal, arrays, and slow modules of which only one function is used."""

STORE = frozenset("apsw datetime memstore._kernel memstore.database memstore.store".split())
"""What a command needs only if it opens a file."""

ARCHIVES = frozenset({"bz2", "lzma", "shutil"})
"""What argparse imports to ask for the width of a terminal."""


SPARED = frozenset(
    """__future__ apsw argparse atexit bisect collections collections.abc contextlib contextvars
    copy copyreg datetime enum functools gc gettext importlib importlib.machinery importlib.util
    itertools json json.decoder json.encoder json.scanner keyword math operator org org.python
    org.python.core re reprlib runpy threading types typing unicodedata warnings weakref
    zlib""".split()
)
"""All that a read brings of other people's modules, but for private ones: half of its start."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("imports") / "memory.db"
    with memstore.open(path, source="test") as store:
        store.add("Alice prefers dark mode", subject="alice")
        store.add("tea", subject="ben")  # so that the search finds something, whatever ran before
    return path


SERVER = ("-c", "from memstore.__main__ import mcp_server; mcp_server()")

PATIENT_HOOK = (  # on a busy machine, half a second may pass before it asks
    "from memstore.faces.hosts import remote; remote.HOST_SECONDS = 30; "
    "from memstore.__main__ import command_line; command_line()"
)


def imported(path: Path, *arguments: str, said: str = "") -> set[str]:
    """Return the modules that Python with these arguments imports beyond those of a bare start."""
    started = [sys.executable, "-X", "importtime"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
    environment["MEMSTORE_DB"] = str(path)
    environment["XDG_DATA_HOME"] = environment["LOCALAPPDATA"] = str(path.parent)

    def modules(*more: str) -> set[str]:
        done = subprocess.run(
            [*started, *more],
            env=environment,
            cwd=path.parent,
            input=said,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        lines = (line.rpartition("|") for line in done.stderr.splitlines())
        return {name.strip() for head, _, name in lines if head.startswith("import time:")}

    return modules(*arguments) - modules("-c", "pass")


def own(loaded: set[str]) -> list[str]:
    """Return the modules of the package; those of the kernel are one file."""
    ours = (name for name in loaded if name.startswith("memstore"))
    return sorted(name for name in ours if not name.startswith("memstore._kernel."))


def kilobytes(ours: list[str]) -> int:
    """Return how much source these modules have: what a start costs, however it is divided."""
    files = [SOURCE.joinpath(*name.split(".")[1:]) for name in ours]
    sources = [file / "__init__.py" if file.is_dir() else file.with_suffix(".py") for file in files]
    return sum(file.stat().st_size for file in sources if file.exists()) // 1000


@pytest.mark.parametrize(
    ("command", "needless", "most"),
    [
        ("--help", ELSEWHERE | STORE | ARCHIVES, 110),
        ("search --help", ELSEWHERE | STORE - {"datetime"}, 220),
        ("get 1", ELSEWHERE, 724),
        ("get 1 --json", ELSEWHERE, 724),
        ("list --json", ELSEWHERE, 820),
        ("status", ELSEWHERE, 856),
        ("task list", ELSEWHERE, 840),
        ("add tea --subject ana", ELSEWHERE, 910),
        ("search tea --json", ELSEWHERE | ARCHIVES, 1353),
    ],
)
def test_a_command_imports_only_what_it_uses(
    filled: Path, command: str, needless: frozenset[str], most: int
) -> None:
    loaded = imported(filled, "-m", "memstore", *command.split())
    packages = {name.rpartition(".")[0] for name in loaded}
    assert (loaded | packages) & needless == set()
    ours = own(loaded)
    assert kilobytes(ours) <= most, ours


EVENTS = {
    "SessionStart": {"session_id": "new", "source": "startup"},
    "UserPromptSubmit": {"session_id": "new", "prompt": "What does Alice drink in the morning?"},
}


@pytest.mark.parametrize(
    ("command", "more", "most"),
    [
        ("get 1", "", 69),
        ("search tea", "", 131),
        ("hook SessionStart", "", 102),
        ("hook UserPromptSubmit", "hashlib", 137),
    ],
)
def test_a_read_imports_few_modules(filled: Path, command: str, more: str, most: int) -> None:
    event = EVENTS.get(command.split()[-1], {})
    loaded = imported(filled, "-m", "memstore", *command.split(), said=json.dumps(event))
    others = {name for name in loaded if not name.startswith(("memstore", "_"))}
    private = {name for name in others if any(part.startswith("_") for part in name.split("."))}
    assert others - private - SPARED <= {*more.split()}
    ours = own(loaded)
    assert len(ours) <= most, ours


def test_a_start_against_a_server_imports_no_store(tmp_path: Path) -> None:
    folder = tmp_path / "memstore"
    folder.mkdir()
    url = "http://127.0.0.1:9/mcp"  # nobody listens there
    (folder / "servers.json").write_text(json.dumps({"servers": {url: {"token": "mst_x"}}}))
    event = json.dumps({"session_id": "new", "source": "startup"})
    words = ("-c", PATIENT_HOOK, "hook", "SessionStart", "--server", url)
    loaded = imported(tmp_path / "memory.db", *words, said=event)
    assert "http.client" in loaded
    packages = {name.rpartition(".")[0] for name in loaded}
    needless = {*ELSEWHERE, *STORE} - {"datetime", "email", "http", "socket", "ssl", "urllib.parse"}
    # What the file of the last error needs, which other hooks do not write:
    needless -= {"pathlib", "locale", "memstore.store"}
    assert (loaded | packages) & needless == set()
    assert "memstore.store.store" not in loaded


def test_the_start_of_a_session_imports_only_what_it_uses(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with memstore.open(path, source="test") as store:
        store.add("Alice prefers dark mode", subject="alice", category="preference")
        store.tasks.create("renew the certificate", due="2026-10-01T09:30:00Z")
        store.episodes.add(
            "why is it slow?", source="codex", thread="s", speaker="user", tags=["session"]
        )
    event = json.dumps({"session_id": "new", "source": "startup"})
    loaded = imported(path, "-m", "memstore", "hook", "SessionStart", "--host", "codex", said=event)
    packages = {name.rpartition(".")[0] for name in loaded}
    needless = {*ELSEWHERE, *ARCHIVES, "locale", "subprocess"}
    needless |= {"memstore.search.lookups.dates", "memstore.text.relative_days"}
    needless |= {"memstore.text.times"}
    assert (loaded | packages) & (needless | {"pathlib", "urllib.parse", "hashlib"}) == set()
    ours = own(loaded)
    assert "memstore.telling.briefing" in ours
    assert kilobytes(ours) <= 998, ours


def test_the_package_alone_imports_nothing(filled: Path) -> None:
    loaded = imported(filled, "-c", "import memstore")
    assert {name for name in loaded if name.startswith("memstore")} == {"memstore"}
    assert loaded & (ELSEWHERE | STORE) == set()


@pytest.mark.parametrize(
    "work",
    [
        "",
        "store.list(); store.status(); store.tasks.list(); store.history(subject='x')",
        "store.add('tea', subject='sue')",
    ],
    ids=["open", "read", "add"],
)
def test_a_store_imports_only_what_it_uses(filled: Path, work: str) -> None:
    start = f"import memstore; store = memstore.open({str(filled)!r})"
    loaded = imported(filled, "-c", f"{start}; {work or 'pass'}; store.close()")
    packages = {name.rpartition(".")[0] for name in loaded}
    assert (loaded | packages) & ELSEWHERE == set()


def test_a_program_that_adds_and_searches_enters_no_wing(filled: Path) -> None:
    start = f"import memstore; store = memstore.open({str(filled)!r})"
    work = "store.add('tea', subject='sue'); store.get(1); store.recall('tea', max_tokens=99)"
    loaded = imported(filled, "-c", f"{start}; {work}; store.close()")
    entered = {name for name in loaded for wing in wings() if f"{name}.".startswith(f"{wing}.")}
    assert entered == set()


def test_the_servers_help_does_not_import_the_server(filled: Path) -> None:
    start = "import sys; from memstore.__main__ import mcp_server; sys.argv[1:] = ['--help']"
    loaded = imported(filled, "-c", f"{start}; mcp_server()")
    assert "memstore.faces.starting.every_flag" in loaded
    assert loaded & ((ELSEWHERE | STORE) - {"logging"}) == set()


def test_a_server_lists_its_tools_before_importing_their_code(filled: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    loaded = imported(filled, *SERVER, said=f"{said}\n")
    packages = {name.rpartition(".")[0] for name in loaded}
    flags = {"argparse", "gettext", "textwrap", "shutil", "memstore.faces.options"}
    assert (loaded | packages) & (ELSEWHERE | STORE | flags) == set()
    ours = own(loaded)
    assert kilobytes(ours) <= 100, ours
    assert len(loaded) <= 60, sorted(loaded)


def test_a_call_imports_neither_the_sdk_nor_arrays(filled: Path) -> None:
    arguments = {"name": "memory_search", "arguments": {"query": "dark mode"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    meta = {"io.modelcontextprotocol/" + key: {} for key in ("clientCapabilities",)}
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
    arguments["_meta"] = meta
    loaded = imported(filled, *SERVER, said=f"{json.dumps(call)}\n")
    assert "memstore.faces.mcp.facts" in loaded
    assert "memstore.faces.mcp.tasks" not in loaded
    needless = (
        "anyio argparse asyncio dataclasses inspect mcp mcp_types pydantic starlette uvicorn httpx "
        "numpy pathlib rich memstore.faces.options"
    )
    assert loaded & set(needless.split()) == set()


def test_a_read_imports_no_ledger_where_the_machine_syncs(filled: Path) -> None:
    folder = filled.parent / "memstore" / "sync"
    folder.mkdir(parents=True)
    try:
        loaded = imported(filled, "-m", "memstore", "get", "1")
    finally:
        folder.rmdir()
    assert "memstore.database.origins" in loaded  # it asked on which device the fact was stored
    assert "memstore.store.ledger" not in loaded
