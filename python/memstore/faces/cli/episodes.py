"""The commands for the log of episodes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.faces.cli import command as cli
from memstore.faces.cli.ids import UuidEnd
from memstore.faces.escaping import counted
from memstore.lazy import lazy_import
from memstore.text.escaping import visible

if TYPE_CHECKING:
    import argparse

    from memstore.store import answers
    from memstore.store.store import Store
else:
    answers = lazy_import("memstore.store.answers")

DEFAULT_SOURCE = "cli"

MAX_NAMED = 8
"""Facts that are named one by one."""

PREVIEW_CHARACTERS = 200
"""How much of a text is shown before it is erased."""


def episode_id(text: str) -> int | str:
    """Parse an episode's id: ``12``, ``e12``, ``#12``, a UUID or its last digits."""
    if len(text) == clock.UUID_CHARACTERS and text.count("-") == 4:
        return text
    end = UuidEnd.of(text, "episode")
    return cli.number_id(text.removeprefix("e")) if end is None else end


EPISODE_ID = cli.option(
    "ID", "the episode's number, or its UUID or the last eight digits of that", type=episode_id
)


def _tags(meaning: str) -> cli.Option:
    return cli.option("--tag TAG", meaning, dest="tags", action="append", default=[])


FILTERS = (
    _tags("only episodes with this tag; may be repeated"),
    cli.option("--source NAME", "only from this source"),
    cli.option("--after TIME", "only those recorded after this time", dest="created_after"),
    cli.option("--before TIME", "only those recorded before this time", dest="created_before"),
    cli.option("--valid-after TIME", "only those said or done after this time"),
    cli.option("--valid-before TIME", "only those said or done before this time"),
    cli.option("--expired-after TIME", "only those that expire after this time"),
    cli.option("--expired-before TIME", "only those that expire before this time"),
    cli.option("--all", "include expired episodes", dest="include_expired"),
    cli.NAMESPACES,
    *cli.CHOSEN,
)


@cli.command(
    "episode add",
    "memstore episode add 'We agreed on blue-green deploys' --tag ops\n"
    "cat offer.txt | memstore episode add - --source mail --name 'Offer'",
    cli.option("CONTENT", "the text, kept verbatim; - reads standard input", nargs="+"),
    cli.option(
        "--source NAME",
        f"where the text comes from; use one name consistently (default: {DEFAULT_SOURCE})",
        default=DEFAULT_SOURCE,
    ),
    cli.option("--name TEXT", "a name for the episode"),
    cli.option("--source-model NAME", "the model that wrote it"),
    cli.option("--source-description TEXT", "more about the source"),
    _tags("a tag to find it by; may be repeated"),
    cli.THREAD,
    cli.SEQ,
    cli.option("--speaker NAME", "who said it"),
    cli.option("--valid-at TIME", "when it was said or done, e.g. 2026-03-01"),
    *cli.METADATA,
    cli.option(
        "--key TEXT",
        "an idempotency key: adding with the same key again returns the same episode",
        dest="idempotency_key",
    ),
    *cli.OWNERS,
    file="create",
)
def _add(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    # Word for word: line ends too, unlike the content of a fact.
    words = " ".join(arguments.content)
    content = cli.standard_input() if words == "-" else words
    episode = store.of(cli.scope_of(arguments)).episodes.add(
        content,
        **cli.given(arguments, "source name source_model source_description tags"),
        **cli.given(arguments, "thread seq speaker valid_at idempotency_key"),
        metadata=cli.metadata_of(arguments) or None,
    )
    show.done(f"recorded as episode #{episode.id}", episode.to_dict())


def _filters_of(arguments: argparse.Namespace) -> dict[str, Any]:
    conditions = (
        "tags source created_after created_before valid_after valid_before expired_after "
        "expired_before include_expired namespaces"
    )
    return cli.given(arguments, conditions)


@cli.command(
    "episode search",
    "memstore episode search what did we agree on about deploys\n"
    "memstore episode search rollback --tag ops --after 2026-01-01 --mode words",
    cli.option("QUERY", "a question or keywords; without any, the newest episodes", nargs="*"),
    cli.limit(10),
    cli.CONTEXT,
    *cli.RANKING,
    cli.option(
        "--mode",
        "search by words and meaning (hybrid, the default) or by one of them",
        choices=("hybrid", "words", "meaning"),
        default="hybrid",
    ),
    cli.option("--alpha X", "weight of the meaning, 0 to 1 (default: 0.4)", type=float),
    cli.option(
        "--tag-boost X",
        "tags raise the score by this much instead of filtering",
        type=float,
        default=0.0,
    ),
    cli.option(
        "--min-similarity X", "leave out episodes less similar than this, -1 to 1", type=float
    ),
    *FILTERS,
    usage="[QUERY…] [options]",
    embedder="required",
    shows_part=True,
)
def _search(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    own = cli.owned(store, arguments)
    hits = own.episodes.search(
        " ".join(arguments.query) or None,
        **cli.given(arguments, "mode alpha tag_boost min_similarity limit context"),
        **cli.given(arguments, "ranking min_relevance"),
        **_filters_of(arguments),
    )
    show.episode_hits(hits, explain=arguments.explain)
    nothing = "nothing found: try other words, fewer conditions, or memstore episode list"
    where = arguments.namespaces
    given = answers.of_episodes(own, hits, "episode", namespaces=where)
    cli.draw(given, store, arguments, show, nothing, "e")


@cli.command(
    "episode list",
    "memstore episode list --newest --limit 20\n"
    "memstore episode list --source mail --after 2026-03-01 --json",
    cli.limit(),
    cli.OFFSET,
    cli.NEWEST,
    *FILTERS,
    shows_part=True,
)
def _list(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    wanted, store = _filters_of(arguments), cli.owned(store, arguments)
    episodes = store.episodes.list(**wanted, **cli.given(arguments, "limit offset newest_first"))
    show.episodes(episodes)
    part = arguments.limit is not None or arguments.offset
    total = store.episodes.count(**wanted) if part else len(episodes)
    cli.draw_list(store, arguments, show, episodes, total, "episode", "no episodes")


@cli.command(
    "episode get",
    "memstore episode get 12",
    EPISODE_ID,
    *cli.WHOSE,
)
def _get(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    show.episode(cli.owned(store, arguments).episodes.get(arguments.id))


@cli.command(
    "episode update",
    "memstore episode update 12 --tag ops --tag done -m ticket=42\n"
    "memstore episode update 12 --expires-at 2026-12-31\n"
    "memstore episode update 12 --no-tags --unexpire",
    EPISODE_ID,
    _tags("a new tag; replaces all existing tags; may be repeated"),
    cli.option("--no-tags", "remove all its tags"),
    cli.EXPIRES_AT,
    cli.option("--unexpire", "remove its expiry time"),
    *cli.METADATA,
    cli.UNSET,
    *cli.WHOSE,
)
def _update(store: Store, arguments: argparse.Namespace, show: cli.Show) -> None:
    changes: dict[str, Any] = {}
    for given, instead, flags in (
        (arguments.tags, arguments.no_tags, "--tag or --no-tags"),
        (arguments.expired_at, arguments.unexpire, "--expires-at or --unexpire"),
    ):
        if given and instead:
            raise cli.UsageError(f"give {flags}, not both")
    if arguments.tags or arguments.no_tags:
        changes["tags"] = arguments.tags
    if arguments.expired_at is not None or arguments.unexpire:
        changes["expired_at"] = arguments.expired_at
    if patch := cli.patch_of(arguments):
        changes["metadata"] = patch
    if not changes:
        raise cli.UsageError(
            "nothing to update: give --tag, --no-tags, --expires-at, --unexpire, -m key=value, "
            "--metadata or --unset key"
        )
    episode = cli.owned(store, arguments).episodes.update(arguments.id, **changes)
    show.done(f"updated episode #{episode.id}", episode.to_dict())


@cli.command(
    "episode erase",
    "memstore episode erase 12",
    EPISODE_ID,
    cli.YES,
    *cli.WHOSE,
    usage="ID [--yes] [options]",
)
def _erase(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    store = cli.owned(store, arguments)
    episode = store.episodes.get(arguments.id)

    left = _left_facts(store, arguments, episode.id)

    def preview() -> str:
        more = "…" if len(episode.content) > PREVIEW_CHARACTERS else ""
        told = f"#{episode.id}  {visible(episode.content[:PREVIEW_CHARACTERS])}{more}"
        return f"{told}\n{left}" if left else told

    act = partial(store.episodes.erase, episode.id)
    code = cli.erase(store, preview, act, arguments.yes, show, episode.id, "episode ")
    if code is None and left:
        show.note(left)
    return code


def _left_facts(store: Store, arguments: argparse.Namespace, episode_id: int) -> str:
    """Return a note about the facts that were drawn from an episode and rest on nothing else."""
    facts = store.ledger.erasure(episode=episode_id).fact_ids
    if not facts:
        return ""
    named = ", ".join(f"#{one}" for one in facts[:MAX_NAMED])
    more = ", …" if len(facts) > MAX_NAMED else ""
    which = f"memstore erase --episode {episode_id}{cli.same_flags(arguments)}"
    return f"{counted(len(facts))} drawn from it stay: {named}{more}; {which} erases them too"
