"""Waiting times and installed packages for a host and its user, as one table.

    python -m benches.hosts WHEEL [--runs 8] [--rounds 15] [--beside]

Installs the wheel into an environment of its own, and measures there: from the start of
``memstore-mcp`` to its answers, what is installed, what the list of tools costs a model, and
whether the first requests of Claude Code and Codex have the tools; each on the machine as it is,
and beside two processes that keep a processor busy. Hosts that are not on the PATH are left out;
a stand-in on the loopback is their model. ``--beside`` also installs the wheel beside five client
libraries.

Take the figures on a quiet machine. They are medians; what is in brackets is the best.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.support.host_models import HostModels, serving
from tests.support.host_sessions import HOSTS, PROGRAMS, Session

from benches.start import Took, greet, list_tools, timed
from memstore.faces.mcp import answers, catalogue

BUSY = 2
PROMPT = "order something for breakfast"
BESIDE = ("crewai", "langchain", "autogen", "smolagents", "semantic-kernel")
WAITED_FOR = ("claude-code", "codex")
ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--runs", type=int, default=8, help="sessions of each host")
    parser.add_argument("--rounds", type=int, default=15, help="starts of the server")
    parser.add_argument("--beside", action="store_true", help="install beside other libraries")
    asked = parser.parse_args()
    wheel = asked.wheel.resolve(strict=True)
    os.environ.pop("PYTHONPATH", None)  # measure the wheel, not the sources
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = installed(folder / "memstore", [str(wheel)])
        tell("", "measured", "wanted")
        tell_size(python)
        tell_tools()
        for busy in (0, BUSY):
            with beside_loops(busy):
                tell_start(python.with_name("memstore-mcp"), folder / "m.db", asked.rounds, busy)
        for host in WAITED_FOR:
            if shutil.which(PROGRAMS[host]) is None:
                tell(f"tools in the first request, {host}", "not installed", "")
                continue
            for busy in (0, BUSY):
                with beside_loops(busy):
                    tell_first_requests(host, python.parent, folder, asked.runs, busy)
        if asked.beside:
            worked = [client for client in BESIDE if connects(folder, wheel, client)]
            tell("installs and imports beside", f"{len(worked)}/{len(BESIDE)}", "5/5")


def tell(what: str, measured: str, wanted: str) -> None:
    print(f"{what:58}{measured:>26}{wanted:>22}", flush=True)


@contextmanager
def beside_loops(count: int) -> Iterator[None]:
    """Keep this many processors busy."""
    loop = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(count)]
    try:
        yield
    finally:
        for one in loops:
            one.kill()
            one.wait()


def load(busy: int) -> str:
    return f"{busy} busy loops" if busy else "quiet"


def installed(environment: Path, requirements: list[str]) -> Path:
    """Create an environment with these packages; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", *requirements], check=True)
    return python


def tell_size(python: Path) -> None:
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    files = [file for file in packages.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    count = len([*packages.glob("*.dist-info")])
    tell("installed distributions; MB without bytecode", f"{count}; {megabytes:.0f}", "≤ 20; ≤ 95")


def tell_tools() -> None:
    shown = catalogue.offered().listed
    whole = answers.to_text({"jsonrpc": "2.0", "id": 1, "result": {"tools": shown}})
    read = [{n: tool[n] for n in ("name", "description", "inputSchema")} for tool in shown]
    measured = f"{len(whole):,}; {len(answers.to_text(read)):,}"
    tell("tools/list; what a model reads of it", measured, "≤ 7,000; ≤ 5,000")


def tell_start(server: Path, db: Path, rounds: int, busy: int) -> None:
    words = (str(server), "--db", str(db))
    timed(db, words, list_tools)  # so that files derived from the package exist
    wanted = "≤ 300 ms" if busy else "≤ 80 ms"
    for name, wait in (("initialize", greet), ("tools/list", list_tools)):
        took = [timed(db, words, wait) for _ in range(rounds)]
        tell(f"start to {name}, {load(busy)}", _milliseconds(took), wanted)
    tell(f"memory then, {load(busy)}", f"{max(one.peak_mb for one in took):.0f} MB", "≤ 20 MB")


def _milliseconds(took: list[Took]) -> str:
    clock = [one.clock_ms for one in took]
    processor = median(one.processor_ms for one in took)
    return f"{median(clock):.0f} ({min(clock):.0f}) ms, CPU {processor:.0f}"


def tell_first_requests(host: str, programs: Path, folder: Path, runs: int, busy: int) -> None:
    """Start a host this many times, each with only what ``memstore setup`` registered."""
    with tempfile.TemporaryDirectory(dir=folder) as name, serving() as models:
        session = Session(Path(name), programs, models)
        del session.environment["PYTHONPATH"]
        session.run(str(programs / "memstore"), "setup", host)
        had = 0
        for _ in range(runs):
            models.requests.clear()
            session.run(*HOSTS[host](session, PROMPT))
            had += _has_tools(models)
    tell(f"tools in the first request, {host}, {load(busy)}", f"{had}/{runs}", f"{runs}/{runs}")


def _has_tools(models: HostModels) -> bool:
    """Whether the first request with the prompt has our tools."""
    for path, request in models.requests:
        if "ount" not in path and PROMPT in json.dumps(request) and request.get("tools"):
            return "memory_search" in json.dumps(request["tools"])
    return False


def connects(folder: Path, wheel: Path, client: str) -> bool:
    """Install the wheel and a client library in one environment, and connect with the library."""
    script = [str(ROOT / "tests" / "clients" / "connect.py"), client]
    asked = [sys.executable, *script, "--requirement"]
    requirement = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    try:
        python = installed(folder / client, [str(wheel), *requirement.split()])
    except subprocess.CalledProcessError:
        return False
    connected = subprocess.run([python, *script], capture_output=True, check=False)
    return connected.returncode == 0


if __name__ == "__main__":
    main()
