"""What a command answers, shown three ways: as JSON, as plain rows, or for people at a terminal.

Stored text is anybody's. Whatever is shown to people goes through :func:`visible` first, so that
no escape sequence in a fact reaches the terminal.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Progress
    from memstore.doctor import Finding
    from memstore.model import Fact, Operation, SearchHit, StoreStatus, Task

HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, with the ESC that starts an escape sequence
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of writing
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # line ends and marks that few programs expect
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e007f]"  # letters that a model reads and a person cannot see
)
NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Return text on one line, with what would act on a terminal, or hide there, spelt out."""
    return HIDDEN.sub(_spelt, text)


def visible_lines(text: str) -> str:
    """Return text with its own line ends kept, and everything else as in :func:`visible`."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(visible, lines))


def _spelt(match: re.Match[str]) -> str:
    char = match[0]
    if char in NAMED:
        return NAMED[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def standing(fact: Fact) -> str:
    """Return where a fact stands: its status, and what superseded it."""
    if fact.status == "superseded":
        return f"superseded by #{fact.superseded_by}"
    return fact.status


def compact(value: object) -> str:
    """Return a value as JSON on one line that is safe to show."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def changed(operation: Operation) -> dict[str, Any]:
    """Return what an operation set, without what only repeats the fact itself."""
    after = operation.after or {}
    return {} if operation.kind in ("add", "adopt") else after


class Show(Protocol):
    """The verbs a command answers with."""

    def done(self, sentence: str, value: Mapping[str, Any]) -> None:
        """Tell that something was done; programs get ``value``."""

    def note(self, sentence: str) -> None:
        """Say something beside the answer, on standard error."""

    def fact(self, fact: Fact) -> None:
        """Show one fact with all its fields."""

    def facts(self, facts: Sequence[Fact]) -> None:
        """Show facts, one after the other."""

    def hits(self, hits: Sequence[SearchHit]) -> None:
        """Show what a search found, with its scores."""

    def chain(self, facts: Sequence[Fact]) -> None:
        """Show how facts succeeded each other, oldest first."""

    def operations(self, operations: Sequence[Operation]) -> None:
        """Show lines of the journal."""

    def tasks(self, tasks: Sequence[Task]) -> None:
        """Show tasks."""

    def status(self, status: StoreStatus) -> None:
        """Show what a store holds."""

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str]) -> None:
        """Show what the doctor found, and what was made anew before."""

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        """Show how long work goes on; ``None`` where nobody looks."""


class JsonShow:
    """One JSON document on standard output; notes are JSON too, a line each, on standard error."""

    def done(self, sentence: str, value: Mapping[str, Any]) -> None:
        self._print(value)

    def note(self, sentence: str) -> None:
        print(to_json({"note": sentence}), file=sys.stderr)

    def fact(self, fact: Fact) -> None:
        self._print(fact.to_dict())

    def facts(self, facts: Sequence[Fact]) -> None:
        self._print([fact.to_dict() for fact in facts])

    def hits(self, hits: Sequence[SearchHit]) -> None:
        self._print(
            [
                {
                    "fact": hit.fact.to_dict(),
                    "score": hit.score,
                    "word_score": hit.word_score,
                    "vector_score": hit.vector_score,
                    "decay": hit.decay,
                }
                for hit in hits
            ]
        )

    def chain(self, facts: Sequence[Fact]) -> None:
        self.facts(facts)

    def operations(self, operations: Sequence[Operation]) -> None:
        from memstore import clock

        self._print([line._asdict() | {"at": clock.to_text(line.at)} for line in operations])

    def tasks(self, tasks: Sequence[Task]) -> None:
        self._print([task.to_dict() for task in tasks])

    def status(self, status: StoreStatus) -> None:
        self._print(status.to_dict())

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str]) -> None:
        from dataclasses import asdict

        found = [asdict(finding) for finding in findings]
        self._print({"healthy": not found, "findings": found, "rebuilt": list(rebuilt)})

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        return nullcontext()

    def _print(self, value: object) -> None:
        print(to_json(value))


def to_json(value: object) -> str:
    """Return a JSON document on one line, in which nothing can act on a terminal."""
    text = json.dumps(value, ensure_ascii=False)
    # None of these can stand outside a string there, and inside one this is how JSON spells them.
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress | None]:
    """Draw a bar on standard error while work goes on, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def minute(moment: datetime) -> str:
    """Return a moment to the minute, in the time zone of the machine."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
