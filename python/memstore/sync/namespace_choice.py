"""Which namespaces travel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from memstore.sync.rules import Record


class Choice(NamedTuple):
    """The namespaces that a person chose; ``None`` for all."""

    namespaces: frozenset[str] | None

    @property
    def text(self) -> str:
        """The choice as it is remembered; another one differs."""
        return "all" if self.namespaces is None else json.dumps(sorted(self.namespaces))

    def travels(self, record: Record) -> bool:
        return self.namespaces is None or record.about.namespace in self.namespaces
