"""The commands that find facts and show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import Scope
from memstore.faces import wording
from memstore.faces.cli.command import (
    Command,
    UsageError,
    add_id,
    add_narrowing,
    count,
    fact_id,
    names,
    offset,
)
from memstore.faces.cli.learn import show_past
from memstore.faces.cli.owners import add_owners, scope_of

if TYPE_CHECKING:
    import argparse

    from memstore.domain.records import Fact, JournalLine, SearchHits
    from memstore.faces.cli.render import Show
    from memstore.store.store import Store


def _fill_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+", help="a question, or some words")
    parser.add_argument(
        "--limit", metavar="N", type=count, default=10, help="how many facts at most (default: 10)"
    )
    add_narrowing(parser)
    parser.add_argument(
        "--namespaces", metavar="A,B", type=names, help="search these instead; all for every one"
    )
    parser.add_argument(
        "--word-weight", metavar="X", type=float, help="what the words count (default: 0.6)"
    )
    parser.add_argument(
        "--vector-weight", metavar="X", type=float, help="what the meaning counts (default: 0.4)"
    )


def _search(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    hits = store.search(
        " ".join(arguments.query),
        limit=arguments.limit,
        subject=arguments.subject,
        category=arguments.category,
        filters=arguments.filters,
        namespaces=arguments.namespaces,
        active_only=not arguments.everything,
        word_weight=arguments.word_weight,
        vector_weight=arguments.vector_weight,
    )
    show.hits(hits)
    _tell_words_only(hits, show)
    if not hits:
        show.note(f"nothing found: try {_wider(arguments)}")


def _wider(arguments: argparse.Namespace) -> str:
    """Name the ways to more that the search has not taken yet."""
    ways = ["other words"]
    if arguments.subject or arguments.category or arguments.filters:
        ways.append("fewer conditions")
    if not arguments.everything:
        ways.append("--all for superseded facts")
    return f"{', '.join(ways)}, or memstore list"


def _tell_words_only(hits: SearchHits, show: Show) -> None:
    why = hits.words_only
    if why is None or why.code == "no_embedder" or (why.code == "nothing_embedded" and not hits):
        return
    show.note(f"searched by words only: {wording.on_command_line(why.reason)}")


def _fill_list(parser: argparse.ArgumentParser) -> None:
    add_narrowing(parser)
    parser.add_argument("--deleted", action="store_true", help="deleted facts too")
    parser.add_argument("--limit", metavar="N", type=count, help="how many at most")
    parser.add_argument(
        "--offset", metavar="N", type=offset, default=0, help="how many to pass over first"
    )
    parser.add_argument("--newest", action="store_true", help="the newest first")


def _list(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    facts = store.list(
        subject=arguments.subject,
        category=arguments.category,
        filters=arguments.filters,
        active_only=not arguments.everything,
        include_deleted=arguments.deleted,
        limit=arguments.limit,
        offset=arguments.offset,
        newest_first=arguments.newest,
    )
    show.facts(facts)
    if not facts:
        show.note("no facts here")


def _get(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    show.fact(store.get(arguments.id))


def _fill_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", type=fact_id, nargs="?", help="any fact of the chain")
    parser.add_argument(
        "--subject", metavar="NAME", help="every fact there ever was about this, instead"
    )
    parser.add_argument(
        "--journal", action="store_true", help="every change instead: when, what, and by whom"
    )
    add_owners(parser)


def _history(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    if (arguments.id is None) == (arguments.subject is None):
        raise UsageError("history takes the id of a fact, or --subject NAME")
    if scope_of(arguments) != Scope():
        show_past(store, arguments, show)
        return
    facts = store.history(arguments.id, subject=arguments.subject)
    if arguments.journal:
        show.journal(_journal(store, facts))
    else:
        show.chain(facts)
    if not facts:
        show.note("there never was a fact about this")


def _journal(store: Store, facts: list[Fact]) -> list[JournalLine]:
    """Return the lines on all these facts; one question answers for a whole chain."""
    found: dict[int, JournalLine] = {}
    answered: set[int | None] = set()
    for fact in facts:
        if fact.id not in answered and fact.status != "erased":
            lines = store.journal(fact.id)
            found.update((line.id, line) for line in lines)
            answered.update(line.fact_id for line in lines)
    return [found[number] for number in sorted(found)]


COMMANDS = (
    Command(
        name="search",
        usage="QUERY… [options]",
        summary="Find facts by words and by meaning, best first.",
        example="memstore search what does Alice like\n"
        "memstore search deploy --subject api -f 'level>=3' --limit 5",
        fill=_fill_search,
        run=_search,
        file="there",
        embedder="needed",
    ),
    Command(
        name="list",
        summary="List facts, oldest first.",
        example="memstore list --subject alice\nmemstore list --newest --limit 20 --json",
        fill=_fill_list,
        run=_list,
        file="there",
    ),
    Command(
        name="get",
        usage="ID [options]",
        summary="Show one fact with all its fields.",
        example="memstore get 12",
        fill=add_id,
        run=_get,
        file="there",
    ),
    Command(
        name="history",
        usage="ID | --subject NAME [options]",
        summary="Show how a fact changed, oldest version first.",
        example="memstore history 12\nmemstore history --subject alice --journal",
        fill=_fill_history,
        run=_history,
        file="there",
    ),
)
