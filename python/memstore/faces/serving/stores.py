"""The stores of one server: one file, with a store for each namespace of a token."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from memstore.domain.records import AtLeast
from memstore.frozen import frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memstore.faces.serving.opening import Opening
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    stores = lazy_import("memstore.store.store")

MAX_STORES: Final = 64
"""How many stores are cached; making another one is cheap."""


class Stores:
    """Returns a store for each namespace; all of them share connections, model and vectors.

    The server's own store embeds the pending items of every namespace.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._making = threading.Lock()
        self._open: OrderedDict[tuple[object, ...], Store] = OrderedDict()

    def start(self) -> None:
        self._opening.start()

    def store(self) -> Store:
        return self._opening.store()

    def confined(self, namespace: str, owners: Mapping[str, Any] | None = None) -> Store:
        """Return a store that can access only this namespace, and only what these owners have."""
        home = self._opening.store()
        place = (namespace, *sorted((owners or {}).items()))
        with self._making:
            store = self._open.get(place)
            if store is None or stores.file_of(store).is_replaced:
                whose = home.of(AtLeast(**owners)) if owners else home
                store = self._open[place] = whose.within(namespace, confined=True)
            self._open.move_to_end(place)
            if len(self._open) > MAX_STORES:
                self._open.popitem(last=False)  # a call that still works with it is not disturbed
            return store


@frozen
class Confined:
    """The source of the store for calls with one token."""

    stores: Stores
    namespace: str
    owners: Mapping[str, Any] | None = None

    def start(self) -> None:
        self.stores.start()

    def store(self) -> Store:
        return self.stores.confined(self.namespace, self.owners)
