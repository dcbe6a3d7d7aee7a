"""The log: what was said, by conversation; what was drawn from it; and what to do with it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.queries import EpisodeNarrowing
from memstore.domain.records import EVERYBODY
from memstore.errors import Conflict, Explained, NotFound
from memstore.faces import wording
from memstore.faces.web import chains, filters, paging, rereading, words
from memstore.faces.web.pages import sessions
from memstore.faces.web.routes import asks, changes, shows
from memstore.frozen import asdict, replace
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.episodes import Episode
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

FILTERS: Final = ("source", "user", "agent", "run", "from", "until")

OUTCOMES: Final = {
    "stored": "stored",
    "superseded": "stored, and replaces an older fact",
    "proposed": "stored, and asked about in the inbox",
    "outdated": "stored as replaced: something said later says otherwise",
    "duplicate": "known already",
    "rejected": "not stored",
}
"""What became of what a model found, by its ``Outcome``."""

FOUND: Final = 20
AROUND: Final = 10
"""Episodes before and after one in its conversation."""


class Conversation(NamedTuple):
    """Episodes of one thread that stand together in the list.

    Attributes:
        thread: its name; ``None`` for an episode without one.
        request: what was asked first in it; empty without a thread.
        episodes: the newest first.
    """

    thread: str | None
    request: str
    episodes: list[Episode]


class FoundEpisode(NamedTuple):
    episode: Episode
    text: tuple[words.Stretch, ...]


def show(visit: Visit) -> Reply:
    """List the episodes, the newest first, or those that a question finds."""
    kept = visit.kept()
    chosen = filters.Filters(kept, visit.zone, "Recorded")
    question = kept.get("query", "")
    asked = chosen.question(EpisodeNarrowing)
    log = visit.store.of(chosen.owners).episodes
    if question:
        hits = log.search(question, **asdict(asked), limit=FOUND)
        fitting = hits[: len(hits) - hits.newest_first]
        found = [FoundEpisode(hit.episode, words.marked(hit.excerpt, ())) for hit in fitting]
        return _page(visit, chosen, question, found=found)
    asked = replace(asked, include_expired=True)
    page = paging.newest_first(visit, partial(log.list, **asdict(asked)))
    return _page(visit, chosen, "", page=page)


def _page(
    visit: Visit,
    chosen: filters.Filters,
    question: str,
    *,
    found: Sequence[FoundEpisode] = (),
    page: paging.LinkedPage[Episode] | None = None,
) -> Reply:
    return visit.page(
        "log.html",
        question=question,
        chosen=chosen,
        names=FILTERS,
        found=found,
        conversations=[] if page is None else [*_conversations(visit, page.rows)],
        links=paging.Links() if page is None else page.links,
    )


def _conversations(visit: Visit, episodes: Sequence[Episode]) -> Iterator[Conversation]:
    current: Conversation | None = None
    for episode in episodes:
        last = None if current is None else current.episodes[-1]
        same = last is not None and last.thread == episode.thread and last.scope == episode.scope
        if current is None or not same or episode.thread is None:
            if current is not None:
                yield current
            current = Conversation(episode.thread, _request(visit, episode), [])
        current.episodes.append(episode)
    if current is not None:
        yield current


def _request(visit: Visit, turn: Episode) -> str:
    if turn.thread is None:
        return ""
    with suppress(NotFound):  # all that it asked has expired
        return sessions.request_of(visit.store.of(turn.scope), turn.thread).content
    return turn.thread


def ask(visit: Visit) -> Reply:
    """Keep a question or filter, and show its answer under a number."""
    chosen = filters.Filters({} if visit.field("reset") else visit.fields, visit.zone)
    question = "" if visit.field("reset") else visit.field("query")[: filters.MAX_FIELD]
    kept = {**chosen.fields, **({"query": question} if question else {})}
    return visit.to(f"log?q={visit.session.keep(kept)}" if kept else "log")


def episode(visit: Visit) -> Reply:
    """Show one episode whole, with the turns around it and the facts drawn from it."""
    one = visit.store.episodes.get(visit.numbers["id"])
    around = visit.store.episodes.around(one.id, AROUND) if one.thread else [one]
    drawn = visit.store.of(EVERYBODY).list(episode=one.id, states=filters.EVERY_STATE)
    return visit.page(
        "episode.html",
        episode=one,
        before=[turn for turn in around if turn.id != one.id and _is_before(turn, one)],
        after=[turn for turn in around if turn.id != one.id and not _is_before(turn, one)],
        drawn=chains.rows(visit.store, drawn),
        lines=visit.store.episodes.journal(one.id),
        **_reading(visit, one.id),
    )


def text(visit: Visit) -> Reply:
    """Show the whole text, however long it is."""
    one = visit.store.episodes.get(visit.numbers["id"])
    return visit.page("episode_text.html", episode=one)


def _is_before(turn: Episode, one: Episode) -> bool:
    return (turn.seq or 0, turn.id) < (one.seq or 0, one.id)


# -- reading one again -----------------------------------------------------------------------------


def _reading(visit: Visit, episode_id: int) -> dict[str, Any]:
    """Return what a page says about reading an episode again."""
    reading = rereading.last(visit.store, episode_id)
    has_result = reading is not None and reading.changed
    undoing = visit.session.keep({"run": reading.run}) if reading and has_result else None
    model, trouble = "", ""
    try:
        generator = visit.generator()
        model = "" if generator is None else generator.model
    except (Explained, ValueError) as error:
        trouble = wording.in_pages(error)
    return {
        "episode_id": episode_id,
        "reading": reading,
        "undoing": undoing if visit.may_write else None,
        "outcomes": OUTCOMES,
        "model": model,
        "trouble": trouble,
    }


def read_again(visit: Visit) -> Reply:
    """Have the language model read an episode again, in a thread."""
    one = visit.store.episodes.get(visit.numbers["id"])
    generator = visit.generator()
    if generator is None:
        raise Conflict("no language model is set")
    rereading.begin(visit.store, one.id, generator, visit.stays)
    return _after_reading(visit)


def stop_reading(visit: Visit) -> Reply:
    reading = rereading.last(visit.store, visit.numbers["id"])
    if reading is not None:
        reading.stop()
    return _after_reading(visit)


def _after_reading(visit: Visit) -> Reply:
    return progress(visit) if visit.swaps else visit.to(f"episode/{visit.numbers['id']}#reading")


def progress(visit: Visit) -> Reply:
    """Return how far the reading is, to be put into a page that is open."""
    one = visit.store.episodes.get(visit.numbers["id"])
    return visit.page("parts/rereading.html", **_reading(visit, one.id))


ROUTES: Final = (
    shows("log", show),
    asks("log", ask),
    shows("episode/{id}", episode),
    shows("episode/{id}/text", text),
    shows("episode/{id}/reading", progress),
    changes("episode/{id}/reading", read_again),
    changes("episode/{id}/reading/stop", stop_reading),
)
