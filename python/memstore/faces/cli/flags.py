"""Flags with the owners and the place of a command, for sentences that suggest another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import NOBODY
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import shlex
    from collections.abc import Iterable, Mapping

    from memstore.domain.records import Scope
    from memstore.file import paths
else:
    paths = lazy_import("memstore.file.paths")
    shlex = lazy_import("shlex")


def ways_to_see(owners: Iterable[Scope]) -> str:
    """Return the flags that show other owners' memories."""
    named = " or ".join(owner_flags(one) for one in owners if one != NOBODY)
    return f"use --scope all{', or ' if named else ''}{named}"


def owner_flags(scope: Scope) -> str:
    """Return the flags that name these owners."""
    return in_shell(dict(zip(("--user", "--agent", "--run"), scope.ids.values(), strict=True)))


def place_flags(database: str | None, namespace: str | None) -> str:
    """Return the flags that name a memory; a server's address is shown without passwords."""
    if paths.is_server(database):
        database = paths.without_secrets(database)
    return in_shell({"--db": database, "--namespace": namespace})


def in_shell(given: Mapping[str, str | None]) -> str:
    """Return the flags that have a value, in words of a shell."""
    return " ".join(f"{flag} {shlex.quote(value)}" for flag, value in given.items() if value)
