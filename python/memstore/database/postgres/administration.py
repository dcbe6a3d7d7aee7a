"""What an administrator does to a database, each by a connection of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.postgres import pools, roles, row_security
from memstore.database.postgres.failures import Translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.postgres.address import Address


def sql(names: Sequence[str] | None, *, row_level_security: bool) -> str:
    """Return the statements for the roles, if their names are given, and for the policies."""
    parts = [] if names is None else [roles.sql(*names)]
    if row_level_security:
        parts.append(row_security.policies())
    return "\n".join(parts)


def run(address: Address, statements: str) -> None:
    """Run statements in one transaction.

    Raises:
        StorageError: the server cannot be reached, or refuses one; nothing was changed.
    """
    with pools.connect(address) as connection, Translated():
        connection.execute(f"BEGIN; {statements}; COMMIT")
