"""The store that an adapter works on: the caller's, or one of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memstore.domain.records import checked_scope
from memstore.errors import InvalidArgumentType
from memstore.settings import DEFAULT_NAMESPACE
from memstore.store.opening import open as open_store
from memstore.store.store import Store, standing_of, through

if TYPE_CHECKING:
    from typing import TypeAlias

    from memstore.domain.records import Scope

StoreOrPath: TypeAlias = "Store | str | os.PathLike[str]"


class Opened:
    """A store whose changes the journal attributes to a framework.

    A store whose own source counts less than the framework, such as a web page, keeps its source.

    Args:
        store: an open store, or the path or URL of a memory, which :meth:`close` then closes.
        source: the framework's name, for the journal.
        namespace: the namespace of what the adapter reads and writes; by default the store's, or
            ``default`` for a path.
        scope: the owners of what the adapter reads and writes; by default those of the store, which
            may be none.

    Raises:
        AccessDenied: the store is confined to another namespace.
        InvalidArgumentType: it is neither a store nor a path.
    """

    def __init__(
        self,
        store: StoreOrPath,
        source: str,
        namespace: str | None = None,
        *,
        scope: Scope | None = None,
    ) -> None:
        self._own: Store | None = None
        if isinstance(store, Store):
            self.store = through(store.within(namespace), source)
        elif isinstance(store, str | os.PathLike):
            named = DEFAULT_NAMESPACE if namespace is None else namespace
            self.store = self._own = open_store(store, source=source, namespace=named)
        else:
            raise InvalidArgumentType(
                f"must be an open memstore.Store or the path of a file, not {type(store).__name__}",
                argument="store",
            )

        self.scope = standing_of(self.store).owners_for(checked_scope(scope))
        """The owners of what is written."""

    @property
    def owned(self) -> Store:
        """The store of the owners."""
        return self.store.of(self.scope)

    def close(self) -> None:
        """Close the store, if it was opened from a path."""
        if self._own is not None:
            self._own.close()
