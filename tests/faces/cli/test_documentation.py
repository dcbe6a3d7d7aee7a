"""docs/cli.md says what the commands say of themselves; its samples are one session."""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console
from tests.test_package import import_file

from memstore.faces.cli import command as commands
from memstore.faces.cli import main as face
from memstore.faces.cli import render_terminal
from memstore.faces.cli.render import JsonShow, PlainShow
from memstore.settings import Settings
from memstore.text.escaping import visible

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"

SAMPLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)

NORMAL = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z)?", "<time>"),
    (r"\d{8}T\d{6}Z", "<time>"),
    (r"\d{4}-\d\d-\d\d(?![\d-])", "<date>"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>"),
    (r"[\d,]+ KiB", "<size>"),
    (r"mst_[\w-]{43}", "<secret>"),
    (r"\d+:[0-9a-f]{64}", "<head>"),
)


class Typist(io.StringIO):
    """A terminal on which "y" is typed, with echo."""

    def readline(self, size: int = -1) -> str:
        print("y", file=sys.stderr)
        return "y\n"


class Session:
    """Runs the lines of the samples as a shell would, in a temporary home."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.home = root / "home" / "alice"
        self.home.mkdir(parents=True)
        for name in Settings._fields:
            monkeypatch.delenv(f"MEMSTORE_{name.upper()}", raising=False)
        monkeypatch.setenv("XDG_DATA_HOME", str(self.home / ".local/share"))
        monkeypatch.setenv("MEMSTORE_DB", str(self.home / ".local/share/memstore/memory.db"))
        monkeypatch.chdir(self.home)
        monkeypatch.setattr(face, "_show", self._show)
        monkeypatch.setattr(commands, "can_ask", lambda: True)
        monkeypatch.setattr("sys.stdin", Typist())
        # The folder's real name is replaced before text is wrapped, so that it does not matter.
        monkeypatch.setattr(render_terminal, "visible", lambda text: visible(self._at_home(text)))

    def answer(self, line: str) -> str:
        command, _, pipe = line.partition(" | ")
        self._piped = bool(pipe)
        self._screen = io.StringIO()
        with redirect_stdout(self._screen), redirect_stderr(self._screen):
            face.main(shlex.split(command)[1:])
        told = self._at_home(self._screen.getvalue())
        if pipe:
            columns = [int(n) - 1 for n in pipe.removeprefix("cut -f ").split(",")]
            rows = [row.split("\t") for row in told.splitlines()]
            told = "".join("\t".join(row[n] for n in columns) + "\n" for row in rows)
        return "\n".join(part.rstrip() for part in told.rstrip("\n").split("\n"))

    def _at_home(self, text: str) -> str:
        return text.replace(str(self.root), "")

    def _show(self, as_json: bool) -> commands.Show:
        if as_json:
            return JsonShow()
        if self._piped:
            return PlainShow()
        console = Console(file=self._screen, width=render_terminal.WIDEST, highlight=False)
        return render_terminal.TerminalShow(console, console)

    def replayed(self, page: str) -> str:
        """Return the page with the current output of its commands."""
        return SAMPLE.sub(lambda sample: self._sample(sample[0]), page)

    def _sample(self, sample: str) -> str:
        lines = [line[2:] for line in sample.splitlines() if line.startswith("$ ")]
        return "".join(f"$ {line}\n{self.answer(line)}\n" for line in lines)


def normal(page: str) -> list[str]:
    for pattern, name in NORMAL:
        page = re.sub(pattern, name, page)
    return page.splitlines()


@pytest.mark.model
@pytest.mark.skipif(sys.platform == "win32", reason="its paths are those of POSIX")
def test_the_documented_session_matches_real_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert normal(page) == normal(Session(tmp_path, monkeypatch).replayed(page))


def test_the_page_says_what_the_commands_say_of_themselves() -> None:
    commands = import_file(PAGE.with_name("commands.py"))
    text = PAGE.read_text(encoding="utf-8")
    assert commands.page(text) == text, "run: python docs/commands.py"
