"""PgBouncer in transaction mode before a server, for what the library opens; tests go past it.

``pytest --engine postgres --pooler FOLDER`` runs a folder's tests so.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.support.clock import wait_until
from tests.support.postgres import with_option
from tests.support.postgres_server import free_port, user_of_servers

from memstore.database.postgres.address import DatabaseAddress

SETTINGS = """[databases]
* = host={host} port={port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
max_client_conn = 500
default_pool_size = {size}
ignore_startup_parameters = extra_float_digits
server_login_retry = 1
server_idle_timeout = 2
"""

SIZE = 8
"""How many connections to the server it has for a database: fewer than clients of a test have."""


@contextmanager
def before(
    url: str, *, size: int = SIZE, users: Sequence[str] = ("postgres",)
) -> Iterator[tuple[str, int]]:
    """Start it before a server without passwords; yield its host and port.

    Args:
        size: how many connections to the server it has for a user of a database.
        users: who may connect.
    """
    if (program := shutil.which("pgbouncer")) is None:
        pytest.skip("needs pgbouncer")
    given = conninfo_to_dict(url)
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="memstore-pgbouncer-"))
    folder.chmod(0o755)
    known = folder / "users.txt"
    known.write_text("".join(f'"{user}" ""\n' for user in users))
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        SETTINGS.format(
            host=given.get("host", "127.0.0.1"),
            port=given.get("port", 5432),
            own_port=port,
            users=known,
            size=size,
        )
    )
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [program, settings], stdout=log, stderr=log, user=user_of_servers(), cwd="/"
        )
    try:
        assert wait_until(lambda: _listens(port)), (folder / "log").read_text()
        yield "127.0.0.1", port
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def instead_of(url: str) -> Iterator[None]:
    """Let the library reach a server through it, without prepared statements."""
    opened = DatabaseAddress.__init__
    with before(url) as (host, port), pytest.MonkeyPatch.context() as patched:

        def pooled(self: DatabaseAddress, *given: Any) -> None:
            opened(self, *given)
            self.conninfo = make_conninfo(self.conninfo, host=host, port=port)
            self.prepare_threshold = None

        patched.setattr(DatabaseAddress, "__init__", pooled)
        yield


@pytest.fixture(params=["a pool of one", "a pooler of one"])
def few(request: pytest.FixtureRequest, url: str) -> Iterator[str]:
    """The address of a database to which a process has one connection."""
    if request.param == "a pool of one":
        yield with_option(url, "pool_size=1")
        return
    with before(url, size=1) as (host, port):
        yield through(url, host, port)


def through(url: str, host: str, port: int, user: str = "postgres") -> str:
    """Return the URL of a database of a server, through it, without prepared statements."""
    name = conninfo_to_dict(url)["dbname"]
    return f"postgresql://{user}@{host}:{port}/{name}?prepare_threshold=none"


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
