"""Numbers that the server computed, as Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.adapt import Loader

if TYPE_CHECKING:
    from psycopg.abc import Buffer


class NumberLoader(Loader):
    """Reads ``numeric``, which sums of integers are, as ``int`` if it is whole."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)
