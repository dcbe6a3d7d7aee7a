"""Where a caller stands in a file: the namespace, the owners, and what else may be reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from memstore.domain.arguments import ALL_NAMESPACES, RESERVED, checked_items, checked_name
from memstore.domain.records import (
    EVERYBODY,
    NOBODY,
    AtLeast,
    OwnersSelection,
    Scope,
    is_among,
    is_within,
)
from memstore.errors import (
    AccessDenied,
    InvalidArgument,
    InvalidArgumentType,
    Remedy,
)
from memstore.frozen import frozen, replace
from memstore.lazy import cached_property, lazy_import
from memstore.settings import DEFAULT_NAMESPACE

R = TypeVar("R", "NewFact", "NewEpisode")

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from memstore.domain import project_names
    from memstore.domain.episodes import NewEpisode
    from memstore.domain.records import NewFact

    class Owned(Protocol):
        """A record with owners."""

        @property
        def scope(self) -> Scope: ...
else:
    project_names = lazy_import("memstore.domain.project_names")


Namespaces: TypeAlias = str | Sequence[str] | None
"""A caller's choice: one, several, ``"all"``, or ``None`` for the store's own."""


@frozen
class Standing:
    """The namespace and the owners that every read and write of a store is bound to."""

    namespace: str
    confined: bool = False
    """Whether no other namespace is reached."""
    shared: str | None = None
    """A second namespace, which is also read if the caller names none."""
    owners: OwnersSelection | None = None
    """Those of ``Store.of``. ``None``, as in a store that was just opened: what is asked for is
    what has no owners, but an id may be of any."""
    widest: OwnersSelection | None = None
    """The owners beyond which none are reached; ``None`` for no such limit."""
    project: str | None = None
    """The project that the caller works in, where the namespace holds those of several."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "namespace", checked_name(self.namespace, "namespace"))
        if self.namespace in RESERVED:
            raise InvalidArgument(
                f"cannot be {self.namespace!r}, which selects {RESERVED[self.namespace]}",
                argument="namespace",
            )
        if self.shared == self.namespace:
            object.__setattr__(self, "shared", None)
        if self.project is not None:
            object.__setattr__(self, "project", checked_name(self.project, "project").strip())

    # -- owners ----------------------------------------------------------------------------

    def of(self, owners: OwnersSelection) -> Standing:
        """Return the same with these owners."""
        if not isinstance(owners, Scope | AtLeast) and owners != EVERYBODY:
            raise InvalidArgumentType(
                f'must be a Scope, AtLeast or "{EVERYBODY}", not {type(owners).__name__}',
                argument="owners",
            )
        if self.widest is not None and not is_within(owners, self.widest):
            raise AccessDenied("this access is bound to its owners and reaches no others")
        return replace(self, owners=owners)

    @cached_property
    def selected(self) -> Scope | AtLeast | None:
        """The owners of what is asked for; ``None`` for any."""
        owners = self.owners
        if owners is None:
            return NOBODY
        return None if owners == EVERYBODY else owners

    @property
    def names_nobody(self) -> bool:
        """Whether what is asked for is what has no owners."""
        return self.selected == NOBODY

    @cached_property
    def bound(self) -> Scope | AtLeast | None:
        """The owners that a record named by its id must have; ``None`` for any."""
        owners = self.owners
        return None if owners == EVERYBODY else owners

    @property
    def written(self) -> Scope:
        """The owners of a new record that names none.

        Raises:
            InvalidArgument: there are several sets of owners that it could have.
        """
        if isinstance(self.owners, Scope):
            return self.owners
        if isinstance(self.owners, AtLeast):
            raise InvalidArgument(
                f"must be named: the store is of at least {_written(self.owners)}",
                argument="owners",
                remedy=Remedy.NAME_OWNERS,
            )
        return NOBODY

    @property
    def imported(self) -> Scope | None:
        """The owners of what is imported; ``None`` for those that it has."""
        return None if self.bound is None else self.written

    @property
    def may_count_others(self) -> bool:
        """Whether it may be told how much other owners hold."""
        return self.widest is None

    def check_unbound(self, does: str) -> None:
        """Refuse what owners cannot limit.

        Raises:
            InvalidArgument: the store is of some owners.
        """
        if self.bound is not None:
            raise InvalidArgument(f"cannot limit this, which {does}", argument="owners")

    def owners_for(self, named: Scope) -> Scope:
        """Return the owners of a new record, which may name some.

        Raises:
            InvalidArgument: they are not among those that the store is of.
        """
        if named == NOBODY:
            return self.written
        if isinstance(self.owners, Scope):
            filled = Scope(**{n: named.ids[n] or own for n, own in self.owners.ids.items()})
            named = named if filled == named else filled
        if not is_among(named, self.bound):
            raise InvalidArgument(
                f"contradict the owners of the store, {_written(self.bound)}", argument="owners"
            )
        return named

    def owned(self, new: R) -> R:
        """Return a new record with the owners that it is stored for, and the project."""
        new = self.placed(new)
        if self.owners is None:
            return new
        named = Scope(user_id=new.user_id, agent_id=new.agent_id, run_id=new.run_id)
        owners = self.owners_for(named)
        return new if owners == named else replace(new, **owners.ids)

    def placed(self, new: R) -> R:
        """Return a new record that names the caller's project, if there is one."""
        return new if self.project is None else project_names.placed(new, self.project)

    def reaches(self, record: Owned) -> bool:
        """Return whether a record that was named by its id is of the owners."""
        bound = self.bound
        return bound is None or is_among(record.scope, bound)

    @property
    def bounded(self) -> Standing:
        """The same, confined to its namespace and, if it has any, to its owners."""
        return replace(self, confined=True, widest=self.owners or self.widest)

    # -- namespaces ------------------------------------------------------------------------

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are read if the caller names none, the own one first."""
        return (self.namespace,) if self.shared is None else (self.namespace, self.shared)

    @cached_property
    def alone(self) -> Standing:
        """The same without the shared namespace."""
        return self if self.shared is None else replace(self, shared=None)

    def select(self, asked: Namespaces) -> tuple[str, ...] | None:
        """Return the requested namespaces; ``None`` for every namespace of the file."""
        if asked is None:
            return self.namespaces
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
    return Standing(DEFAULT_NAMESPACE).select(asked)


def _written(owners: Scope | AtLeast | None) -> str:
    given = {} if owners is None else {n: i for n, i in owners.ids.items() if i is not None}
    return ", ".join(f"{name} {owner!r}" for name, owner in given.items()) or "nobody"
