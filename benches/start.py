"""The time of the programs from start to answer, compared with a Python that does nothing.

    python -m benches.start [--facts 100000] [--rounds 15] [--db FILE] [--program memstore-mcp]

The list of tools is what a host waits for before its first request: beside ours, a loop of ten
lines, and the echo server of the protocol's SDK.

Whole processes, in turn, median and best of the rounds. Processor time is told beside the time on
the clock, because a shared machine adds to the latter, and how often it is that of a Python that
does nothing. The package must be compiled, as pip
leaves it: ``python -m compileall`` does so. A file that is named and there already is used as it
is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import IO, Any, NamedTuple

import memstore
from benches.corpus import facts as made_facts
from benches.corpus import questions

QUESTION = questions(1)[0]
PYTHON = (sys.executable, "-c")
MEMSTORE = (sys.executable, "-m", "memstore")
EVENTS = {
    "SessionStart": {"session_id": "bench", "source": "startup"},
    "UserPromptSubmit": {"session_id": "bench", "prompt": QUESTION},
}
SERVER = (*PYTHON, "from memstore.__main__ import mcp_server; mcp_server()")
RAW_LOOP = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = {"tools": []} if asked["method"] == "tools/list" else {"capabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
SDK_ECHO = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def listed(context, params):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=schema)])
async def serve():
    server = Server("echo", on_list_tools=listed)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
anyio.run(serve)
"""
IMPLEMENTATION = {"name": "bench", "version": "1"}


class Took(NamedTuple):
    clock_ms: float
    processor_ms: float
    peak_mb: float


def command(*words: str) -> Callable[[Path], Took]:
    def run(db: Path) -> Took:
        return timed(db, words, _read)

    return run


def hook(event: str) -> Callable[[Path], Took]:
    """Run the hook of an event, which reads what the host tells of it."""
    return lambda db: timed(db, (*MEMSTORE, "hook", event), lambda process: _tell(process, event))


def _tell(process: subprocess.Popen[str], event: str) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(EVENTS[event]))
    process.stdin.close()
    _read(process)


def _read(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    process.stdout.read()


def tools_of(*words: str) -> Callable[[Path], Took]:
    """Start a server, shake hands, and measure the time to the list of its tools."""
    return lambda db: timed(db, words, list_tools)


def first_search(db: Path) -> Took:
    """Start a server, shake hands, search, and measure the time to the answer."""
    return timed(db, SERVER, _search)


def greet(process: subprocess.Popen[str]) -> None:
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": IMPLEMENTATION}
    _send(process, {"id": 1, "method": "initialize", "params": greeting})
    _answer(process.stdout)
    _send(process, {"method": "notifications/initialized"})


def list_tools(process: subprocess.Popen[str]) -> None:
    greet(process)
    _send(process, {"id": 2, "method": "tools/list"})
    listed = _answer(process.stdout)
    assert "result" in listed, listed


def _search(process: subprocess.Popen[str]) -> None:
    greet(process)
    asked = {"name": "memory_search", "arguments": {"query": QUESTION}}
    _send(process, {"id": 2, "method": "tools/call", "params": asked})
    found = _answer(process.stdout)
    assert "result" in found, found


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def _answer(lines: IO[str] | None) -> dict[str, Any]:
    assert lines is not None
    message: dict[str, Any] = json.loads(lines.readline())
    return message


def timed(
    db: Path, words: tuple[str, ...], wait: Callable[[subprocess.Popen[str]], object]
) -> Took:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    environment["MEMSTORE_DB"] = str(db)
    started = time.perf_counter()
    with subprocess.Popen(words, env=environment, encoding="utf-8", **pipes) as process:
        wait(process)
        ended = time.perf_counter()
        peak_mb = _peak_mb(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return Took(1000 * (ended - started), 1000 * (used.ru_utime + used.ru_stime), peak_mb)


def _peak_mb(pid: int) -> float:
    """Return the peak memory of a process; 0 if the system does not report it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peak[0]) / 1024 if peak else 0.0


TASKS = {
    "python": command(*PYTHON, "pass"),
    "python, argparse and json": command(*PYTHON, "import argparse, json"),
    "memstore --help": command(*MEMSTORE, "--help"),
    "memstore get 1": command(*MEMSTORE, "get", "1"),
    "memstore list --json --limit 10": command(*MEMSTORE, "list", "--json", "--limit", "10"),
    "memstore search --json": command(*MEMSTORE, "search", "--json", QUESTION),
    "memstore add": command(*MEMSTORE, "add", "Alice drinks tea", "--subject", "alice"),
    "memstore hook SessionStart": hook("SessionStart"),
    "memstore hook UserPromptSubmit": hook("UserPromptSubmit"),
    "tools/list: a loop of ten lines": tools_of(*PYTHON, RAW_LOOP),
    "tools/list: memstore-mcp": tools_of(*SERVER),
    "tools/list: echo server of the SDK": tools_of(*PYTHON, SDK_ECHO),
    "memstore-mcp, first search": first_search,
}


REACH = {
    "memstore --help": {None: 80},
    "memstore search --json": {100_000: 150, 1_000_000: 500},
    "memstore-mcp, first search": {100_000: 200, 1_000_000: 600},
}
"""Milliseconds on the clock of a quiet machine, by how many facts there are."""


def reach(task: str, facts: int) -> float | None:
    """Return the time limit of a task; ``None`` if there is none for this many facts."""
    limits: dict[int | None, int] = REACH.get(task, {})
    return limits.get(facts, limits.get(None))


def fill(db: Path, count: int) -> None:
    with memstore.open(db, source="bench", durability="normal") as store:
        facts = made_facts(count)
        while batch := list(islice(facts, 5000)):
            store.add_many(batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--program", help="an installed memstore-mcp, for a line of its own")
    asked = parser.parse_args()
    if asked.program:
        TASKS[f"tools/list: {asked.program[-20:]}"] = tools_of(asked.program)
    with tempfile.TemporaryDirectory() as folder:
        db = asked.db or Path(folder) / "start.db"
        if not db.exists():
            fill(db, asked.facts)
        for run in TASKS.values():  # so that the derived files exist
            run(db)
        took: dict[str, list[Took]] = {name: [] for name in TASKS}
        for _ in range(asked.rounds):
            for name, run in TASKS.items():
                took[name].append(run(db))
    print(
        f"{'ms':34}{'median':>9}{'best':>9}{'processor':>11}{'best':>9}{'to Python':>11}"
        f"{'peak MB':>9}{'reach':>8}"
    )
    bare = min(one.processor_ms for one in took["python"])
    for name, rounds in took.items():
        clock, processor, peak = zip(*rounds, strict=True)
        most = reach(name, asked.facts)
        told = "" if most is None else f"{most:8} {'yes' if median(clock) <= most else 'no'}"
        print(
            f"{name:34}{median(clock):9.1f}{min(clock):9.1f}"
            f"{median(processor):11.1f}{min(processor):9.1f}{min(processor) / bare:11.1f}"
            f"{max(peak):9.1f}{told}"
        )


if __name__ == "__main__":
    main()
