"""The output of commands for people at a terminal: colours, and text wrapped under its heading.

Imported only where a terminal is, since rich is slow to import. Text is only ever shown as
``rich.text.Text``, which has no markup.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from memstore import settings
from memstore.domain import records, zones
from memstore.domain.status import DAYS
from memstore.faces import wording
from memstore.faces.cli import render
from memstore.faces.cli.flags import ways_to_see
from memstore.faces.escaping import counted, minute, visible_lines
from memstore.settings import DEFAULT_NAMESPACE
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from memstore.domain.episodes import Episode
    from memstore.domain.log import Act
    from memstore.domain.proposals import Marked, Question
    from memstore.domain.records import Head
    from memstore.domain.searches import GivenFact, RecordedSearch
    from memstore.domain.status import StoreStatus
    from memstore.domain.tasks import Task
    from memstore.faces.cli.render import EpisodeHits, Hits
    from memstore.file.findings import Finding
    from memstore.history.differences import Differences


@contextmanager
def in_pager(console: Console) -> Iterator[None]:
    """Collect what is printed in the block; if it is longer than the terminal, page through it.

    Output that goes elsewhere is printed as it comes.
    """
    command = settings.pager()
    if not sys.stdout.isatty() or not command:
        yield
        return
    with console.capture() as captured:
        yield
    text = captured.get()
    if (text.count("\n") < console.height and console.height) or not _page(command, text):
        console.file.write(text)


def _page(command: str, text: str) -> bool:
    """Return whether the pager could be started."""
    try:
        reader = subprocess.Popen(  # noqa: S602 - the user's own command
            command,
            shell=True,
            stdin=subprocess.PIPE,
            env=settings.pager_environment(),
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError:
        return False
    with suppress(BrokenPipeError, KeyboardInterrupt):  # closed before the end
        reader.communicate(text)
    while True:
        with suppress(KeyboardInterrupt):  # it goes to the pager
            return reader.wait() not in (126, 127)  # a shell's codes for what it cannot run


BARS: Final = "▁▂▃▄▅▆▇█"
NONE: Final = "·"
WEEK: Final = 7


def drawn(by_day: Mapping[str, int], today: date) -> str:
    """Return a bar for each of the last days, today's last, with a space between weeks.

    The highest bar is the day with the most; a dot is a day without any.
    """
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    numbers = [by_day.get(day.isoformat(), 0) for day in days]
    most = max(numbers)
    bars = "".join(_bar(number, most) for number in numbers)
    return " ".join(bars[start : start + WEEK] for start in range(0, DAYS, WEEK))


def _bar(number: int, most: int) -> str:
    return BARS[-(-number * len(BARS) // most) - 1] if number else NONE


WIDEST: Final = 100
"""The widest text, in columns: longer lines are hard to read."""

MAX_COUNTED: Final = 12
"""How many subjects and categories ``status`` lists before it summarises the rest."""

MAX_CHARACTERS: Final = 1_200
"""How much of each episode a list shows; one may be as long as a book."""

NARROWEST: Final = 20
"""The narrowest hanging indent, in columns; below that lines are indented by two."""

UNTRUSTED: Final = "source not trusted"
"""How people are told of a distrusted source."""

TASK_MARKS: Final = {"pending": "○", "in_progress": "◐", "completed": "●", "cancelled": "✕"}
TASK_STYLES: Final = {"in_progress": "yellow", "completed": "green", "cancelled": "dim"}
PRIORITY_STYLES: Final = {"high": "bold red", "low": "dim"}
STANDING_STYLES: Final = {"active": "green", "superseded": "yellow", "expired": "yellow"}

CHANGE_STYLES: Final = {
    **dict.fromkeys(("add", "adopt", "import", "episode", "restore", "unsupersede"), "green"),
    **dict.fromkeys(("supersede", "metadata", "propose", "update_episode"), "yellow"),
    **dict.fromkeys(("delete", "reject"), "red"),
    **dict.fromkeys(("erase", "erase_episode", "redact"), "bold red"),
    **dict.fromkeys(("trust", "distrust"), "magenta"),
}
"""The styles of what acts did, by the kind of change."""

DIFFERENCE_STYLES: Final = {
    **dict.fromkeys(("added", "restored"), "bold green"),
    "changed": "bold yellow",
    **dict.fromkeys(("retired", "erased"), "bold red"),
}

Span = tuple[str, str]
"""A text and its style."""


class TerminalShow:
    progress = staticmethod(render.progress_bar)

    def __init__(self, console: Console | None = None, errors: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._errors = errors or Console(stderr=True, highlight=False)
        self.width = min(self._console.width, WIDEST)

    def done(self, sentence: str, value: Mapping[str, Any]) -> None:
        self.line(("✓ ", "green"), (visible(sentence), ""), hang=2)

    def note(self, sentence: str) -> None:
        self._errors.print(Text(visible(sentence), style="yellow"))

    def text(self, text: str, value: Mapping[str, Any]) -> None:
        if text:
            self._console.out(text, highlight=False)  # not wrapped: it is for a prompt

    def fact(self, fact: records.Fact, **more: str) -> None:
        self._block(fact, len(str(fact.id)) + 3, "")
        shown = ("id", "subject", "category", "content", "superseded_by")
        fields = {k: v for k, v in fact.to_dict().items() if k not in shown} | more
        self.line()
        self._table((name, [(render.in_one_line(value), "")]) for name, value in fields.items())

    def facts(self, facts: Sequence[records.Fact]) -> None:
        indent = _id_room(facts)
        for fact in facts:
            self._block(fact, indent, _details(fact))
        if facts:
            self.line((counted(len(facts)), "dim"))

    def hits(self, hits: Hits, *, explain: bool = False) -> None:
        indent = _id_room([hit.fact for hit in hits])
        for hit in hits:
            why = f"words {hit.word_score:.2f} · meaning {hit.vector_score:.2f}"
            if hit.decay < 0.995:
                why += f" · aged {hit.decay:.2f}"
            if explain:
                why = render.parts_text(hit.parts)
            why = " · ".join([*render.hit_marks(hit), why])
            score = (f"  {render.scored(hit.score, 2)}".rstrip(), "bold magenta")
            self._neighbours(hit.before, indent)
            self._block(hit.fact, indent, f"{why} · {_details(hit.fact)}", score)
            self._neighbours(hit.after, indent, end=True)

    def found(self, hits: Hits, said: EpisodeHits, *, explain: bool = False) -> None:
        self.hits(hits, explain=explain)
        if said:
            self.heading("said", "memstore history e… shows what was around it")
            self.episode_hits(said, explain=explain)

    def chain(self, facts: Sequence[records.Fact]) -> None:
        for links in chains(facts):
            self.line(*_about(links[-1]))
            self.links(links)
            self.line()

    def links(self, facts: Sequence[records.Fact], indent: int = 0) -> None:
        for fact in facts:
            last = fact is facts[-1]
            mark: Span = ("●", "bold green") if fact.status == "active" else ("○", "dim")
            head: Span = (f"  #{fact.id}", "bold cyan")
            self.line(mark, head, *_when(fact), indent=indent, hang=3)
            rail = " " * indent + (" " if last else "│") + "  "
            style = "" if fact.status == "active" else "dim"
            self.line((visible_lines(fact.content) or "(erased)", style), rail=rail)
            if not last:
                self.line(("│", "dim"), indent=indent)

    def journal(self, lines: Sequence[records.JournalLine]) -> None:
        for line in lines:
            what = render.changed(line)
            self.line(
                (f"{minute(line.at)}  ", "dim"),
                (f"{visible(line.kind):<10} ", "bold"),
                (f"#{line.fact_id}", "bold cyan"),
                (f"  {visible(line.actor)} through {visible(line.source)}", "dim"),
                (f"  {render.compact(what)}" if what else "", ""),
                hang=18,
            )

    def acts(self, acts: Sequence[Act], *, paged: bool = False) -> None:
        """Print a line for each act, cut off at the edge of the screen."""
        room = max((len(str(act.line)) for act in acts), default=0)
        with in_pager(self._console) if paged else nullcontext():
            for act in acts:
                for line in _act_lines(act, room, self._console.width):
                    line.truncate(self._console.width, overflow="ellipsis")
                    self._console.print(line, no_wrap=True, overflow="ignore", crop=False)

    def searches(self, found: Sequence[RecordedSearch]) -> None:
        """Print each search, and below it what it was given."""
        room = max((len(str(one.id)) for one in found), default=0)
        for one in found:
            query = ("(erased)", "dim") if one.query is None else (visible(one.query), "")
            by = f"  {minute(one.at)}  {visible(one.client)}  "
            self.line((str(one.id).rjust(room), "bold cyan"), (by, "dim"), query, hang=room + 2)
            given, *figures = render.answer_cells(one)
            told = " · ".join(filter(None, figures))
            self.line(
                (given, "yellow" if one.is_empty else ""), (f"  {told}", "dim"), indent=room + 2
            )

    def given(self, found: Sequence[GivenFact]) -> None:
        room = max((len(f"{one.searches:,}") for one in found), default=0)
        for one in found:
            number = f"{one.searches:,}".rjust(room)
            claim = f"  {visible(one.fact.subject)}: {visible(one.fact.content)}"
            self.line(
                (number, "bold"), (f"  #{one.fact.id}", "bold cyan"), (claim, ""), hang=room + 2
            )

    def differences(self, found: Differences) -> None:
        """Print a changelog: a heading for each kind of difference."""
        with in_pager(self._console):
            self.line((found.period, "dim"))
            for kind, members in found.grouped():
                self.line()
                self.line((kind.capitalize(), DIFFERENCE_STYLES.get(kind, "bold")))
                for one in members:
                    told = visible(str(one)).removeprefix(f"#{one.fact_id} ")
                    self.line((f"#{one.fact_id}  ", "bold cyan"), (told, ""), indent=2, hang=4)

    def tasks(self, tasks: Sequence[Task], indent: int = 0) -> None:
        room = max((len(str(task.id)) for task in tasks), default=0) + 5
        for task in tasks:
            style = TASK_STYLES.get(task.status, "")
            head: Span = (f"#{task.id}".ljust(room - 2), "bold cyan")
            mark: Span = (f"{TASK_MARKS.get(task.status, '?')} ", style or "bold")
            closed = "dim" if task.status in ("completed", "cancelled") else ""
            content: Span = (visible_lines(task.content), closed)
            self.line(head, mark, content, indent=indent, hang=room)
            self.line(*_task_details(task), indent=indent + room)

    def episode(self, episode: Episode) -> None:
        self.line((f"#{episode.id}  ", "bold cyan"), *_named(episode))
        self.line((visible_lines(episode.content), ""))
        self.line()
        fields = {k: v for k, v in episode.to_dict().items() if k not in ("id", "content")}
        self._table((name, [(render.in_one_line(value), "")]) for name, value in fields.items())

    def episodes(self, episodes: Sequence[Episode]) -> None:
        for episode in episodes:
            self._stretch(episode, 0, len(episode.content), _circumstances(episode))
        if episodes:
            self.line((counted(len(episodes), "episode"), "dim"))

    def episode_hits(self, hits: EpisodeHits, *, explain: bool = False) -> None:
        for hit in hits:
            near = "none yet" if hit.similarity is None else f"{hit.similarity:.2f}"
            why = f"words {hit.word_score:.2f} · similarity {near}"
            if explain:
                why = render.parts_text(hit.parts)
            score = (f"  {render.scored(hit.score, 2)}".rstrip(), "bold magenta")
            compared = [why] if hit.score else []
            details = " · ".join([*compared, _circumstances(hit.episode)])
            indent = len(f"e{hit.episode.id}   ")
            self._neighbours(hit.before, indent)
            self._stretch(hit.episode, hit.start, hit.stop, details, score)
            self._neighbours(hit.after, indent, end=True)

    def _neighbours(
        self, rows: Sequence[records.Fact | Episode], indent: int, *, end: bool = False
    ) -> None:
        """Draw the neighbours of a hit: only their texts."""
        for one in rows:
            who: str | None = getattr(one, "subject", None) or getattr(one, "speaker", None)
            text = visible_lines(one.content[:MAX_CHARACTERS])
            told = text if who is None else f"{visible(who)}: {text}"
            sign = "#" if isinstance(one, records.Fact) else "e"
            self.line((f"{sign}{one.id} ".ljust(indent), "cyan"), (told, "dim"), hang=indent)
        if rows and end:
            self.line()

    def _stretch(self, episode: Episode, start: int, stop: int, details: str, *more: Span) -> None:
        """Draw an episode, or the beginning of an excerpt from a long one."""
        head = f"e{episode.id}   "
        self.line((head, "bold cyan"), *_named(episode), *more, hang=len(head))
        shown = episode.content[start : min(stop, start + MAX_CHARACTERS)]
        style = "" if episode.status == "active" else "dim"
        self.line((visible_lines(shown), style), indent=len(head))
        if left := len(episode.content) - len(shown):
            way = f"… {left:,} more characters: memstore episode get {episode.id}"
            self.line((way, "dim"), indent=len(head))
        self.line((details, "dim"), indent=len(head))
        self.line()

    def status(self, status: StoreStatus) -> None:
        self.line(("memstore", "bold"), (f"  {visible(status.path)}", ""), hang=10)
        parts = (
            f"{status.size_bytes / 1024:,.0f} KiB",
            f"schema {status.schema_version}",
            counted(len(status.namespaces), "namespace"),
            f"durability {status.durability}",
            f"locks by {status.locks}",
        )
        self.line((" · ".join(parts), "dim"))
        self.line()
        model = "none yet"
        if status.model is not None:
            model = f"{visible(status.model)} ({status.dimension} numbers each)"
        self._table(
            [
                ("namespace", [(visible(status.namespace), "bold")]),
                ("facts", _counts(status)),
                *_of_others(status),
                ("waiting", _waiting(status)),
                *([("log", _log(status))] if status.episodes else ()),
                ("vectors", [(model, "")]),
                ("embedder", [(visible(status.embedder or "none: words only"), "")]),
                ("subjects", _top(status.subjects, status.subject_count)),
                ("categories", _top(status.categories, status.category_count)),
                *([("namespaces", _top(status.namespaces))] if len(status.namespaces) > 1 else ()),
                ("journal", [(f"head {status.head}", "dim")]),
                *_activity(status),
            ]
        )

    def question(self, one: Question, place: str) -> None:
        """Print a proposal to decide on: the words that differ are coloured."""
        subject = visible(one.proposal.old.subject)
        self.line()
        self.line((f"{place}  ", "dim"), (subject, "bold"))
        for old in one.olds:
            self.line(("- ", "red"), *_marked(old, "bold red strike"), hang=2)
        self.line(("+ ", "green"), *_marked(one.new, "bold green"), hang=2)
        about = (*one.reasons, one.quoted, f"held for {one.age}", f"if accepted, {one.effect}")
        self.line((visible(" · ".join(about)), "dim"), indent=2, hang=2)

    def rows(self, rows: Sequence[Sequence[object]], value: object) -> None:
        for first, *rest in rows:
            told = "  ".join(visible(str(cell)) for cell in rest if cell is not None)
            self.line((f"{visible(str(first))}  ", "bold cyan"), (told, ""), hang=4)

    def findings(self, findings: Sequence[Finding], rebuilt: Sequence[str], locks: str) -> None:
        for sentence in rebuilt:
            self.done(sentence, {})
        self._findings(findings)
        if not findings:
            self.done(render.HEALTHY, {})
        self.line((f"locks: {locks}", "dim"))

    def verified(self, findings: Sequence[Finding], head: Head) -> None:
        self._findings(findings)
        if not findings:
            self.done(render.VERIFIED, {})
        self.line((f"head: {head}", "dim"))

    def _findings(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            mark = ("! ", "yellow") if finding.repairable else ("✕ ", "bold red")
            told = visible(wording.on_command_line(finding.message))
            self.line(mark, (f"{finding.check}  ", "bold"), (told, ""), hang=2)

    def panel(self, title: str, text: str) -> None:
        self._console.print(
            Panel(
                Text(text),
                title=Text(title, style="bold"),
                title_align="left",
                border_style="cyan",
                width=self.width,
            )
        )

    def heading(self, title: str, remark: str = "") -> None:
        self.line()
        self.line((title, "bold cyan"), (f"  {remark}" if remark else "", "dim"))

    def line(self, *spans: Span, indent: int = 0, hang: int = 0, rail: str = "") -> None:
        """Print a paragraph, wrapped: ``indent`` columns before it, ``hang`` more after its first
        line, and the rail faintly before each line.
        """
        edge = indent + len(rail)
        if self.width - edge - hang < NARROWEST:
            hang = min(hang, 2)
        for number, line in enumerate(
            self._wrapped(Text.assemble(*spans), self.width - edge, hang)
        ):
            left = Text.assemble((rail, "dim"), " " * (indent + (hang if number else 0)))
            left.append_text(line).rstrip()
            self._console.print(left, no_wrap=True, overflow="ignore", crop=False)

    def _wrapped(self, text: Text, room: int, hang: int) -> Iterator[Text]:
        """Wrap a text; all lines but the first are narrower by the hanging indent."""
        first, *more = text.wrap(self._console, room)
        yield first
        if not more:
            return
        # The first line is as wide as it can be; the rest is wrapped again.
        rest = text.plain[len(first.plain) :]
        broken = rest.lstrip(" ")
        start = len(text.plain) - len(broken) + broken.startswith("\n")
        yield from text.divide([start])[1].wrap(self._console, max(1, room - hang))

    def _block(self, fact: records.Fact, indent: int, details: str, *more: Span) -> None:
        head: Span = (f"#{fact.id}".ljust(indent), "bold cyan")
        mark: Span = ("", "")
        if fact.status != "active":
            mark = (f"  {_standing(fact)}", STANDING_STYLES.get(fact.status, "red"))
        self.line(head, *_about(fact), *more, mark, hang=indent)
        style = "" if fact.status == "active" else "dim"
        self.line((visible_lines(fact.content), style), indent=indent)
        if details:
            self.line((details, "dim"), indent=indent)
            self.line()

    def _table(self, rows: Iterable[tuple[str, Sequence[Span]]]) -> None:
        listed = list(rows)
        room = max((len(name) for name, _ in listed), default=0) + 2
        for name, value in listed:
            self.line((name.replace("_", " ").ljust(room), "dim"), *value, hang=room)


def _marked(text: Marked, style: str) -> list[Span]:
    return [(visible(part), style if changed else "") for part, changed in text]


def _act(act: Act, room: int) -> Iterator[Span]:
    yield str(act.line).rjust(room), "bold cyan"
    by = visible(f"{act.actor} through {act.through}")
    yield f"  {minute(act.at)}  {by}  ", "dim"
    lead, changes = act.parts
    if lead:
        yield f"{lead}: ", "magenta"
    for number, change in enumerate(changes):
        yield ("; " if number else ""), "dim"
        yield visible(change.text), CHANGE_STYLES.get(change.kind, "")
        yield visible(str(change).removeprefix(change.text)), ""


def _act_lines(act: Act, room: int, width: int) -> Sequence[Text]:
    """Return an act in one line, or in two if there is no room for what was done in the first."""
    number, by, *done = _act(act, room)
    head = Text.assemble(number, by)
    if width - head.cell_len >= NARROWEST:
        return [Text.assemble(number, by, *done)]
    return [head, Text.assemble(" " * (room + 2), *done)]


def _id_room(facts: Sequence[records.Fact]) -> int:
    return max((len(str(fact.id)) for fact in facts), default=0) + 3


def _standing(fact: records.Fact) -> str:
    standing = fact.status
    if standing == "superseded":
        standing += f" by #{fact.superseded_by}"
    if standing == "distrusted":
        return UNTRUSTED
    return f"{standing}, {UNTRUSTED}" if fact.distrusted else standing


def _about(fact: records.Fact) -> tuple[Span, ...]:
    if not fact.subject:
        return (("(erased)", "dim"),)
    return (visible(fact.subject), "bold"), (f" · {visible(fact.category)}", "dim")


def _when(fact: records.Fact) -> tuple[Span, ...]:
    style = STANDING_STYLES.get(fact.status, "red")
    spans: list[Span] = [(f"  {minute(fact.created_at)}  ", "dim"), (_standing(fact), style)]
    if fact.superseded_at is not None and fact.status == "superseded":
        spans.append((f" on {minute(fact.superseded_at)}", "dim"))
    return tuple(spans)


def _details(fact: records.Fact) -> str:
    more = []
    if fact.pinned_at is not None:
        more.append("pinned")
    if fact.confirmed_count:
        more.append(f"confirmed {fact.confirmed_count}×")
    if fact.use_count:
        more.append(f"found {fact.use_count}×")
    if fact.source:
        more.append(f"from {visible(fact.source)}")
    return _circumstances(fact, *more, valid="valid since", expires="until")


def _circumstances(
    one: records.Fact | Episode, *more: str, valid: str = "valid", expires: str = "expires"
) -> str:
    parts = [minute(one.created_at)]
    if one.namespace != DEFAULT_NAMESPACE:
        parts.append(f"in {visible(one.namespace)}")
    moments = ((valid, one.valid_at), (expires, one.expired_at))
    parts += [f"{word} {minute(moment)}" for word, moment in moments if moment is not None]
    parts += [
        *more,
        *(f"{visible(key)}={render.in_one_line(value)}" for key, value in one.metadata.items()),
    ]
    return " · ".join(parts)


def _task_details(task: Task) -> tuple[Span, ...]:
    parts = [task.status.replace("_", " "), task.scope]
    if task.project:
        parts.append(task.project)
    if task.due:
        parts.append(f"due {task.due_text}")
    if task.note:
        parts.append(task.note)
    priority = (f"{visible(task.priority)}", PRIORITY_STYLES.get(task.priority, "dim"))
    return priority, (" · " + visible(" · ".join(map(str, parts))), "dim")


def _counts(status: StoreStatus) -> list[Span]:
    rest = [
        f"{number} {name}"
        for name, number in (
            ("superseded", status.superseded),
            ("expired", status.expired),
            ("deleted", status.deleted),
            (f"hidden ({UNTRUSTED})", status.distrusted),
        )
        if number
    ]
    return [(f"{status.active} active", "green"), ("".join(f" · {part}" for part in rest), "dim")]


def _of_others(status: StoreStatus) -> list[tuple[str, list[Span]]]:
    others = status.others
    numbers = (("fact", others.facts), ("episode", others.episodes))
    told = " and ".join(counted(number, noun) for noun, number in numbers if number)
    if not told:
        return []
    return [("others", [(told, "green"), (f"  {ways_to_see(others.first)}", "dim")])]


def _activity(status: StoreStatus) -> list[tuple[str, list[Span]]]:
    """Return lines of bars for what was added in the last weeks, by day."""
    kinds = (("fact", status.facts_by_day), ("episode", status.episodes_by_day))
    today = zones.today()  # as they are counted
    return [
        (
            f"new {noun}s",
            [
                (drawn(by_day, today), "cyan"),
                (f"  {sum(by_day.values()):,} in {DAYS // 7} weeks", "dim"),
            ],
        )
        for noun, by_day in kinds
        if by_day
    ]


def _waiting(status: StoreStatus) -> list[Span]:
    spans: list[Span] = []
    if status.pending:
        spans.append((f"{status.pending} pending: memstore embed-pending", "yellow"))
    if status.quarantined:
        again = "memstore embed-pending --retry-quarantined"
        spans.append((f"{'  ' if spans else ''}{status.quarantined} quarantined: {again}", "red"))
    return spans or [("nothing: every fact has its embedding", "")]


def _log(status: StoreStatus) -> list[Span]:
    spans: list[Span] = [(counted(status.episodes, "episode"), "green")]
    if status.episodes_pending:
        spans.append((f" · {status.episodes_pending} pending", "yellow"))
    if status.episodes_quarantined:
        spans.append((f" · {status.episodes_quarantined} quarantined", "red"))
    if status.not_learned:
        spans.append(
            (f" · {status.not_learned} not learned from: memstore learn --retry", "yellow")
        )
    if status.unread > status.not_learned:
        told = counted(status.unread, "conversation")
        spans.append((f" · {told} unread: memstore distil, or learn --retry", "yellow"))
    if status.incomplete_imports:
        told = counted(status.incomplete_imports, "import")
        again = "run the same again, or memstore import --give-up"
        spans.append((f" · {told} incomplete: {again}", "yellow"))
    return spans


def _named(episode: Episode) -> tuple[Span, ...]:
    name = visible(episode.name or episode.source or "(no source)")
    origin = f" · {visible(episode.source)}" if episode.name and episode.source else ""
    spans: list[Span] = [(name, "bold"), (origin, "dim")]
    if episode.tags:
        spans.append((f"  {visible(', '.join(episode.tags))}", "green"))
    if episode.status == "expired":
        spans.append(("  expired", "yellow"))
    return tuple(spans)


def _top(counts: Mapping[str, int], number: int | None = None) -> list[Span]:
    """Return the first of these names; ``number`` is how many there are, if not all are here."""
    if not counts:
        return [("none yet", "dim")]
    named = [(visible(name), number) for name, number in counts.items()]
    spans: list[Span] = []
    for name, number in named[:MAX_COUNTED]:
        spans += [(f"{'  ' if spans else ''}{name} ", ""), (str(number), "bold")]
    if (left := (number or len(named)) - MAX_COUNTED) > 0:
        spans.append((f"  and {left:,} more", "dim"))
    return spans


def chains(facts: Sequence[records.Fact]) -> list[list[records.Fact]]:
    """Group facts by chain, oldest first in each, keeping the order of the chains."""
    by_id = {fact.id: fact for fact in facts}
    grouped: dict[int, list[records.Fact]] = {}
    for fact in facts:
        newest, seen = fact, {fact.id}
        while newest.superseded_by in by_id and newest.superseded_by not in seen:
            newest = by_id[newest.superseded_by]
            seen.add(newest.id)
        grouped.setdefault(newest.id, []).append(fact)
    return list(grouped.values())
