"""The options ``--user --agent --run``, which say whose a memory is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import Scope

if TYPE_CHECKING:
    import argparse


def add_owners(parser: argparse.ArgumentParser) -> None:
    """Add the options that say whose a memory is."""
    for name, meaning in (
        ("user", "whose it is"),
        ("agent", "and which agent's"),
        ("run", "and which run's"),
    ):
        parser.add_argument(f"--{name}", dest=f"{name}_id", metavar="ID", help=meaning)


def owners_of(arguments: argparse.Namespace) -> dict[str, str | None]:
    """Return the owners as the library's keywords; ``None`` for those not given."""
    return {name: getattr(arguments, name) for name in ("user_id", "agent_id", "run_id")}


def scope_of(arguments: argparse.Namespace) -> Scope:
    """Return the owners that were named.

    Raises:
        ValueError: one of them is blank.
    """
    return Scope(**owners_of(arguments))


def scope_if_named(arguments: argparse.Namespace) -> Scope | None:
    """Return the owners that were named; ``None`` if none was, which means everybody's."""
    scope = scope_of(arguments)
    return None if scope == Scope() else scope
