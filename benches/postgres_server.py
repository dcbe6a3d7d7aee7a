"""A PostgreSQL server with the settings of one that is in use, for measuring.

The one of the tests syncs nothing, and its buffers hold 128 MB: a statement that reads just after a
large write has to write other rows' pages first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import postgres
from tests.support.postgres_server import servers

SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
}


@contextmanager
def in_use() -> Iterator[None]:
    """Measure on such a server, unless ``MEMSTORE_TEST_DSN`` names another one."""
    if postgres.DSN in os.environ:
        yield
        return
    with servers("measured") as [server]:
        server.create()
        server.start(**SETTINGS)
        os.environ[postgres.DSN] = server.url
        try:
            yield
        finally:
            del os.environ[postgres.DSN]
