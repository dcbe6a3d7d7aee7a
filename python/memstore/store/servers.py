"""Setting a database of a server up for memories, and checking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore import settings
from memstore.errors import InvalidArgument
from memstore.file.paths import is_server
from memstore.lazy import lazy_import
from memstore.store import opening

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from memstore.database.postgres import address, administration, checks
    from memstore.database.postgres.checks import Checked
else:
    address = lazy_import("memstore.database.postgres.address")
    administration = lazy_import("memstore.database.postgres.administration")
    checks = lazy_import("memstore.database.postgres.checks")


def init(
    url: str | os.PathLike[str] | None,
    *,
    namespace: str = settings.DEFAULT_NAMESPACE,
    roles: Sequence[str] | None = None,
    row_level_security: bool = False,
) -> None:
    """Create the tables, and a memory for a namespace; what is there already stays as it is.

    Args:
        url: the URL of a database, which exists.
        namespace: whose memory is created.
        roles: the names of the role that is to own the tables, and of the one that programs use.
            Missing ones are created, without passwords.
        row_level_security: have the server show each transaction the rows of one memory only.

    Raises:
        InvalidArgument: not the URL of a server.
        StorageError: the database cannot be used, or this user may not do that.
    """
    database = _address(url)
    opening.open(database.url, namespace=namespace, embedder=None).close()
    if roles is not None or row_level_security:
        administration.run(database, setup_sql(roles, row_level_security=row_level_security))


def setup_sql(roles: Sequence[str] | None = None, *, row_level_security: bool = False) -> str:
    """Return the SQL by which :func:`init` makes the roles and the policies."""
    opening.require_driver()
    return administration.sql(roles, row_level_security=row_level_security)


def distribute(url: str | os.PathLike[str] | None) -> None:
    """Divide the tables over the servers of a Citus cluster, by tenant; rows move with them.

    Raises:
        InvalidArgument: not the URL of a server.
        StorageError: Citus, its servers or the tables are missing; nothing was changed.
    """
    administration.distribute(_address(url))


def distribution_sql() -> str:
    """Return the SQL that :func:`distribute` runs in one transaction."""
    opening.require_driver()
    return "\n".join(administration.distribution())


def check(url: str | os.PathLike[str] | None) -> list[Checked]:
    """Check what a database needs for memories to be kept in it, from here and as this user.

    Raises:
        InvalidArgument: not the URL of a server.
    """
    return checks.run(_address(url))


def _address(url: str | os.PathLike[str] | None) -> address.DatabaseAddress:
    if not is_server(url):
        raise InvalidArgument(
            "must be the URL of a database, such as postgresql://user@host:5432/database",
            argument="path",
        )
    opening.require_driver()
    return address.DatabaseAddress(url)
