"""Rows as records: moments are text in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_moments(what: str, values: dict[str, Any], names: Iterable[str]) -> None:
    """Make moments of the texts under these names; an error names the row and the column."""
    for name in names:
        try:
            if values[name] is not None:
                values[name] = clock.from_text(values[name])
        except (ValueError, TypeError, AttributeError) as error:
            raise StorageError(f"{what} {values['id']}: {name} cannot be read: {error}") from error
