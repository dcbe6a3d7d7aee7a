"""What a command answers, shown three ways: as JSON, as plain rows, or for people at a terminal.

Whatever is shown to people goes through :func:`memstore.faces.escaping.visible` first, so that no
escape sequence in a fact reaches the terminal.
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

from memstore.faces.escaping import as_json, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Progress
    from memstore.domain.records import (
        Episode,
        EpisodeHit,
        Fact,
        JournalLine,
        SearchHit,
        StoreStatus,
        Task,
    )
    from memstore.upkeep.doctor import Finding

HEALTHY: Final = "healthy: everything derived agrees with the rows"


def standing(fact: Fact) -> str:
    """Return where a fact stands: its status, and what superseded it."""
    if fact.status == "superseded":
        return f"superseded by #{fact.superseded_by}"
    return fact.status


def compact(value: object) -> str:
    """Return a value as JSON on one line that is safe to show."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def changed(line: JournalLine) -> dict[str, Any]:
    """Return what a line set, without what only repeats the fact itself."""
    after = line.after or {}
    return {} if line.kind in ("add", "adopt") else after


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

    def journal(self, lines: Sequence[JournalLine]) -> None:
        """Show lines of the journal."""

    def tasks(self, tasks: Sequence[Task]) -> None:
        """Show tasks."""

    def episode(self, episode: Episode) -> None:
        """Show one episode with all its fields, however long it is."""

    def episodes(self, episodes: Sequence[Episode]) -> None:
        """Show episodes, one after the other."""

    def episode_hits(self, hits: Sequence[EpisodeHit]) -> None:
        """Show what a search in the log found, with its scores."""

    def status(self, status: StoreStatus) -> None:
        """Show what a store holds."""

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str]) -> None:
        """Show what the doctor found, and what was rebuilt before."""

    def rows(self, rows: Sequence[Sequence[object]], value: object) -> None:
        """Show lines of cells, ``None`` for an empty one; programs get ``value``."""

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        """Show the progress of long work; ``None`` where the output is not a terminal."""


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

    def journal(self, lines: Sequence[JournalLine]) -> None:
        from memstore.domain import clock

        self._print([line._asdict() | {"at": clock.to_text(line.at)} for line in lines])

    def tasks(self, tasks: Sequence[Task]) -> None:
        self._print([task.to_dict() for task in tasks])

    def episode(self, episode: Episode) -> None:
        self._print(episode.to_dict())

    def episodes(self, episodes: Sequence[Episode]) -> None:
        self._print([episode.to_dict() for episode in episodes])

    def episode_hits(self, hits: Sequence[EpisodeHit]) -> None:
        self._print(
            [
                {
                    "episode": hit.episode.to_dict(),
                    "score": hit.score,
                    "word_score": hit.word_score,
                    "similarity": hit.similarity,
                    "start": hit.start,
                    "stop": hit.stop,
                }
                for hit in hits
            ]
        )

    def status(self, status: StoreStatus) -> None:
        self._print(status.to_dict())

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str]) -> None:
        from dataclasses import asdict

        found = [asdict(finding) for finding in findings]
        self._print({"healthy": not found, "findings": found, "rebuilt": list(rebuilt)})

    def rows(self, rows: Sequence[Sequence[object]], value: object) -> None:
        self._print(value)

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        return nullcontext()

    def _print(self, value: object) -> None:
        print(to_json(value))


def to_json(value: object) -> str:
    """Return a JSON document on one line, in which nothing can act on a terminal."""
    # No hidden character can stand outside a string there.
    return as_json(json.dumps(value, ensure_ascii=False))


class ForPeople:
    """What the two ways share that people may watch."""

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        """Show the progress of long work on a terminal."""
        return progress_bar(title)


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
