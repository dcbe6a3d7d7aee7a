"""Plain rows for pipes and files: a line each, columns by tabs, the same at any width.

The columns are described in ``docs/cli.md`` and keep their order.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from memstore.faces.cli.render import HEALTHY, ForPeople, changed, compact
from memstore.faces.escaping import second, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class PlainShow(ForPeople):
    """Writes rows to standard output."""

    def done(self, sentence: str, value: Mapping[str, Any]) -> None:
        print(visible(sentence))

    def note(self, sentence: str) -> None:
        print(visible(sentence), file=sys.stderr)

    def fact(self, fact: Fact) -> None:
        print(f"id: {fact.id}\nstatus: {fact.status}")
        for name, value in fact.to_dict().items():
            if name not in ("id", "status"):
                print(f"{name}: {visible(value) if isinstance(value, str) else compact(value)}")

    def facts(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            _row(str(fact.id), *_cells(fact))

    def hits(self, hits: Sequence[SearchHit]) -> None:
        for hit in hits:
            _row(str(hit.fact.id), f"{hit.score:.3f}", *_cells(hit.fact))

    def chain(self, facts: Sequence[Fact]) -> None:
        self.facts(facts)

    def journal(self, lines: Sequence[JournalLine]) -> None:
        for line in lines:
            fact = "" if line.fact_id is None else str(line.fact_id)
            what = compact(changed(line))
            _row(str(line.id), second(line.at), line.kind, fact, line.actor, line.source, what)

    def tasks(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            marks = (task.status, task.priority, task.scope, task.project or "", task.due or "")
            _row(str(task.id), *map(str, marks), task.content)

    def episode(self, episode: Episode) -> None:
        print(f"id: {episode.id}\nstatus: {episode.status}")
        for name, value in episode.to_dict().items():
            if name != "id":
                print(f"{name}: {visible(value) if isinstance(value, str) else compact(value)}")

    def episodes(self, episodes: Sequence[Episode]) -> None:
        for episode in episodes:
            _row(str(episode.id), *_episode_cells(episode, episode.content))

    def episode_hits(self, hits: Sequence[EpisodeHit]) -> None:
        for hit in hits:
            near = "" if hit.similarity is None else f"{hit.similarity:.3f}"
            cells = _episode_cells(hit.episode, hit.excerpt)
            _row(str(hit.episode.id), f"{hit.score:.3f}", near, *cells)

    def status(self, status: StoreStatus) -> None:
        for name, value in status.to_dict().items():
            if isinstance(value, dict):
                for inner, number in value.items():
                    print(f"{name}.{visible(inner)}: {number}")
            else:
                print(f"{name}: {'' if value is None else visible(str(value))}")

    def rows(self, rows: Sequence[Sequence[object]], value: object) -> None:
        for cells in rows:
            _row(*("" if cell is None else str(cell) for cell in cells))

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str]) -> None:
        for sentence in rebuilt:
            print(visible(sentence))
        for finding in findings:
            mends = "repairable" if finding.repairable else "not repairable"
            _row(finding.check, mends, finding.message)
        if not findings:
            print(HEALTHY)


def _cells(fact: Fact) -> tuple[str, ...]:
    return (
        fact.status,
        "" if fact.superseded_by is None else str(fact.superseded_by),
        second(fact.created_at),
        fact.subject,
        fact.category,
        fact.content,
        compact(fact.metadata),
        fact.namespace,
    )


def _episode_cells(episode: Episode, text: str) -> tuple[str, ...]:
    return (
        episode.status,
        second(episode.created_at),
        episode.source or "",
        episode.name or "",
        ",".join(episode.tags),
        text,
        compact(episode.metadata),
        episode.namespace,
    )


def _row(*cells: str) -> None:
    print("\t".join(map(visible, cells)))
