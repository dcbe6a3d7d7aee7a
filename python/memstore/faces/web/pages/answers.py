"""The answers: what agents asked, and what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.records import EVERYBODY
from memstore.domain.searches import PROMPT
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.web import agents, owning, paging
from memstore.faces.web.pages.search import TOOL
from memstore.faces.web.routes import asks, changes, shows
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.domain.records import Fact
    from memstore.domain.searches import RecordedSearch
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

FILTERS: Final = ("client", "run", "fact", "since", "until", "empty", "way", *owning.NAMES)

WAYS: Final = (("", "any"), (TOOL, "a search of an agent"), (PROMPT, "a prompt, by its hook"))
"""How something was asked: by its tool."""

MAX_FIELD: Final = 1000

EXTREMES: Final = 20
"""How many facts that are given often, or never, are shown."""


class AnswerRow(NamedTuple):
    """What was asked, and what was given.

    Attributes:
        again: the number under which the question is shown as of its moment; ``None`` if erased.
        first: the first fact that was given, if it is still there.
    """

    search: RecordedSearch
    again: int | None
    first: Fact | None
    agent: agents.Agent

    @property
    def is_prompt(self) -> bool:
        """Whether a hook added it to a prompt."""
        return self.search.tool == PROMPT


def show(visit: Visit) -> Reply:
    kept = {name: one for name, one in visit.kept().items() if name in FILTERS}
    found: Sequence[RecordedSearch] = ()
    problem = ""
    try:
        found = visit.store.of(owning.chosen(kept) or EVERYBODY).searches.list(
            **_wanted(kept), before=visit.number("before"), limit=paging.ROWS + 1
        )
    except (Explained, ValueError) as error:
        problem = wording.in_pages(error)
    rows = found[: paging.ROWS]
    firsts = {fact.id: fact for fact in visit.store.get_many(_firsts(rows))}
    return visit.page(
        "answers.html",
        rows=[
            AnswerRow(
                one, _again(visit, one), firsts.get(next(iter(one.facts), 0)), agents.of(one.client)
            )
            for one in rows
        ],
        ways=WAYS,
        kept=kept,
        problem=problem,
        links=paging.onward(visit, "before", rows[-1].id if len(found) > paging.ROWS else None),
    )


def _row(visit: Visit, search: RecordedSearch, firsts: Mapping[int, Fact]) -> AnswerRow:
    first = firsts.get(search.facts[0]) if search.facts else None
    return AnswerRow(search, _again(visit, search), first, agents.of(search.client))


def _firsts(rows: Sequence[RecordedSearch]) -> list[int]:
    """Return the first fact that each was given."""
    return [*dict.fromkeys(one.facts[0] for one in rows if one.facts)]


def _wanted(kept: dict[str, str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        name: kept[name] for name in ("client", "run", "since", "until") if name in kept
    }
    if "fact" in kept:
        wanted["fact"] = int(kept["fact"])
    if kept.get("way") in dict(WAYS):
        wanted["tool"] = kept["way"]
    if "empty" in kept:
        wanted["is_empty"] = True
    return wanted


def _again(visit: Visit, search: RecordedSearch) -> int | None:
    """Return the number under which the search is shown as of its moment."""
    if search.query is None:
        return None
    ids = search.scope.ids.items()
    owners = {name.removesuffix("_id"): one for name, one in ids if one is not None}
    return visit.session.keep({**owners, "query": search.query, "as_of": clock.to_text(search.at)})


def narrow(visit: Visit) -> Reply:
    wanted = {name: visit.field(name)[:MAX_FIELD] for name in FILTERS if visit.field(name)}
    if "fact" in wanted:
        number = visit.posted_number("fact")
        wanted["fact"] = str(number or 0)
    if visit.field("reset") or not wanted:
        return visit.to("answers")
    return visit.to(f"answers?q={visit.session.keep(wanted)}")


def extremes(visit: Visit) -> Reply:
    """Show the facts that were given most often, and those that never were."""
    return visit.page(
        "given.html",
        often=visit.store.of(EVERYBODY).searches.most_used(limit=EXTREMES),
        never=visit.store.of(EVERYBODY).searches.never_used(limit=EXTREMES),
    )


def forget(visit: Visit) -> Reply:
    """Remove the record of this namespace."""
    visit.store.of(EVERYBODY).searches.clear()
    return visit.to("answers")


ROUTES: Final = (
    shows("answers", show),
    asks("answers", narrow),
    shows("answers/given", extremes),
    changes("answers/forget", forget),
)
