"""The commands that store facts and correct them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.faces import wording
from memstore.faces.cli.command import (
    BYTES_REMAIN,
    REFUSED,
    Command,
    UsageError,
    add_id,
    add_metadata,
    add_yes,
    agreed_to_erase,
    content_of,
    fact_id,
    metadata_of,
)
from memstore.faces.escaping import visible

if TYPE_CHECKING:
    import argparse

    from memstore.faces.cli.render import Show
    from memstore.store.store import Store


def _fill_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "content",
        metavar="CONTENT",
        help="the claim, understandable on its own; - reads standard input",
    )
    parser.add_argument(
        "--subject",
        metavar="NAME",
        required=True,
        help="whom or what it is about; call the same thing always the same",
    )
    parser.add_argument(
        "--category",
        metavar="NAME",
        default="note",
        help="preference, identity, project, …; a note, which is the default, fades with time",
    )
    add_metadata(parser)
    parser.add_argument(
        "--supersedes", metavar="ID", type=fact_id, help="the fact this one replaces"
    )
    parser.add_argument("--valid-at", metavar="TIME", help="since when it holds, e.g. 2026-03-01")
    parser.add_argument("--expires-at", metavar="TIME", help="from when on it no longer counts")
    parser.add_argument("--source", metavar="TEXT", help="where it comes from")
    parser.add_argument(
        "--key",
        metavar="TEXT",
        help="an idempotency key: storing again with the same key gives back the same fact",
    )


def _add(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    fact = store.add(
        content_of(arguments.content),
        subject=arguments.subject,
        category=arguments.category,
        metadata=metadata_of(arguments) or None,
        supersedes=arguments.supersedes,
        valid_at=arguments.valid_at,
        expired_at=arguments.expires_at,
        source=arguments.source,
        idempotency_key=arguments.key,
    )
    instead = f", superseding #{arguments.supersedes}" if arguments.supersedes else ""
    show.done(f"stored as #{fact.id}{instead}", fact.to_dict())
    tell_pending(store, fact.id, fact.embedded, show)


def tell_pending(store: Store, fact_id: int, embedded: bool, show: Show) -> None:
    """Say so when something was stored while the embedder failed."""
    if not embedded and (trouble := store.embedder_trouble):
        show.note(
            f"stored as #{fact_id}; its embedding is pending: {wording.on_command_line(trouble)} "
            "(words find it already; memstore embed-pending tries again)"
        )


def _fill_supersede(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "old", "the fact that no longer holds")
    add_id(parser, "new", "the fact that holds instead, stored already")


def _supersede(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    fact = store.supersede(arguments.old, arguments.new)
    show.done(f"#{fact.id} is superseded by #{fact.superseded_by}", fact.to_dict())


def _confirm(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    fact = store.confirm(arguments.id)
    times = "once" if fact.confirmed_count == 1 else f"{fact.confirmed_count} times"
    show.done(f"confirmed #{fact.id}, {times} so far", fact.to_dict())


def _fill_update(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_metadata(parser)
    parser.add_argument(
        "--unset",
        metavar="KEY",
        action="append",
        default=[],
        help="a key to remove; may be repeated",
    )


def _update(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    patch = {**metadata_of(arguments), **dict.fromkeys(arguments.unset)}
    if not patch:
        raise UsageError("nothing to update: give -m key=value, --metadata or --unset key")
    fact = store.update_metadata(arguments.id, patch)
    show.done(f"updated the metadata of #{fact.id}", fact.to_dict())


def _delete(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    fact = store.delete(arguments.id)
    show.done(f"deleted #{fact.id}; memstore restore {fact.id} brings it back", fact.to_dict())


def _restore(store: Store, arguments: argparse.Namespace, show: Show) -> None:
    fact = store.restore(arguments.id)
    again = "" if fact.id == arguments.id else f" as #{fact.id}, the newest of its chain"
    show.done(f"restored #{arguments.id}{again}", fact.to_dict())


def _fill_erase(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    add_yes(parser)


def _erase(store: Store, arguments: argparse.Namespace, show: Show) -> int | None:
    def told() -> str:
        fact = store.get(arguments.id)
        return f"#{fact.id}  {visible(fact.subject)}: {visible(fact.content)}"

    if not arguments.yes and not agreed_to_erase(told):
        show.note("nothing was erased")
        return REFUSED
    if not store.erase(arguments.id):
        show.note(BYTES_REMAIN)
    show.done(f"erased #{arguments.id}", {"erased": arguments.id})
    return None


COMMANDS = (
    Command(
        name="add",
        usage="CONTENT --subject NAME [options]",
        summary="Store a fact: one claim about one subject.",
        example="memstore add 'Alice prefers dark mode' --subject alice --category preference\n"
        "memstore add 'Alice moved to Porto' --subject alice --supersedes 12\n"
        "git log -1 --format=%s | memstore add - --subject api -m source=git -m level=3",
        fill=_fill_add,
        run=_add,
        embedder="needed",
    ),
    Command(
        name="supersede",
        usage="OLD NEW [options]",
        summary="Retire a fact in favour of a newer one that is stored already.",
        example="memstore supersede 12 15",
        fill=_fill_supersede,
        run=_supersede,
    ),
    Command(
        name="confirm",
        usage="ID [options]",
        summary="Count one more confirmation that a fact holds true.",
        example="memstore confirm 12",
        fill=add_id,
        run=_confirm,
    ),
    Command(
        name="update",
        usage="ID [-m KEY=VALUE] [--unset KEY] [options]",
        summary="Change a fact's metadata; what it says is superseded.",
        example="memstore update 12 -m priority=3 -m lang=en --unset draft",
        fill=_fill_update,
        run=_update,
    ),
    Command(
        name="delete",
        usage="ID [options]",
        summary="Take a fact out of every search; restore brings it back.",
        example="memstore delete 12",
        fill=add_id,
        run=_delete,
    ),
    Command(
        name="restore",
        usage="ID [options]",
        summary="Bring back a deleted fact, or a superseded one as the newest.",
        example="memstore restore 12",
        fill=add_id,
        run=_restore,
    ),
    Command(
        name="erase",
        usage="ID [--yes] [options]",
        summary="Remove a fact's text from the file for good.",
        example="memstore erase 12",
        fill=_fill_erase,
        run=_erase,
    ),
)
