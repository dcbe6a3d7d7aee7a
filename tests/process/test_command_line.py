"""The command line as a process: start, exit and imports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import memstore
from memstore.faces.cli import main as face
from memstore.faces.cli.command import Command

pytestmark = pytest.mark.process

DOCS = Path(__file__).parent.parent.parent / "docs" / "cli.md"


def environment(db: Path, **more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
    return clean | {"MEMSTORE_DB": str(db), "MEMSTORE_EMBEDDER": "none"} | more


def run(db: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memstore", *argv],
        env=environment(db, **more),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.fixture
def filled(path: Path) -> Path:
    with memstore.open(path, embedder=None) as store:
        store.add_many({"content": f"fact {n} 緑茶", "subject": "x"} for n in range(2000))
    return path


def test_module_runs_and_prints_its_version(path: Path) -> None:
    done = run(path, "--version")
    assert (done.returncode, done.stdout) == (0, f"memstore {memstore.__version__}\n")


def test_piped_output_is_utf8_without_escapes_whatever_the_locale(filled: Path) -> None:
    done = run(filled, "list", "--limit", "3", LC_ALL="C", COLUMNS="20", PYTHONUTF8="0")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert [line.split("\t")[6] for line in done.stdout.splitlines()] == [
        f"fact {n} 緑茶" for n in range(3)
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("export",)])
def test_output_to_a_closed_pipe_ends_quietly(filled: Path, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "memstore", *command],
        env=environment(filled),
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert os.read(reader, 10)
    os.close(reader)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (face.NOBODY_READS, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_program_without_a_traceback(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, "add", "-", "--subject", "x"],
        env=environment(path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, errors) == (face.INTERRUPTED, b"", b"")


@pytest.mark.parametrize("program", ["command_line", "mcp_server"])
def test_ctrl_c_during_startup_ends_the_program_without_a_traceback(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT.format(program=program)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (face.INTERRUPTED, "", "")


def test_entry_points_handle_interrupted_imports() -> None:
    project = tomllib.loads((DOCS.parent.parent / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {
        "memstore": "memstore.__main__:command_line",
        "memstore-mcp": "memstore.__main__:mcp_server",
        "pymemstore": "memstore.__main__:mcp_server_or_help",
    }


INTERRUPTED_IMPORT = """
import sys
class Interrupting:
    def find_spec(self, name, *_):
        if name.startswith("memstore.faces."):
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from memstore import __main__ as programs
sys.exit(programs.{program}())
"""

STARTED = """
import sys, threading
from memstore.faces.cli import command, main
real = command.content_of
def content_of(text):
    print("reading", flush=True)
    return real(text)
command.content_of = content_of
sys.exit(main.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_and_progress_stays_off_standard_output(
    filled: Path, no_color: str, coloured: bool
) -> None:
    import pty

    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memstore", "get", "1"],
        env=environment(filled, NO_COLOR=no_color, TERM="xterm-256color"),
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    drawn = b""
    while True:
        try:
            part = os.read(main_end, 4096)
        except OSError:  # Linux says so when the last writer has closed
            break
        if not part:
            break
        drawn += part
    os.close(main_end)
    assert process.wait(timeout=60) == 0
    assert (b"36m" in drawn) == coloured
    assert "緑茶".encode() in drawn


def test_wrong_usage_exits_with_2(path: Path) -> None:
    unknown = run(path, "serch", "x")
    assert unknown.returncode == 2
    assert "there is no command 'serch' (did you mean search?)" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    contradiction = run(path, "list", "--embedder", "local", "--ollama", "http://localhost:1")
    assert contradiction.returncode == 2
    assert "Traceback" not in contradiction.stderr


def test_flags_may_precede_or_follow_the_command(filled: Path, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.db")
    assert run(filled, "--db", nowhere, "list").returncode == 3
    assert run(filled, "list", "--db", nowhere).returncode == 3
    before = run(filled, "--json", "get", "1")
    assert before.stdout == run(filled, "get", "1", "--json").stdout


def test_help_names_every_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert face.main([]) == 0
    everything = capsys.readouterr().out
    for name, entry in face.COMMANDS.items():
        assert re.search(rf"^  {name} +\S", everything, re.MULTILINE)
        assert face.main([*name.split(), "--help"]) == 0
        told = capsys.readouterr().out
        assert told.startswith(f"usage: memstore {name} ")
        assert entry.summary in told
        assert f"example:\n  {face.load(name).example.splitlines()[0]}" in told
    assert face.main(["task"]) == 0
    assert "task update" in capsys.readouterr().out
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "130"):
        assert f"\n  {code}" in everything


def test_the_catalogue_lists_the_commands_of_every_module() -> None:
    folder = Path(face.__file__).parent
    modules = [import_module(f"memstore.faces.cli.{file.stem}") for file in folder.glob("[!_]*.py")]
    described = {
        command.name: module.__name__
        for module in modules
        if module is not face
        for command in vars(module).values()
        if isinstance(command, Command)
    }
    listed = {name: entry.module for name, entry in face.COMMANDS.items()}
    assert described == {name: f"memstore.faces.cli.{module}" for name, module in listed.items()}


def test_every_command_is_in_the_documentation() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name in face.COMMANDS:
        assert re.search(rf"^### `{name}`$", text, re.MULTILINE), name
        assert f"memstore {name}" in text
    for code in ("0", "1", "2", "3", "4", "130", "141"):
        assert f"| {code} |" in text


def test_every_example_can_be_parsed() -> None:
    import shlex

    parser = face.parser()
    for command in map(face.load, face.COMMANDS):
        for line in command.example.splitlines():
            words = shlex.split(line.rsplit("| memstore", 1)[-1].removeprefix("memstore"))
            for stop in ("|", ">"):
                words = words[: words.index(stop)] if stop in words else words
            assert parser.parse_args(words).command is command


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors of POSIX")
@pytest.mark.parametrize(("redirection", "code"), [(">&-", 0), ("2>&-", 0), ("<&-", 0)])
def test_a_closed_stream_does_not_crash(filled: Path, redirection: str, code: int) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m memstore get 1 {redirection}'],
        env=environment(filled),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, b"")


def test_the_overview_fits_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    face.main([])
    own = capsys.readouterr().out.partition("options of every command")[0]
    assert max(map(len, own.splitlines())) <= 80


def test_graph_is_built_again_at_intervals_until_it_is_interrupted(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("Alice works at GitHub", subject="alice")
        command = [sys.executable, "-m", "memstore", "graph", "build", "--every", "1s"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        with subprocess.Popen(command, env=environment(path), **pipes) as running:  # type: ignore[call-overload]
            assert running.stdout.readline().startswith("built from 1 fact:")
            store.add("Bob Smith works at Codeberg", subject="bob")
            assert running.stdout.readline().startswith("built from 2 facts:")
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == (0, "", "stopped\n")
        assert {one.name for one in store.graph.entities()} >= {"Codeberg", "GitHub"}
