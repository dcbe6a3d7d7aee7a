"""The commands for the log of episodes: what was said or done, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.domain.records import Scope
from memstore.faces import wording
from memstore.faces.cli.command import (
    BYTES_REMAIN,
    REFUSED,
    Command,
    UsageError,
    add_metadata,
    add_yes,
    agreed_to_erase,
    count,
    fact_id,
    metadata_of,
    names,
    offset,
    standard_input,
)
from memstore.faces.cli.owners import add_owners, scope_of
from memstore.faces.escaping import visible

if TYPE_CHECKING:
    import argparse

    from memstore.domain.records import EpisodeHits
    from memstore.faces.cli.render import Show
    from memstore.store.store import Store

DEFAULT_SOURCE = "cli"

TOLD_CHARACTERS = 200
"""Of a text that is about to be erased."""


def episode_id(text: str) -> int | str:
    """Read the id of an episode, ``12`` or ``#12``, or its UUID."""
    if len(text) == clock.UUID_CHARACTERS and text.count("-") == 4:
        return text
    return fact_id(text)


def _fill_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "content",
        metavar="CONTENT",
        help="the words, kept as they are; - reads them from standard input",
    )
    parser.add_argument(
        "--source",
        metavar="NAME",
        default=DEFAULT_SOURCE,
        help=f"what they come from; call it always the same (default: {DEFAULT_SOURCE})",
    )
    parser.add_argument("--name", metavar="TEXT", help="what to call the episode")
    parser.add_argument("--source-model", metavar="NAME", help="the model that wrote it")
    parser.add_argument(
        "--source-description", metavar="TEXT", help="more about where it comes from"
    )
    _add_tags(parser, "a tag to find it by; may be repeated")
    parser.add_argument(
        "--valid-at", metavar="TIME", help="when it was said or done, e.g. 2026-03-01"
    )
    add_metadata(parser)
    parser.add_argument(
        "--key",
        metavar="TEXT",
        help="an idempotency key: adding again with the same key gives back the same episode",
    )
    add_owners(parser)


def _add(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    # Word for word: line ends too, unlike the content of a fact.
    content = standard_input() if arguments.content == "-" else arguments.content
    episode = store.episodes.add(
        content,
        source=arguments.source,
        name=arguments.name,
        source_model=arguments.source_model,
        source_description=arguments.source_description,
        tags=arguments.tags or (),
        valid_at=arguments.valid_at,
        metadata=metadata_of(arguments) or None,
        idempotency_key=arguments.key,
        scope=scope_of(arguments),
    )
    show.done(f"recorded as episode #{episode.id}", episode.to_dict())


def _add_tags(parser: argparse.ArgumentParser, meaning: str) -> None:
    parser.add_argument("--tag", dest="tags", metavar="TAG", action="append", help=meaning)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    _add_tags(parser, "only episodes that have this tag; may be repeated")
    parser.add_argument("--source", metavar="NAME", help="only from this source")
    for flag, meaning in (
        ("--after", "only recorded after this"),
        ("--before", "only recorded before this"),
        ("--valid-after", "only said or done after this"),
        ("--valid-before", "only said or done before this"),
    ):
        parser.add_argument(flag, metavar="TIME", help=meaning)
    parser.add_argument(
        "--all", dest="everything", action="store_true", help="expired episodes too"
    )
    parser.add_argument(
        "--namespaces", metavar="A,B", type=names, help="look in these instead; all for every one"
    )
    add_owners(parser)


def _filters_of(arguments: argparse.Namespace) -> dict[str, Any]:
    scope = scope_of(arguments)
    return {
        "tags": arguments.tags or (),
        "source": arguments.source,
        "created_after": arguments.after,
        "created_before": arguments.before,
        "valid_after": arguments.valid_after,
        "valid_before": arguments.valid_before,
        "include_expired": arguments.everything,
        "namespaces": arguments.namespaces,
        "scope": None if scope == Scope() else scope,
    }


def _fill_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query", metavar="QUERY", nargs="*", help="a question, or some words; none: the newest"
    )
    parser.add_argument(
        "--limit", metavar="N", type=count, default=10, help="how many at most (default: 10)"
    )
    parser.add_argument(
        "--mode",
        choices=("hybrid", "words", "meaning"),
        default="hybrid",
        help="find by words and by meaning (hybrid, the default), or by one of them",
    )
    parser.add_argument(
        "--alpha", metavar="X", type=float, help="what the meaning counts, 0 to 1 (default: 0.4)"
    )
    parser.add_argument(
        "--tag-boost",
        metavar="X",
        type=float,
        default=0.0,
        help="tags do not filter, but raise the score by this much",
    )
    parser.add_argument(
        "--min-similarity", metavar="X", type=float, help="leave out what is less similar, -1 to 1"
    )
    _add_filters(parser)


def _search(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    hits = store.episodes.search(
        " ".join(arguments.query) or None,
        mode=arguments.mode,
        alpha=arguments.alpha,
        tag_boost=arguments.tag_boost,
        min_similarity=arguments.min_similarity,
        limit=arguments.limit,
        **_filters_of(arguments),
    )
    show.episode_hits(hits)
    _tell(hits, show)


def _tell(hits: EpisodeHits, show: Show) -> None:
    if hits.words_only is not None:
        note = f"searched by words only: {wording.on_command_line(hits.words_only.reason)}"
        if hits.newest_first:
            note += f"; the last {hits.newest_first} match no word and are just the newest"
        show.note(note)
    elif not hits:
        show.note("nothing found: try other words, fewer conditions, or memstore episode list")


def _fill_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="N", type=count, help="how many at most")
    parser.add_argument(
        "--offset", metavar="N", type=offset, default=0, help="how many to pass over first"
    )
    parser.add_argument("--newest", action="store_true", help="the newest first")
    _add_filters(parser)


def _list(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    episodes = store.episodes.list(
        limit=arguments.limit,
        offset=arguments.offset,
        newest_first=arguments.newest,
        **_filters_of(arguments),
    )
    show.episodes(episodes)
    if not episodes:
        show.note("no episodes here")


def _fill_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", type=episode_id, help="the episode's number, or its UUID"
    )


def _get(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    show.episode(store.episodes.get(arguments.id))


def _fill_update(parser: argparse.ArgumentParser) -> None:
    _fill_id(parser)
    _add_tags(parser, "a tag it has from now on, instead of those it has; may be repeated")
    parser.add_argument("--no-tags", action="store_true", help="take all its tags away")
    parser.add_argument("--expires-at", metavar="TIME", help="from when on it no longer counts")
    parser.add_argument("--unexpire", action="store_true", help="let it count again")
    add_metadata(parser)
    parser.add_argument(
        "--unset",
        metavar="KEY",
        action="append",
        default=[],
        help="a key of its metadata to remove; may be repeated",
    )


def _update(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    changes: dict[str, Any] = {}
    for given, instead, flags in (
        (arguments.tags, arguments.no_tags, "--tag or --no-tags"),
        (arguments.expires_at, arguments.unexpire, "--expires-at or --unexpire"),
    ):
        if given and instead:
            raise UsageError(f"give {flags}, not both")
    if arguments.tags or arguments.no_tags:
        changes["tags"] = arguments.tags or []
    if arguments.expires_at is not None or arguments.unexpire:
        changes["expired_at"] = arguments.expires_at
    if patch := {**metadata_of(arguments), **dict.fromkeys(arguments.unset)}:
        changes["metadata"] = patch
    if not changes:
        raise UsageError(
            "nothing to update: give --tag, --no-tags, --expires-at, --unexpire, -m key=value, "
            "--metadata or --unset key"
        )
    episode = store.episodes.update(arguments.id, **changes)
    show.done(f"updated episode #{episode.id}", episode.to_dict())


def _fill_erase(parser: argparse.ArgumentParser) -> None:
    _fill_id(parser)
    add_yes(parser)


def _erase(store: Store, arguments: argparse.Namespace, show: Show) -> int | None:
    episode = store.episodes.get(arguments.id)

    def told() -> str:
        more = "…" if len(episode.content) > TOLD_CHARACTERS else ""
        return f"#{episode.id}  {visible(episode.content[:TOLD_CHARACTERS])}{more}"

    if not arguments.yes and not agreed_to_erase(told):
        show.note("nothing was erased")
        return REFUSED
    if not store.episodes.erase(episode.id):
        show.note(BYTES_REMAIN)
    show.done(f"erased episode #{episode.id}", {"erased": episode.id})
    return None


COMMANDS = (
    Command(
        name="episode add",
        usage="CONTENT [options]",
        summary="Record what was said or done, word for word, of any length.",
        example="memstore episode add 'We agreed on blue-green deploys' --tag ops\n"
        "cat offer.txt | memstore episode add - --source mail --name 'Offer'",
        fill=_fill_add,
        run=_add,
    ),
    Command(
        name="episode search",
        usage="[QUERY…] [options]",
        summary="Find episodes by words and by meaning, best first.",
        example="memstore episode search what did we agree on about deploys\n"
        "memstore episode search rollback --tag ops --after 2026-01-01 --mode words",
        fill=_fill_search,
        run=_search,
        file="there",
        embedder="needed",
    ),
    Command(
        name="episode list",
        summary="List episodes, oldest first.",
        example="memstore episode list --newest --limit 20\n"
        "memstore episode list --source mail --after 2026-03-01 --json",
        fill=_fill_list,
        run=_list,
        file="there",
    ),
    Command(
        name="episode get",
        usage="ID [options]",
        summary="Show one episode whole, with all its fields.",
        example="memstore episode get 12",
        fill=_fill_id,
        run=_get,
        file="there",
    ),
    Command(
        name="episode update",
        usage="ID [options]",
        summary="Change an episode's tags, expiry or metadata; its words stay.",
        example="memstore episode update 12 --tag ops --tag done -m ticket=42\n"
        "memstore episode update 12 --expires-at 2026-12-31\n"
        "memstore episode update 12 --no-tags --unexpire",
        fill=_fill_update,
        run=_update,
        file="there",
    ),
    Command(
        name="episode erase",
        usage="ID [--yes] [options]",
        summary="Remove an episode's text from the file for good.",
        example="memstore episode erase 12",
        fill=_fill_erase,
        run=_erase,
        file="there",
    ),
)
