"""The commands that find and show facts."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore import settings
from memstore.domain.records import EVERYBODY, Scope
from memstore.faces.cli import command as cli
from memstore.faces.cli.ids import END
from memstore.frozen import asdict
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import argparse

    from memstore.database import origins
    from memstore.domain import queries
    from memstore.domain.queries import FactRecall
    from memstore.domain.records import Fact, JournalLine
    from memstore.faces.cli import episodes, learn
    from memstore.store import answers
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    answers = lazy_import("memstore.store.answers")
    episodes = lazy_import("memstore.faces.cli.episodes")
    learn = lazy_import("memstore.faces.cli.learn")
    origins = lazy_import("memstore.database.origins")
    queries = lazy_import("memstore.domain.queries")
    stores = lazy_import("memstore.store.store")

CONDITIONS: Final = (
    "subject category filters created_after created_before valid_after valid_before valid_on"
)
RECALLED: Final = f"{CONDITIONS} active_only namespaces min_relevance"
WHY_NOT: Final = cli.option(
    "--why-not ID", "say instead why this fact is not found, or where", type=cli.fact_id
)


@cli.command(
    "search",
    "memstore search what does Alice like\n"
    "memstore search deploy --subject api -f 'level>=3' --limit 5\n"
    "memstore search what does Alice like --why-not 12",
    cli.option("QUERY", "a question or keywords", nargs="+"),
    cli.option("--limit N", "return at most N facts (default: 10)", type=cli.count, default=10),
    cli.option(
        "--offset N",
        "read in pages: skip this many (0 for the first page)",
        type=partial(cli.count, least=0),
    ),
    cli.CONTEXT,
    *cli.RANKING,
    *cli.NARROWING,
    cli.option("--tasks", "include tasks"),
    cli.NO_EPISODES,
    cli.NAMESPACES,
    *cli.CHOSEN,
    cli.option("--word-weight X", "weight of the words (default: 0.6)", type=float),
    cli.option("--vector-weight X", "weight of the meaning (default: 0.4)", type=float),
    WHY_NOT,
    cli.AS_OF,
    usage="QUERY… [options]",
    embedder="required",
    shows_part=True,
)
def _search(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    query = " ".join(arguments.query)
    asked = queries.FactSearch(
        **cli.given(arguments, f"{RECALLED} limit offset context ranking"),
        **cli.given(arguments, "word_weight vector_weight"),
        tasks=arguments.tasks or None,
    )
    if arguments.why_not is not None:
        _why_not(store, query, asked, arguments, show)
        return
    found = answers.search(
        cli.owned(store, arguments),
        query,
        asked,
        as_of=arguments.as_of,
        said=not arguments.no_episodes,
    )
    show.found(found.hits, found.said or (), explain=arguments.explain)
    sign = "#" if found.hits else "e"
    cli.draw(found.notes, store, arguments, show, _nothing(arguments), sign)
    sys.stdout.flush()  # the answer is out; the rest only speeds up the next search
    store.file.save_index()


def _why_not(
    store: Store,
    query: str,
    asked: FactRecall,
    arguments: argparse.Namespace,
    show: cli.Show,
    *,
    max_tokens: int | None = None,
    episodes: bool = True,
) -> None:
    """Print why a search or a recall does not find a fact, and whose it is if that is why."""
    own = store if cli.chosen(arguments) == Scope() else cli.owned(store, arguments)
    # Of a store that is of nobody's, the answer may be that it belongs to others.
    seen = answers.at(own, arguments.as_of)
    outcome = seen.why_not(
        query, arguments.why_not, max_tokens=max_tokens, episodes=episodes, **asdict(asked)
    )
    show.text(str(outcome), outcome.to_dict())
    if outcome.words_only is not None:
        cli.draw([outcome.words_only], store, arguments, show)


def _nothing(arguments: argparse.Namespace) -> str:
    """Return that nothing was found, and what to try."""
    ways = ["other words"]
    if any(cli.given(arguments, CONDITIONS).values()):
        ways.append("fewer conditions")
    if arguments.active_only:
        ways.append("--all for superseded facts")
    return f"nothing found: try {', '.join(ways)}, or memstore list"


@cli.command(
    "recall",
    "memstore recall --max-tokens 500 what does Alice like",
    cli.option("QUERY", "a question or keywords", nargs="+"),
    cli.option(
        "--max-tokens N",
        "the longest the text may be (default: 1000)",
        type=cli.count,
        default=1000,
    ),
    cli.NO_EPISODES,
    cli.RELEVANCE,
    *cli.NARROWING,
    cli.NAMESPACES,
    *cli.CHOSEN,
    WHY_NOT,
    cli.AS_OF,
    usage="QUERY… [options]",
    embedder="required",
    shows_part=True,
)
def _recall(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    query, asked = " ".join(arguments.query), queries.FactRecall(**cli.given(arguments, RECALLED))
    most, episodes = arguments.max_tokens, not arguments.no_episodes
    if arguments.why_not is not None:
        _why_not(store, query, asked, arguments, show, max_tokens=most, episodes=episodes)
        return
    found = answers.recall(
        cli.owned(store, arguments),
        query,
        asked,
        max_tokens=most,
        episodes=episodes,
        as_of=arguments.as_of,
    )
    show.text(found.recalled.text, found.recalled.to_dict())
    cli.draw(found.notes, store, arguments, show, _nothing(arguments))
    sys.stdout.flush()  # the answer is out; the rest only speeds up the next search
    store.file.save_index()


@cli.command(
    "briefing",
    "memstore briefing --namespace auto\nmemstore briefing --host codex --max-tokens 300",
    cli.option(
        "--max-tokens N",
        "the longest the text may be (default: 500)",
        type=cli.count,
        default=500,
    ),
    cli.option("--host NAME", "the host that begins, e.g. codex: its own changes are left out"),
    cli.option("--no-traces", "leave out the files, commits and failed commands of sessions"),
    *cli.WHOSE,
    shows_part=True,
)
def _briefing(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    own = cli.owned(store, arguments)
    told = own.briefing(
        max_tokens=arguments.max_tokens,
        agent=arguments.host,
        traces=settings.keeps_traces() and not arguments.no_traces,
    )
    show.text(told.text, told.to_dict())
    if not told.text:
        cli.draw(answers.of_nothing(own), store, arguments, show, "nothing to begin with")


@cli.command(
    "list",
    "memstore list --subject alice\nmemstore list --newest --limit 20 --json",
    *cli.NARROWING,
    cli.option("--deleted", "include deleted facts", dest="include_deleted"),
    cli.option("--pinned", "only pinned facts"),
    cli.limit(),
    cli.OFFSET,
    cli.NEWEST,
    *cli.CHOSEN,
    cli.AS_OF,
    shows_part=True,
)
def _list(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    wanted = cli.given(arguments, f"{CONDITIONS} active_only include_deleted pinned")
    seen = cli.seen(store, arguments)
    facts = seen.list(**wanted, **cli.given(arguments, "limit offset newest_first"))
    show.facts(facts)
    part = arguments.limit is not None or arguments.offset
    total = seen.count(**wanted) if part else len(facts)
    cli.draw_list(store, arguments, show, facts, total, "fact", "no facts")


@cli.command(
    "get", "memstore get 12\nmemstore get 12 --as-of yesterday", cli.ID, *cli.WHOSE, cli.AS_OF
)
def _get(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    seen = cli.seen(store, arguments)
    fact = seen.get(arguments.id)
    if os.path.isdir(settings.sync_folder()):
        with stores.file_of(store).engine.read() as transaction:
            device = origins.of_fact(transaction, fact.id)
        if device is not None:
            show.fact(fact, stored_on=device)
            return
    show.fact(fact)


def _any_id(text: str) -> int | str:
    """Parse the id of a fact, ``12``, as a number, and that of a turn, ``e12``, as text."""
    if text.startswith("e") and (text[1:].isdigit() or not END.fullmatch(text)):
        episodes.episode_id(text)
        return text
    return cli.fact_id(text)


@cli.command(
    "history",
    "memstore history 12\nmemstore history --subject alice --journal\nmemstore history e31",
    cli.option("ID", "any version of the fact; or e12, a turn", type=_any_id, nargs="?"),
    cli.option("--subject NAME", "instead: every fact ever stored about this subject"),
    cli.option("--journal", "show every change instead: when, what and by whom"),
    *cli.WHOSE,
    cli.AS_OF,
    usage="ID | --subject NAME [options]",
)
def _history(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    if (arguments.id is None) == (arguments.subject is None):
        raise cli.UsageError("give a fact's id or --subject NAME")
    if isinstance(arguments.id, str):
        if arguments.as_of is not None:
            raise cli.UsageError("--as-of goes with a fact's id, not with a turn")
        turn = episodes.episode_id(arguments.id)
        show.episodes(cli.owned(store, arguments).episodes.around(turn))
        return
    scope = cli.whose(arguments)
    own = scope not in (Scope(), EVERYBODY) and arguments.id is not None
    if own and not arguments.journal and arguments.as_of is None:
        learn.show_past(store, arguments, show)
        return
    store = cli.owned(store, arguments)
    then = None if arguments.as_of is None else store.as_of(arguments.as_of)
    facts = (then or store).history(arguments.id, subject=arguments.subject)
    if arguments.journal:
        lines = _journal(store, facts)
        show.journal([line for line in lines if then is None or line.id <= then.line])
    else:
        show.chain(facts)
    if not facts:
        others = answers.of_subject(store, arguments.subject) if arguments.subject else ()
        whose = " for these owners" if others else ""
        show.note(f"no fact about this was ever stored{whose}")
        cli.draw(others, store, arguments, show)


def _journal(store: Store, facts: list[Fact]) -> list[JournalLine]:
    """Return the journal lines about these facts; one query covers a whole chain."""
    found: dict[int, JournalLine] = {}
    answered: set[int | None] = set()
    for fact in facts:
        if fact.id not in answered and fact.status != "erased":
            lines = store.ledger.journal(fact.id)
            found.update((line.id, line) for line in lines)
            answered.update(line.fact_id for line in lines)
    return [found[number] for number in sorted(found)]
