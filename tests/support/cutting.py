"""A proxy before a PostgreSQL server that cuts a connection at a message of its client."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

Where: TypeAlias = Literal["before", "after"]

LONGEST_WAIT_SECONDS = 2.0
"""How long the server's answer is waited for, which the client never gets."""

ASKS_FOR_ENCRYPTION = (80877103, 80877104)
GOODBYE = b"X"
ANSWERED = b"QSF"
"""The types of messages after which the server says that it is ready: query, sync, call."""


class Proxy:
    """Counts the messages that clients send, over all connections.

    The message of a number that :meth:`arm` was given is not passed on, or it is and its answer is
    not; then the connection is cut on both sides. Without a number, everything is passed on.
    """

    def __init__(self, url: str) -> None:
        given = conninfo_to_dict(url)
        self._host = str(given.get("host") or "localhost")
        self._port = int(given.get("port") or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        query = urlencode({"sslmode": "disable", "gssencmode": "disable"})
        port = self._listening.getsockname()[1]
        user = given.get("user") or "postgres"
        password = f":{given['password']}" if given.get("password") else ""
        self.url = f"postgresql://{user}{password}@127.0.0.1:{port}/{given['dbname']}?{query}"
        self._lock = threading.Lock()
        self._at: int | None = None
        self._where: Where = "before"
        self._seen = 0
        self.was_cut = False
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, number: int, where: Where) -> None:
        """Cut at the message of this number, counted from now, before or after it is passed on."""
        with self._lock:
            self._at, self._where, self._seen, self.was_cut = number, where, 0, False

    def disarm(self) -> None:
        with self._lock:
            self._at = None

    def close(self) -> None:
        self._listening.close()
        for one in [*self._open]:
            _end(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _connected(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, self._port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._host}/.s.PGSQL.{self._port}")
        return server

    def _serve(self, client: socket.socket) -> None:
        with closing(client), closing(self._connected()) as server:
            self._open |= {client, server}
            connection = _Connection(client, server)
            with suppress(OSError):
                connection.start()
                threading.Thread(target=connection.answer, daemon=True).start()
                while message := connection.message():
                    where = self._cut_at(message)
                    if where == "after":
                        connection.withhold(message)
                    elif where is None:
                        server.sendall(message)
                    if where is not None:
                        break
            for one in (client, server):
                _end(one)
            self._open -= {client, server}

    def _cut_at(self, message: bytes) -> Where | None:
        """Count a message; return where it is cut, ``None`` if it is not."""
        with self._lock:
            if self._at is None or self.was_cut or message[:1] == GOODBYE:
                return None
            self._seen += 1
            self.was_cut = self._seen - 1 == self._at
            return self._where if self.was_cut else None


class _Connection:
    """A client's connection and the one to the server."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._client = client
        self._server = server
        self._read = client.makefile("rb")
        self._is_withheld = threading.Event()
        self._is_ready = threading.Event()

    def start(self) -> None:
        """Pass on how the client introduces itself; refuse encryption."""
        while True:
            size = self._read.read(4)
            rest = self._read.read(struct.unpack("!i", size)[0] - 4)
            if struct.unpack("!i", rest[:4])[0] not in ASKS_FOR_ENCRYPTION:
                break
            self._client.sendall(b"N")
        self._server.sendall(size + rest)

    def message(self) -> bytes:
        """Return the client's next message; empty at its end."""
        head = self._read.read(5)
        if len(head) < 5:
            return b""
        return head + self._read.read(struct.unpack("!i", head[1:])[0] - 4)

    def answer(self) -> None:
        """Pass on what the server answers, until it is withheld."""
        with suppress(OSError):
            while some := self._server.recv(65536):
                if self._is_withheld.is_set():
                    # Type, length and state end the answer to a query.
                    if some[-6:-1] == b"Z\x00\x00\x00\x05":
                        self._is_ready.set()
                else:
                    self._client.sendall(some)
        self._is_ready.set()

    def withhold(self, message: bytes) -> None:
        """Pass a message on, and wait until the server has answered; the client learns nothing."""
        self._is_withheld.set()
        self._server.sendall(message)
        if message[0] in ANSWERED:
            self._is_ready.wait(LONGEST_WAIT_SECONDS)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    with closing(Proxy(url)) as made:
        yield made
