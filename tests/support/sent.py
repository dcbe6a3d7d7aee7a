"""What the library sends to a server, as tests see it, or stop it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from memstore.database.postgres.connection import Exchange, Sent

Look = Callable[[Any, Sequence[Sent]], None]
"""Takes a connection, and the statements that are sent over it in one round trip."""


BOUND = re.compile(r"WITH (memstore_\w+ AS NOT MATERIALIZED \(SELECT \* FROM \w+ [^)]*\),? )+")


def asked(text: str) -> str:
    """Return a query without the tables that it is bound to."""
    return BOUND.sub("", text, count=1)


def nothing(connection: Any, statements: Sequence[Sent]) -> None:
    pass


@contextmanager
def watched(before: Look = nothing, after: Look = nothing) -> Iterator[None]:
    """Call a function before, and one after each round trip, by whatever way it is made."""
    together, execute = Exchange.together, psycopg.Cursor.execute

    def watched_together(exchange: Any, *statements: Sent) -> Any:
        before(exchange.connection, statements)
        answers = together(exchange, *statements)
        after(exchange.connection, statements)
        return answers

    def watched_execute(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else str(query)
        statements = [Sent(text, params or ())]
        before(cursor.connection, statements)
        found = execute(cursor, query, params, **options)
        after(cursor.connection, statements)
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Exchange, "together", watched_together)
        patched.setattr(psycopg.Cursor, "execute", watched_execute)
        yield
