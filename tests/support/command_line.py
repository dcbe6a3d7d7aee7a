"""Runs the command line within the test's process, on the test's file."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore.faces.cli.main import main
from memstore.file.paths import is_server


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class CommandLine:
    """Calls ``main`` as a shell would run the program."""

    def __init__(
        self, db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.db = db
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        for name in ("DB", "NAMESPACE", "EMBEDDER", "MODEL", "OLLAMA", "OPENAI", "READ_ONLY"):
            monkeypatch.delenv(f"MEMSTORE_{name}", raising=False)
        monkeypatch.setenv("MEMSTORE_DB", str(db))
        monkeypatch.setenv("MEMSTORE_EMBEDDER", "none")

    def __call__(self, *argv: str | int | Path, stdin: str | bytes = "") -> Answer:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        self._capsys.readouterr()
        code = main([str(part) for part in argv])
        return Answer(code, *self._capsys.readouterr())

    def json(self, *argv: str | int | Path, stdin: str = "") -> Any:
        """Return the command's JSON output; it must succeed."""
        answer = self(*argv, "--json", stdin=stdin)
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    def error(self, *argv: str | int | Path) -> tuple[int, str]:
        """Return the exit code and the text of an error, the same with and without --json."""
        plain, told = self(*argv), self(*argv, "--json")
        assert plain.code == told.code != 0
        assert plain.out == told.out == ""
        document = json.loads(told.err)
        assert document["exit_code"] == told.code
        assert plain.err == f"memstore: {document['error']}\n"
        return plain.code, document["error"]

    def add(self, content: str, subject: str = "alice", *more: str) -> int:
        """Store a fact and return its id."""
        return int(self.json("add", content, "--subject", subject, *more)["id"])


@pytest.fixture(name="cli")
def cli_fixture(
    path: Path,
    empty_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> CommandLine:
    if not (is_server(path) or path.exists()):  # a fixture may have filled it
        shutil.copy(empty_file, path)
    elif is_server(path):
        memstore.open(path, embedder=None).close()
    return CommandLine(path, capsys, monkeypatch)
