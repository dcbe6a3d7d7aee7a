"""Search: what an agent is told, why each fact is in it, and why another not."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock, notes
from memstore.domain.queries import FactNarrowing, Periods
from memstore.domain.records import EVERYBODY, Scope
from memstore.errors import NotFound
from memstore.faces import wording
from memstore.faces.escaping import counted
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls
from memstore.faces.web import agents, filters, score, templating, words
from memstore.faces.web.routes import asks, shows
from memstore.faces.web.watching import watched
from memstore.frozen import asdict
from memstore.named import NamedTuple
from memstore.providers.local import tokens_at_most
from memstore.settings import MIN_RELEVANCE
from memstore.store.store import credits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.domain.episodes import Episode, EpisodeHit
    from memstore.domain.notes import Note
    from memstore.domain.records import Fact, SearchHit, SearchHits
    from memstore.domain.trust import Credit
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.web.filters import Filters
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

TOOL: Final = "memory_search"

FILTERS: Final = ("subject", "category", "user", "agent", "run", "from", "until", "as_of")

MAX_QUERY: Final = 4000


class Hit(NamedTuple):
    """A hit as the page shows it.

    Attributes:
        text: its text, the words that matched marked.
        parts: those of its score, the strongest first.
        width: that of its score in a bar.
        credit: how much it counts, and by which source that was decided.
    """

    hit: SearchHit
    text: tuple[words.Stretch, ...]
    parts: list[score.ScorePart]
    width: int
    credit: Credit | None

    @property
    def fact(self) -> Fact:
        return self.hit.fact


class TurnHit(NamedTuple):
    """A turn of a session as the page shows it, like a fact.

    Attributes:
        is_persons: whether no agent said it.
    """

    hit: EpisodeHit
    text: str
    parts: list[score.ScorePart]
    width: int
    agent: agents.Agent
    is_persons: bool

    @property
    def turn(self) -> Episode:
        return self.hit.episode


class Given(NamedTuple):
    """What an agent is given for a question.

    Attributes:
        text: the answer of the tool, or its error.
        tokens: an upper bound on its tokens.
    """

    text: str
    is_error: bool
    tokens: int
    milliseconds: float
    hits: SearchHits
    turns: Sequence[EpisodeHit]


def begin(visit: Visit) -> Reply:
    """Show the form of a search, with its filters."""
    return _begun(visit, filters.of(visit))


def _begun(visit: Visit, chosen: Filters) -> Reply:
    counts = visit.store.of(EVERYBODY).counts()
    return visit.page("search.html", question="", chosen=chosen, counts=counts)


def ask(visit: Visit) -> Reply:
    """Keep the question, and show its answer under a number."""
    question = visit.field("query")[:MAX_QUERY]
    chosen = filters.Filters({} if visit.field("reset") else visit.fields, visit.zone)
    if not question and not chosen:
        return visit.to("search")
    return visit.to(f"search/{visit.session.keep({**chosen.fields, 'query': question})}")


def answer(visit: Visit) -> Reply:
    """Show what an agent gets for the question with this number."""
    kept = visit.kept("number")
    question, chosen = kept.get("query", ""), filters.Filters(kept, visit.zone)
    chosen.seen(visit.store)  # says what is wrong with the moment at its field
    if not question:
        return _begun(visit, chosen)
    given = answer_for(visit, question, chosen)
    reason = _reason(visit, question, chosen) if visit.number("w") else {}
    return visit.page(
        "answer.html",
        question=question,
        chosen=chosen,
        number=visit.numbers["number"],
        given=given,
        found=sorted([*_hits(visit, given), *_turn_hits(given)], key=lambda one: -one.hit.score),
        sentences=[*sentences(notes.of_search(given.hits))],
        bar=score.BAR,
        meanings=score.MEANINGS,
        **{"missing": "", "outcome": None, "fact": None, "refusal": "", **reason},
    )


def sentences(found: Iterable[Note]) -> Iterator[str]:
    """Yield what the page says for the notes of a search; the agent's answer has the others."""
    for note in found:
        match note:
            case notes.WordsOnly():
                yield f"By words alone: {wording.in_pages(note.reason)}"
            case notes.Respelt():
                yield f"Searched for “{note.searched}” instead of “{note.written}”."
            case notes.LessRelevant():
                yield f"{counted(note.count, 'less relevant fact')} left out."


def why_not(visit: Visit) -> Reply:
    """Keep what is missing from an answer, and show why."""
    missing = visit.session.keep({"missing": visit.field("missing")[:MAX_QUERY]})
    return visit.to(f"search/{visit.numbers['number']}?w={missing}#why-not")


def answer_for(visit: Visit, question: str, chosen: Filters) -> Given:
    """Return the answer exactly as the tool gives it, and the hits that it is made of."""
    store = watched(visit.store)
    begun = clock.monotonic()
    call = {"name": TOOL, "arguments": _arguments(question, chosen)}
    calls = Calls(_catalogue()._replace(owners=visit.owners), lambda: None)
    result = calls.answer(lambda: store, call)
    milliseconds = (clock.monotonic() - begun) * 1000
    text = result["content"][0]["text"]
    # The limit of an answer may leave room for none or some of them.
    turns = [hit for hit in store.found.turns if f"e{hit.episode.id}" in _names(text)]
    hits = store.found.hits
    return Given(text, result["isError"], tokens_at_most(text), milliseconds, hits, turns)


def _names(text: str) -> set[str]:
    """Return what may be the names of turns, at the beginnings of lines."""
    return {line.partition("[")[0].partition(" ")[0] for line in text.splitlines()}


@cache
def _catalogue() -> Catalogue:
    return catalogue.offered()


def _arguments(question: str, chosen: Filters) -> dict[str, Any]:
    """Return the arguments of the tool for a question with filters."""
    period = chosen.question(Periods)
    arguments: dict[str, Any] = {
        name: chosen.used[name] for name in ("subject", "category") if name in chosen.used
    }
    for name, moment in (("after", period.created_after), ("before", period.created_before)):
        if isinstance(moment, datetime):
            arguments[name] = clock.to_text(moment)
    for name in ("user", "agent", "run"):
        if name in chosen.used:
            arguments[f"{name}_id"] = chosen.used[name]
    if "as_of" in chosen.used:
        arguments["as_of"] = chosen.used["as_of"]
    return {"query": question, **arguments}


def _best(given: Given) -> float:
    """Return the score that fills a bar."""
    return max((hit.score for hit in (*given.hits, *given.turns)), default=1.0)


def _turn_hits(given: Given) -> list[TurnHit]:
    best = _best(given)
    return [
        TurnHit(
            hit,
            hit.excerpt,
            score.parts(hit),
            score.width(hit.score, best),
            agents.of(hit.episode.source),
            hit.episode.speaker != "assistant",
        )
        for hit in given.turns
    ]


def _hits(visit: Visit, given: Given) -> list[Hit]:
    hits = given.hits
    credits_ = credits_of(visit.store, [hit.fact.id for hit in hits])
    best = _best(given)
    return [
        Hit(
            hit,
            words.marked(
                templating.beginning(hit.fact.content), hit.matched.content if hit.matched else ()
            ),
            score.parts(hit),
            score.width(hit.score, best),
            credits_.get(hit.fact.id),
        )
        for hit in hits
    ]


def _reason(visit: Visit, question: str, chosen: Filters) -> Mapping[str, Any]:
    """Return why the fact that somebody misses is not in the answer."""
    missing = visit.kept("w").get("missing", "")
    try:
        fact = _meant(visit, missing)
    except NotFound:
        return {"missing": missing, "refusal": "No fact is like that here."}
    try:
        outcome = visit.store.of(
            Scope(**visit.owners) if chosen.owners == EVERYBODY else chosen.owners
        ).why_not(
            question,
            fact.id,
            min_relevance=MIN_RELEVANCE,
            touch=False,
            **asdict(chosen.question(FactNarrowing)),
        )
    except NotFound:  # with owners, the library looks only for what is theirs
        refusal = f"Fact {fact.id} belongs to other owners than the search asks for."
        return {"missing": missing, "refusal": refusal}
    return {"missing": missing, "fact": fact, "outcome": outcome}


def _meant(visit: Visit, missing: str) -> Fact:
    """Return the fact with an id, or the one that is most like a text."""
    digits = missing.removeprefix("#")
    if digits.isascii() and digits.isdigit() and len(digits) < 19:
        return visit.store.get(int(digits))
    found = visit.store.of(EVERYBODY).search(missing, limit=1, active_only=False, touch=False)
    if not found:
        raise NotFound("no fact is like that")
    return found[0].fact


ROUTES: Final = (
    shows("search", begin),
    asks("search", ask),
    shows("search/{number}", answer),
    asks("search/{number}/why-not", why_not),
)
