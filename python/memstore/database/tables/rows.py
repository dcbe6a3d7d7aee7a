"""Decoding rows: times are stored as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_moments(what: str, values: dict[str, Any], names: Iterable[str]) -> None:
    """Parse the times under these names in place; an error names the row and the column."""
    for name in names:
        if (text := values[name]) is not None:
            try:
                values[name] = clock.from_text(text)
            except (ValueError, TypeError, AttributeError) as error:
                message = f"{what} {values['id']}: {name} cannot be read: {error}"
                raise StorageError(message) from error
