"""The output of commands for programs: JSON or plain rows. For people, see ``render_terminal``.

Plain rows are for pipes and files: a line each, columns by tabs, the same at any width. The columns
are described in ``docs/cli.md`` and keep their order.

Whatever people may see goes through :func:`memstore.faces.escaping.visible` first, so that no
escape sequence in a fact reaches the terminal.
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from memstore.domain import clock
from memstore.faces.escaping import as_json, second
from memstore.frozen import asdict
from memstore.lazy import lazy_import
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich import console, progress

    from memstore.database.engine import Progress
    from memstore.domain import records
    from memstore.domain.episodes import Episode, EpisodeHit
    from memstore.domain.log import Act
    from memstore.domain.results import ScoreParts
    from memstore.domain.searches import GivenFact, RecordedSearch
    from memstore.domain.status import StoreStatus
    from memstore.domain.tasks import Task
    from memstore.faces import wording
    from memstore.file.findings import Finding
    from memstore.history.differences import Differences
    from memstore.text import dated

    Hits: TypeAlias = Sequence[records.SearchHit]
    EpisodeHits: TypeAlias = Sequence[EpisodeHit]
else:
    console = lazy_import("rich.console")
    progress = lazy_import("rich.progress")
    dated = lazy_import("memstore.text.dated")
    wording = lazy_import("memstore.faces.wording")

HEALTHY: Final = "healthy: everything derived agrees with the rows"
VERIFIED: Final = "verified: every line follows from the one before, and every row from the lines"


def compact(value: object) -> str:
    """Return a value as one line of JSON that is safe to print."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def in_one_line(value: object) -> str:
    """Return text unchanged and anything else as JSON, on one line that is safe to print."""
    return visible(value) if isinstance(value, str) else compact(value)


def changed(line: records.JournalLine) -> dict[str, Any]:
    """Return the fields that a journal line set, without those that repeat the fact itself."""
    after = line.after or {}
    return {} if line.kind in ("add", "adopt") else after


def answer_cells(search: RecordedSearch) -> tuple[str, str, str]:
    """Return what a search was given, how long the answer was and how long it took."""
    ids = [f"#{id_}" for id_ in search.facts] + [f"e{id_}" for id_ in search.episodes]
    tokens = "" if search.tokens is None else f"{search.tokens:,} tokens"
    took = "" if search.milliseconds is None else f"{search.milliseconds:.0f} ms"
    return " ".join(ids) or "nothing", tokens, took


def parts_text(parts: ScoreParts) -> str:
    """Return the parts of a score that are not empty."""
    *named, decay = parts._asdict().items()
    told = [f"{name} {part:.3f}" for name, part in named if abs(part) >= 0.0005]
    return " · ".join([*told, f"{decay[0]} {decay[1]:.2f}"] if decay[1] < 0.995 else told)


def hit_marks(hit: records.SearchHit) -> list[str]:
    """Return from which other project a hit comes, and which later facts may replace it."""
    marks = project_marks(hit)
    if hit.newer:
        marks.append(dated.newer_mark(", ".join(f"#{fact_id}" for fact_id in hit.newer)))
    return marks


def project_marks(hit: records.SearchHit | EpisodeHit) -> list[str]:
    return [] if hit.project is None else [dated.project_mark(hit.project)]


def scored(score: float, digits: int) -> str:
    """Return a score as text; empty for 0, which a hit has if nothing was compared.

    A smaller one, as age makes them in the classic ranking, keeps two significant digits.
    """
    if score >= 0.5 * 10**-digits:
        return f"{score:.{digits}f}"
    return f"{score:.2g}" if score else ""


class _Record(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


class JsonShow:
    """Prints one JSON document on standard output, and notes as JSON lines on standard error."""

    def done(self, shown: object, value: object) -> None:
        """Print ``value``.

        Other formats print a sentence about what was done, a text of several lines that is safe to
        print, or rows of cells, with ``None`` for an empty one.
        """
        self._print(value)

    text = rows = done

    def note(self, sentence: str) -> None:
        """Print a note on standard error."""
        print(to_json({"note": sentence}), file=sys.stderr)

    def fact(self, one: _Record, **more: str) -> None:
        self._print(one.to_dict() | more)

    episode = status = fact

    def facts(self, many: Sequence[_Record]) -> None:
        self._print([one.to_dict() for one in many])

    chain = tasks = episodes = facts

    def hits(
        self, hits: Sequence[records.SearchHit | EpisodeHit], *, explain: bool = False
    ) -> None:
        """Print hits with all their fields, whether or not ``explain`` is set."""
        self._print([hit.to_dict() for hit in hits])

    episode_hits = hits

    def found(self, hits: Hits, said: EpisodeHits, *, explain: bool = False) -> None:
        """Print facts, then what was said, in one list."""
        self.hits([*hits, *said], explain=explain)

    def journal(self, lines: Sequence[records.JournalLine]) -> None:
        self._print([line._asdict() | {"at": clock.to_text(line.at)} for line in lines])

    def acts(self, acts: Sequence[Act], *, paged: bool = False) -> None:
        """Print an object for each act, on a line of its own."""
        for act in acts:
            print(to_json(act.to_dict()), flush=not paged)

    def searches(self, found: Sequence[RecordedSearch]) -> None:
        self._print([one.to_dict() for one in found])

    def given(self, found: Sequence[GivenFact]) -> None:
        self._print([one.to_dict() for one in found])

    def differences(self, found: Differences) -> None:
        self._print(found.to_dict())

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str], locks: str) -> None:
        found = _worded(findings)
        self._print(
            {"healthy": not found, "findings": found, "rebuilt": list(rebuilt), "locks": locks}
        )

    def verified(self, findings: Sequence[Finding], head: records.Head) -> None:
        found = _worded(findings)
        self._print({"verified": not found, "findings": found, "head": str(head)})

    def progress(self, title: str) -> AbstractContextManager[Progress | None]:
        """Return a progress bar for a long operation; ``None`` if the output is not a terminal."""
        return nullcontext()

    def _print(self, value: object) -> None:
        print(to_json(value))


def _worded(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        {**asdict(finding), "message": wording.on_command_line(finding.message)}
        for finding in findings
    ]


def to_json(value: object) -> str:
    """Return a JSON document on one line, without control characters."""
    # No hidden character can stand outside a string there.
    return as_json(json.dumps(value, ensure_ascii=False))


@contextmanager
def progress_bar(title: str) -> Iterator[Progress | None]:
    """Draw a progress bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class PlainShow:
    progress = staticmethod(progress_bar)

    def done(self, sentence: str, value: Mapping[str, Any]) -> None:
        print(visible(sentence))

    def note(self, sentence: str) -> None:
        print(visible(sentence), file=sys.stderr)

    def text(self, text: str, value: Mapping[str, Any]) -> None:
        if text:
            print(text)

    def fact(self, one: records.Fact | Episode, **more: str) -> None:
        values = {"id": one.id, "status": one.status} | one.to_dict() | more
        for name, value in values.items():
            print(f"{name}: {in_one_line(value)}")

    episode = fact

    def facts(self, facts: Sequence[records.Fact]) -> None:
        for fact in facts:
            _row(fact.id, *_cells(fact))

    chain = facts

    def hits(self, hits: Hits, *, explain: bool = False) -> None:
        for hit in hits:
            more = [parts_text(hit.parts)] if explain else []
            more += hit_marks(hit)
            scores = {hit.fact.id: scored(hit.score, 3)}
            for fact in (*hit.before, hit.fact, *hit.after):
                is_hit = fact.id == hit.fact.id
                _row(fact.id, scores.get(fact.id), *_cells(fact), *(more if is_hit else ()))

    def journal(self, lines: Sequence[records.JournalLine]) -> None:
        for line in lines:
            what = compact(changed(line))
            _row(line.id, second(line.at), line.kind, line.fact_id, line.actor, line.source, what)

    def acts(self, acts: Sequence[Act], *, paged: bool = False) -> None:
        for act in acts:
            _row(act.line, second(act.at), act.actor, act.through, act.text)
        if not paged:
            sys.stdout.flush()

    def searches(self, found: Sequence[RecordedSearch]) -> None:
        for one in found:
            _row(one.id, second(one.at), one.client, one.tool, one.query, *answer_cells(one))

    def given(self, found: Sequence[GivenFact]) -> None:
        for one in found:
            _row(one.fact.id, one.searches, *_cells(one.fact))

    def differences(self, found: Differences) -> None:
        for one in found:
            by = (one.line, one.actor, one.through)
            _row(one.kind, one.fact_id, second(one.at), one.claim, one.text, *by, one.reason)

    def tasks(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            marks = (task.status, task.priority, task.scope, task.project, task.due_text)
            _row(task.id, *marks, task.content)

    def episodes(self, episodes: Sequence[Episode]) -> None:
        for episode in episodes:
            _row(episode.id, *_episode_cells(episode, episode.content))

    def episode_hits(self, hits: EpisodeHits, *, explain: bool = False) -> None:
        for hit in hits:
            near = None if hit.similarity is None else f"{hit.similarity:.3f}"
            _passage(hit, "", (scored(hit.score, 3), near), explain=explain)

    def found(self, hits: Hits, said: EpisodeHits, *, explain: bool = False) -> None:
        """Print facts, then what was said, whose ids begin with an ``e``."""
        self.hits(hits, explain=explain)
        for hit in said:
            _passage(hit, "e", (f"{hit.score:.3f}",), explain=explain)

    def status(self, status: StoreStatus) -> None:
        for name, value in status.to_dict().items():
            if isinstance(value, dict):
                for inner, number in value.items():
                    print(f"{name}.{visible(inner)}: {number}")
            else:
                print(f"{name}: {'' if value is None else visible(str(value))}")

    def rows(self, rows: Sequence[Sequence[object]], value: object) -> None:
        for cells in rows:
            _row(*cells)

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str], locks: str) -> None:
        for sentence in rebuilt:
            print(visible(sentence))
        self._findings(findings)
        if not findings:
            print(HEALTHY)
        print(f"locks: {locks}")

    def verified(self, findings: Sequence[Finding], head: records.Head) -> None:
        self._findings(findings)
        if not findings:
            print(VERIFIED)
        print(f"head: {head}")

    def _findings(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            mends = "repairable" if finding.repairable else "not repairable"
            _row(finding.check, mends, wording.on_command_line(finding.message))


def _cells(fact: records.Fact) -> tuple[object, ...]:
    return (
        fact.status,
        fact.superseded_by,
        second(fact.created_at),
        fact.subject,
        fact.category,
        fact.content,
        compact(fact.metadata),
        fact.namespace,
    )


def _episode_cells(episode: Episode, text: str) -> tuple[object, ...]:
    return (
        episode.status,
        second(episode.created_at),
        episode.source,
        episode.name,
        ",".join(episode.tags),
        text,
        compact(episode.metadata),
        episode.namespace,
    )


def _passage(hit: EpisodeHit, sign: str, scores: tuple[object, ...], *, explain: bool) -> None:
    """Print an episode between its neighbours, which have no scores."""
    why = [*([parts_text(hit.parts)] if explain else []), *project_marks(hit)]
    for one in (*hit.before, hit.episode, *hit.after):
        is_hit = one is hit.episode
        cells = _episode_cells(one, hit.excerpt if is_hit else one.content)
        marks = scores if is_hit else (None,) * len(scores)
        _row(f"{sign}{one.id}", *marks, *cells, *(why if is_hit else ()))


def _row(*cells: object) -> None:
    print("\t".join("" if cell is None else visible(str(cell)) for cell in cells))
