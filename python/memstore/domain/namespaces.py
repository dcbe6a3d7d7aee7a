"""The namespace of a store, and which others it may reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.domain.arguments import ALL_NAMESPACES, checked_items, checked_name
from memstore.errors import AccessDenied, InvalidArgument, Remedy
from memstore.frozen import frozen
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

Namespaces: TypeAlias = str | Sequence[str] | None
"""A caller's choice: one, several, ``"all"``, or ``None`` for the store's own."""

AUTO: Final = "auto"
"""Selects the namespace of the current folder's project."""

RESERVED: Final = {ALL_NAMESPACES: "every namespace", AUTO: "the namespace of a project"}


@frozen
class Reach:
    """The namespace of a store; a confined one reaches no other."""

    namespace: str
    confined: bool = False
    shared: str | None = None
    """A second namespace, which is also read if the caller names none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "namespace", checked_name(self.namespace, "namespace"))
        if self.namespace in RESERVED:
            raise InvalidArgument(
                f"cannot be {self.namespace!r}, which selects {RESERVED[self.namespace]}",
                argument="namespace",
            )

    def select(self, asked: Namespaces) -> tuple[str, ...] | None:
        """Return the requested namespaces; ``None`` for every namespace of the file."""
        if asked is None:
            return (self.namespace,) if self.shared is None else (self.namespace, self.shared)
        names = (asked,) if isinstance(asked, str) else (*checked_items(asked, "namespaces"),)
        if not names:
            raise InvalidArgument("is empty: it takes one or more names", argument="namespaces")
        names = self.check(*names)
        return None if asked == ALL_NAMESPACES else names

    @property
    def nameable(self) -> tuple[str, ...] | None:
        """The namespaces whose lines of the journal may be named; ``None`` for all."""
        return (self.namespace,) if self.confined else None

    def check(self, *names: str) -> tuple[str, ...]:
        """Return names as they are stored; a confined store may name only its own."""
        names = tuple(checked_name(name, "namespace") for name in names)
        if self.confined and any(name != self.namespace for name in names):
            raise AccessDenied(
                f"this access is bound to the namespace {self.namespace!r} and reaches no other",
                remedy=Remedy.OMIT_NAMESPACE,
            )
        return names

    def check_all(self) -> None:
        self.check(ALL_NAMESPACES)

    def visible(self, counts: Mapping[str, int]) -> dict[str, int]:
        return {n: c for n, c in counts.items() if not self.confined or n == self.namespace}


def selected(asked: str | Sequence[str]) -> tuple[str, ...] | None:
    """Return namespaces to be selected from a whole file; ``None`` for every one."""
    return Reach(DEFAULT_NAMESPACE).select(asked)
