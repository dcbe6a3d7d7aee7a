"""The flags that name owners, for sentences that suggest a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import NOBODY
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import shlex
    from collections.abc import Iterable

    from memstore.domain.records import Scope
else:
    shlex = lazy_import("shlex")


def ways_to_see(owners: Iterable[Scope]) -> str:
    """Return the flags that show other owners' memories."""
    named = " or ".join(owner_flags(one) for one in owners if one != NOBODY)
    return f"use --scope all{', or ' if named else ''}{named}"


def owner_flags(scope: Scope) -> str:
    """Return the flags that name these owners."""
    given = zip(("--user", "--agent", "--run"), scope.ids.values(), strict=True)
    return " ".join(f"{flag} {shlex.quote(owner)}" for flag, owner in given if owner is not None)
