"""Calls of tools: finding the function, and returning its answer or error."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.domain import clock
from memstore.domain.records import Scope
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.escaping import as_json, counted
from memstore.faces.mcp import searches
from memstore.faces.mcp.answers import Answer, to_text
from memstore.faces.mcp.protocol import INTERNAL_ERROR, Refused
from memstore.faces.mcp.tool import ToolError
from memstore.faces.mcp.tools import Tools
from memstore.named import NamedTuple
from memstore.text.dated import (
    DatedLine,
    adjoined,
    end_mark,
    newer_mark,
    project_mark,
    remark,
    speaking,
    successor_mark,
    together,
    under_dates,
)
from memstore.text.escaping import visible
from memstore.text.folding import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.store.store import Store


NAMED: Final = 3
"""The most facts that a remark names; more are counted."""

PLAIN: Final = re.compile(r"[\w./@:+-]+(?: [\w./@:+-]+)*")

USUAL: Final = {"scope": "user", "priority": "normal", "status": "pending"}
"""What is not said of a task."""

OPEN_TASKS: Final = "open tasks that match"

SAID: Final = "said; memory_history of an id such as e12 shows what was around it"
"""Stands above turns that are shown beside facts."""

SIGN: Final = "-"
"""Stands before a text that has no id."""


class CallStyle(NamedTuple):
    """How an answer is written.

    Attributes:
        arguments: those of the call; they decide how much is said of a fact.
        history: the name of the tool that shows a fact whole; ``None`` if it is not offered.
        sign: what stands before the id of a single record.
    """

    arguments: Mapping[str, Any]
    history: str | None = "memory_history"
    sign: str = "#"


def drawn(answer: Answer, call: CallStyle) -> str:
    """Return an answer as lines; its hidden characters have to be escaped."""
    told = {name: value for name, value in answer.items() if name != "note"}
    if "id" in told:
        body = _record(told, call)
    elif parts := [name for name in PARTS if isinstance(told.get(name), list | str)]:
        body = [*chain.from_iterable(PARTS[name](told, call) for name in parts)]
        remarks = map(remark, _remarks({k: v for k, v in told.items() if k not in UNTOLD}))
        if not body:
            nothing = " and ".join(NOTHING.get(name, f"no {name}") for name in parts)
            return "\n".join([nothing, *remarks])
        body += remarks
    else:
        body = [*map(visible, _remarks(told))]
    return "\n".join([answer["note"], *body] if "note" in answer else body)


# -- facts, episodes, tasks ------------------------------------------------------------------------


def _recalled(answer: Answer, _call: CallStyle) -> Iterator[str]:
    return iter(answer["recalled"].splitlines())  # written by memstore.telling.recall


def _facts(answer: Answer, call: CallStyle) -> Iterator[str]:
    facts = answer["facts"]
    yield from under_dates(_passages(facts, lambda fact: _fact(fact, call)))
    hidden = [one["id"] for one in facts if "metadata" in one and not _shows_metadata(one, call)]
    if hidden:
        named = ", ".join(f"#{one}" for one in hidden[:NAMED])
        which = named if len(hidden) <= NAMED else counted(len(hidden))
        yield remark(f"{call.history} shows the metadata of {which}")


def _episodes(answer: Answer, _call: CallStyle) -> Iterator[str]:
    episodes = answer["episodes"]
    tells_source = len({one.get("source") for one in episodes}) > 1
    matching = len(episodes) - answer.get("only_newest", 0)
    halves = (episodes[:matching], episodes[matching:])  # the newest stay the last
    return under_dates(
        line
        for half in halves
        for line in _passages(half, lambda one: _episode(one, tells_source=tells_source))
    )


def _said(answer: Answer, _call: CallStyle) -> Iterator[str]:
    """Yield what was said, the latest day first, each stretch of a conversation in its order."""
    by_day = sorted(answer["said"], key=_day, reverse=True)
    said = together(by_day, lambda one: (_day(one), one.get("thread", "")), _place)
    yield remark(SAID)
    yield from under_dates(_passages(said, lambda one: _episode(one, tells_source=False)))


def _explanation(answer: Answer, _call: CallStyle) -> Iterator[str]:
    return iter(answer["why"])  # written by memstore.facts.explaining, which escapes the texts


def _place(turn: Answer) -> str:
    """Return what orders the turns of a day: ids, which are numbers here or UUIDs elsewhere."""
    return str(turn["id"]).zfill(20)


def _tasks(answer: Answer, _call: CallStyle) -> Iterator[str]:
    return under_dates(map(_task, answer["tasks"]))


def _open_tasks(answer: Answer, _call: CallStyle) -> Iterator[str]:
    yield remark(OPEN_TASKS)
    yield from under_dates(map(_task, answer["open_tasks"]))


def _passages(
    records: Sequence[Answer], line: Callable[[Answer], DatedLine]
) -> Iterator[DatedLine]:
    """Yield each record between those of its neighbours that no other line shows.

    Records found by rank are put together by their days, the day with the best one first.
    """
    if any("score" in one for one in records):
        records = adjoined(together(records, _day), _day, _id, _newer)
    shown = {one["id"] for one in records}
    for one, side in chain.from_iterable(map(_around, records)):
        if not side:
            yield line(one)
        elif one["id"] not in shown:
            shown.add(one["id"])
            made = line(one)
            yield made._replace(marks=(*made.marks, side))


def _id(record: Answer) -> Any:
    return record["id"]


def _newer(record: Answer) -> Any:
    """Return the id of the fact that may replace a hit, if there is one."""
    return record["newer"][0] if "newer" in record else None


def _around(record: Answer) -> Iterator[tuple[Answer, str]]:
    """Yield a record between its neighbours, each with its side."""
    yield from ((one, "before") for one in record.get("before", ()))
    yield record, ""
    yield from ((one, "after") for one in record.get("after", ()))


def _fact(fact: Answer, call: CallStyle) -> DatedLine:
    marks = [f"from {_quoted(fact['from'])}"] if "from" in fact else []
    marks += _of_project(fact)
    if "status" in fact:
        marks.append(_standing(fact))
    if "pinned" in fact:
        marks.append("pinned")
    if "ends" in fact:
        marks.append(end_mark(fact["ends"][:10]))
    if "until" in fact and "superseded_by" not in fact:
        marks.append(f"until {fact['until'][:10]}")
    if "newer" in fact:
        marks.append(newer_mark(f"#{fact['newer'][0]}"))
    words = text_of(fact.get("subject", ""), fact.get("content", ""))
    return _line(fact, f"#{fact['id']}", words, marks, _details(fact, call))


def _of_project(record: Answer) -> list[str]:
    """Return the mark of what comes from another project than the caller's."""
    return [project_mark(record["project"])] if "project" in record else []


def _standing(fact: Answer) -> str:
    if "superseded_by" not in fact:
        return str(fact["status"])
    # A history tells when it was superseded, a search until when it held.
    until = fact.get("until" if "score" in fact else "superseded_at")
    return successor_mark(f"#{fact['superseded_by']}", until and until[:10])


def _details(fact: Answer, call: CallStyle) -> Iterator[str]:
    """Yield what is told of a fact that was asked for by its id, or by its metadata."""
    if _is_requested(fact, call):
        yield f"category {_quoted(fact['category'])}"
        if "valid_from" in fact:
            yield f"stored {fact['created_at'][:10]}"
        if "confirmed" in fact:
            yield f"confirmed {fact['confirmed']} times"
    if "metadata" in fact and _shows_metadata(fact, call):
        yield f"metadata {to_text(fact['metadata'])}"


def _is_requested(fact: Answer, call: CallStyle) -> bool:
    return (
        str(call.arguments.get("id", "")).removeprefix("#") == str(fact["id"])
        and "category" in fact
    )


def _shows_metadata(fact: Answer, call: CallStyle) -> bool:
    return bool(call.history is None or call.arguments.get("metadata") or _is_requested(fact, call))


def _episode(episode: Answer, *, tells_source: bool) -> DatedLine:
    marks = []
    if (tells_source or "from" in episode) and "source" in episode:
        marks.append(f"from {_quoted(episode['source'])}")
    marks += _of_project(episode)
    if "tags" in episode:
        marks.append(f"tags {', '.join(map(_quoted, episode['tags']))}")
    if "expired_at" in episode:
        marks.append(f"until {episode['expired_at'][:10]}")
    words = text_of(episode.get("name", ""), episode["content"])
    # No tool shows the metadata of one episode, so it is told here.
    details = [f"metadata {to_text(episode['metadata'])}"] if "metadata" in episode else []
    spoken = speaking(episode.get("speaker"), words)
    return _line(episode, f"e{episode['id']}", spoken, marks, details)


def _task(task: Answer) -> DatedLine:
    # A normal, pending task of the user is the usual one.
    marks = [_quoted(task[name]) for name, usual in USUAL.items() if task.get(name, usual) != usual]
    for name in ("due", "due_said", "project"):
        if name in task:
            shown = to_text(task[name]) if name == "due_said" else f"{name} {_quoted(task[name])}"
            marks.append(shown)
    details = [f"note {to_text(task['note'])}"] if "note" in task else []
    return _line(task, f"#{task['id']}", task["content"], marks, details)


def _line(
    record: Answer, name: str, words: str, marks: Iterable[str], details: Iterable[str]
) -> DatedLine:
    told = "; ".join(details)
    notes = [f"{name} {told}"] if told else []
    if "cut" in record:
        notes.append(f"{name} cut: {record['cut']}")
        words += "…" if record["cut"].startswith("content") else ""
    return DatedLine(_day(record), name, words, tuple(marks), tuple(notes))


def _day(record: Answer) -> str:
    return str(record.get("valid_from") or record.get("valid_at") or record["created_at"])[:10]


# -- the graph -------------------------------------------------------------------------------------


def _entities(answer: Answer, _call: CallStyle) -> Iterator[str]:
    return map(_entity, answer["entities"])


def _entity(entity: Answer) -> str:
    return str(DatedLine("", SIGN, _names(entity), (counted(entity["facts"]),)))


def _neighbours(answer: Answer, call: CallStyle) -> Iterator[str]:
    """Yield each neighbour with the ids of the facts that relate it, and then each fact once."""
    yield _entity(answer["entity"])
    facts: dict[int, Answer] = {}
    for one in answer["neighbours"]:
        relating = {fact["id"]: fact for said in one["relations"] for fact in said["facts"]}
        facts |= relating
        more = sum(said.get("more_facts", 0) for said in one["relations"])
        told = ", ".join([*(f"#{fact}" for fact in relating), *([f"{more} more"] if more else [])])
        distance = [counted(one["distance"], "step")] if one["distance"] > 1 else []
        yield str(DatedLine("", SIGN, _names(one), (*distance, told)))
    yield from _facts({"facts": [*facts.values()]}, call)


def _names(entity: Answer) -> str:
    return ", also ".join([entity["name"], *entity.get("names", ())])


# -- what a language model read --------------------------------------------------------------------


def _changes(answer: Answer, _call: CallStyle) -> Iterator[str]:
    for one in answer["changes"]:
        older = f" of #{one['previous_id']}" if "previous_id" in one else ""
        yield from _undated(one, one["memory"], [f"{one['event']}{older}"])


def _refused(answer: Answer, _call: CallStyle) -> Iterator[str]:
    for one in answer["refused"]:
        marks = [" ".join(filter(None, ("refused", one.get("event"))))]
        yield from _undated(one, one.get("fact", ""), marks, [one["reason"]])


def _items(answer: Answer, _call: CallStyle) -> Iterator[str]:
    for one in answer["items"]:
        marks = [one["outcome"]]
        marks += [f"other #{one['other_id']}"] if "other_id" in one else []
        marks += [f"proposal {one['proposal']}"] if "proposal" in one else []
        reason = [one["reason"]] if "reason" in one else []
        yield from _undated(one, text_of(one["subject"], one["content"]), marks, reason)


def _proposals(answer: Answer, _call: CallStyle) -> Iterator[str]:
    for one in answer["proposals"]:
        yield str(DatedLine("", f"proposal {one['id']}", one["line"]))


def _undated(
    record: Answer, words: str, marks: Iterable[str] = (), notes: Iterable[str] = ()
) -> Iterator[str]:
    name = f"#{record['id']}" if "id" in record else SIGN
    yield str(DatedLine("", name, words, tuple(marks)))
    yield from map(remark, notes)


# -- what is said about an answer ------------------------------------------------------------------


def _record(record: Answer, call: CallStyle) -> list[str]:
    """Return the state of one record after a change, on one line, and what may replace it."""
    older, also = record.pop("older", None), record.pop("also", ())
    near = record.pop("near", ())
    hint = record.pop("hint", None) if near else None
    state = visible(f"{call.sign}{record.pop('id')} {'; '.join(_changed(record))}")
    shown = _facts({"facts": [older]}, call) if older else ()
    others = chain.from_iterable(_undated(one, one["says"], ["near"]) for one in near)
    further = chain.from_iterable(_record(one, call) for one in also)
    return [state, *shown, *others, *([remark(hint)] if hint else ()), *further]


def _changed(record: Answer) -> Iterator[str]:
    for name, value in record.items():
        if name == "superseded_by":
            yield f"superseded by #{value}"
        elif name == "superseded":
            yield f"supersedes #{value}"
        elif name == "confirmed":
            yield f"confirmed {value} times"
        elif name == "pinned":
            yield "pinned"
        elif name == "keys":
            yield f"metadata keys: {value}"
        elif name in ("old", "facts"):
            olds = [value] if name == "old" else value
            yield from (f"#{one['id']} {_standing(one)}" for one in olds)
        elif name != "superseded_at" and not (name == "status" and "superseded_by" in record):
            yield from _remarks({name: value})


def _remarks(answer: Answer) -> Iterator[str]:
    """Yield what is said about an answer, one sentence each."""
    for name, value in answer.items():
        if name == "left_out" and isinstance(value, list):
            yield f"left out: {', '.join(f'#{one}' for one in value)}"
        elif value == {}:
            continue
        elif name == "next_offset":
            yield f"the next page: offset={value}"
        elif name in SENTENCES:
            yield SENTENCES[name].format(value)
        elif isinstance(value, list) and value and all(isinstance(one, int) for one in value):
            yield f"{_spaced(name)}: {', '.join(f'#{one}' for one in value)}"
        else:
            shown = value if isinstance(value, str) else to_text(value)
            yield f"{_spaced(name)}: {shown}"


SENTENCES: Final = {
    "about": "about {}",
    "episode": "kept as e{}",
    "hint": "{}",
    "left_out": "{} more left out",
    "more": "{} more",
    "more_left_out": "and {} more left out",
    "provisional": "the order may still change: {}",
    "repair": "{}",
    "state": "{}",
    "status": "{}",
    "words_only": "found by words only: {}",
}


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _quoted(text: str) -> str:
    """Return a text for a mark: as it is if it cannot end the mark, else as JSON."""
    return text if PLAIN.fullmatch(text) else to_text(text)


PARTS: Final[Mapping[str, Callable[[Answer, CallStyle], Iterator[str]]]] = {
    "recalled": _recalled,
    "tasks": _tasks,
    "facts": _facts,
    "why": _explanation,
    "open_tasks": _open_tasks,
    "said": _said,
    "episodes": _episodes,
    "entities": _entities,
    "neighbours": _neighbours,
    "changes": _changes,
    "refused": _refused,
    "items": _items,
    "proposals": _proposals,
}
"""The lists of an answer in the order in which they are written."""

UNTOLD: Final = {*PARTS, "entity", "only_newest", "words_only_code"}
"""What a remark would repeat."""

NOTHING: Final = {"recalled": "nothing is recalled"}


Answered = TypeVar("Answered")

SIGNS: Final = {"episodes": "e", "learn": "proposal "}
"""What stands before an id in the answers of a tool set, if it is not a fact's."""


class Calls:
    """Runs the functions of the tools that a catalogue offers.

    Args:
        on_error: called with each error that a tool answers with, as it was raised.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        generator: Callable[[], JSONGenerator | None],
        on_error: Callable[[BaseException], object] = lambda _error: None,
    ) -> None:
        self._catalogue = catalogue
        self._on_error = on_error
        self._tools = Tools(generator)

    def confined(self, catalogue: Catalogue) -> Calls:
        """Return the same tools with another catalogue, of which the owners differ."""
        other = Calls(catalogue, lambda: None, self._on_error)
        other._tools = self._tools
        return other

    def answer(self, open_store: Callable[[], Store], params: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool and return the result of the call. Blocks."""
        name, arguments = params["name"], params.get("arguments") or {}
        try:
            offered = self._catalogue.find(name)
            if offered is None:
                raise ToolError(
                    f"there is no tool {name[:60]!r} here: use one of "
                    f"{', '.join(self._catalogue.tools)}"
                )
            began = clock.monotonic()
            with searches.noted() as asked:
                answer = self._tools[offered].call(
                    open_store,
                    arguments,
                    self._catalogue.shown,
                    Scope(**self._catalogue.owners),
                    confined=self._catalogue.confined,
                )
        except ToolError as error:
            self._on_error(error.__cause__ or error)
            return {"content": [_text(str(error))], "isError": True}
        text = written(answer, self._catalogue, arguments, SIGNS.get(offered.tool_set, "#"))
        if self._catalogue.records:
            for one in asked:
                one.record(offered.tool, text, 1000 * (clock.monotonic() - began))
        # JSON twice, as the protocol asks: some programs read only the one, some only the other.
        structured = {"structuredContent": answer} if self._catalogue.answers == "json" else {}
        return {"content": [_text(text)], **structured, "isError": False}


def written(
    answer: Answer,
    catalogue: Catalogue,
    arguments: Mapping[str, Any] | None = None,
    sign: str = "#",
) -> str:
    """Return an answer as text, in the catalogue's form; ``sign`` as in :class:`lines.Manner`."""
    if catalogue.answers == "json":
        return to_text(answer)
    history = catalogue.shown["memory_history"]
    return drawn(answer, CallStyle(arguments or {}, history, sign))


def explained(work: Callable[[], Answered]) -> Answered:
    """Run a request other than a tool call; turn errors into :class:`Refused`."""
    try:
        return work()
    except (Explained, ValueError) as error:
        raise Refused(INTERNAL_ERROR, as_json(wording.in_server(error))) from error
    except Exception:
        raise
    except BaseException as error:  # a panic of the kernel would end the server over HTTP
        raise Refused(INTERNAL_ERROR, "the request failed unexpectedly") from error


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
