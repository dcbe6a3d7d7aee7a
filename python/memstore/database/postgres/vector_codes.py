"""The narrow code of each vector: a bit for each number, set if the number is negative.

The server compares codes, a thirty-second of the vectors, by how many of their bits differ: that
finds the rows that may be near while a process has no index (decision 133). Every statement that
writes a vector writes its code too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.postgres import statements
from memstore.database.postgres.arrays import Bits
from memstore.domain.records import BYTES_PER_NUMBER

if TYPE_CHECKING:
    from memstore.database.engine import Given, Row

MAX_BITS: Final = 4096
"""Of a longer vector the first numbers count: an index takes no entry above 2,700 bytes."""

SIGNS: Final = b"0" * 128 + b"1" * 128
"""The digit that the highest byte of a number stands for."""

TABLES: Final = "memstore_(?:fact|piece)_vectors"

INSERT: Final = re.compile(
    rf"(INSERT INTO {TABLES} \([\w, ]*\bembedding\b[\w, ]*)\)( .*?)(\)| FROM memstore_generations)",
    re.DOTALL,
)
UPDATE: Final = re.compile(rf"(UPDATE {TABLES} .*?\bembedding = )(NULL\b|:\w+)(.*)", re.DOTALL)
PLACED: Final = re.compile(r"CASE WHEN state = 'active' THEN (:\w+) END")

_length: Final = Struct(">i").pack


def code(blob: bytes) -> Bits:
    """Return the code of a vector, float32, little-endian."""
    signs = blob[BYTES_PER_NUMBER - 1 : MAX_BITS * BYTES_PER_NUMBER : BYTES_PER_NUMBER]
    count = len(signs)
    number = int(signs.translate(SIGNS) or b"0", 2) << -count % 8
    return Bits(_length(count) + number.to_bytes((count + 7) // 8, "big"))


class Coded(NamedTuple):
    """A statement that writes a vector, changed so that it writes its code too."""

    text: str
    vector: str | None
    """The parameter of the vector; ``None`` if the statement removes vectors."""
    vector_at: int = 0
    """Its place among the parameters."""
    at: int = 0
    """The place of the parameter ``code``."""


@lru_cache(maxsize=512)
def coded(sql: str) -> Coded | None:
    """Return a statement with codes; ``None`` if it writes no vectors."""
    if insert := INSERT.match(sql):
        columns, values, end = insert.groups()
        names = statements.named(sql)
        vector = "embedding" if end == ")" else PLACED.findall(values)[0][1:]
        value = ":code" if end == ")" else "CASE WHEN state = 'active' THEN :code END"
        text = f"{columns}, code){values}, {value}{end}{sql[insert.end() :]}"
    elif update := UPDATE.match(sql):
        before, value, after = update.groups()
        if value == "NULL":
            return Coded(f"{before}NULL, code = NULL{after}", None)
        vector, names = value[1:], statements.named(sql)
        text = f"{before}{value}, code = :code{after}"
    else:
        return None
    return Coded(text, vector, names.index(vector), statements.named(text).index("code"))


def with_code(sql: str, parameters: Given) -> tuple[str, Given]:
    """Return a statement, and its parameters, that writes the codes of the vectors it writes."""
    found = coded(sql)
    if found is None:
        return sql, parameters
    if found.vector is None:
        return found.text, parameters
    if isinstance(parameters, tuple):
        own = _code(parameters[found.vector_at])
        row: Row = (*parameters[: found.at], own, *parameters[found.at :])
        return found.text, row
    return found.text, {**parameters, "code": _code(parameters[found.vector])}


def _code(blob: object) -> Bits | None:
    return code(blob) if isinstance(blob, bytes) else None
