"""The stores of one server: one file, and a store for each namespace that tokens lead to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memstore.faces.mcp.opening import Opening
    from memstore.store.store import Store

MOST_STORES: Final = 64
"""Namespaces whose stores are kept; making another costs next to nothing."""


class Stores:
    """Hands out a store for each namespace; all of them share connections, model and vectors.

    What is pending in any namespace is embedded by the file's own store.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._making = threading.Lock()
        self._made: OrderedDict[str, Store] = OrderedDict()

    def start(self) -> None:
        self._opening.start()

    def store(self) -> Store:
        return self._opening.store()

    def confined(self, namespace: str) -> Store:
        """Return a store that reaches this namespace and no other."""
        home = self._opening.store()
        with self._making:
            store = self._made.get(namespace)
            if store is None or store.is_replaced:
                store = self._made[namespace] = home.within(namespace, confined=True)
            self._made.move_to_end(namespace)
            if len(self._made) > MOST_STORES:
                self._made.popitem(last=False)  # a call that still works with it is not disturbed
            return store


@dataclass(frozen=True)
class Confined:
    """Where the calls of one token get their store from."""

    stores: Stores
    namespace: str

    def start(self) -> None:
        self.stores.start()

    def store(self) -> Store:
        return self.stores.confined(self.namespace)
