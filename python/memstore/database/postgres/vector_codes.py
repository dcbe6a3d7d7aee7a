"""The narrow code of each vector: a bit for each number, set if the number is negative.

The server compares codes, a thirty-second of the vectors, by how many of their bits differ: that
finds the rows that may be near while a process has no index (decision 133). Every statement that
writes a vector writes its code too.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.dialect import parameters_of, with_parameters
from memstore.database.postgres.arrays import Bits
from memstore.database.writes import Insert, Update
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.frozen import replace

if TYPE_CHECKING:
    from memstore.database.engine import Given, Row
    from memstore.database.writes import Form

MAX_BITS: Final = 4096
"""Of a longer vector the first numbers count: an index takes no entry above 2,700 bytes."""

SIGNS: Final = b"0" * 128 + b"1" * 128
"""The digit that the highest byte of a number stands for."""

TABLES: Final = frozenset({"memstore_fact_vectors", "memstore_piece_vectors"})

_length: Final = Struct(">i").pack


def code(blob: bytes) -> Bits:
    """Return the code of a vector, float32, little-endian."""
    signs = blob[BYTES_PER_NUMBER - 1 : MAX_BITS * BYTES_PER_NUMBER : BYTES_PER_NUMBER]
    count = len(signs)
    number = int(signs.translate(SIGNS) or b"0", 2) << -count % 8
    return Bits(_length(count) + number.to_bytes((count + 7) // 8, "big"))


class Coded(NamedTuple):
    """A form that writes vectors, changed so that it writes their codes too."""

    form: Form
    vector: str | None
    """The parameter of the vector; ``None`` if the form removes vectors."""
    places: tuple[int | None, ...]
    """The place of each parameter in a row without the code; ``None`` for the code."""


@lru_cache(maxsize=512)
def coded(form: Form) -> Coded | None:
    """Return a form with codes; ``None`` if it writes no vectors."""
    if isinstance(form, Insert) and "embedding" in form.columns:
        value = form.values[form.columns.index("embedding")]
        made: Form = replace(
            form, columns=(*form.columns, "code"), values=(*form.values, _of_code(value))
        )
    elif isinstance(form, Update) and "embedding" in form.settings:
        value = form.settings["embedding"]
        made = replace(form, settings={**form.settings, "code": _of_code(value)})
    else:
        return None
    vector = next(iter(parameters_of(value)), None)
    places = tuple(None if name == "code" else form.names.index(name) for name in made.names)
    return Coded(made, vector, places)


def _of_code(value: str) -> str:
    """Return the expression of a code beside that of its vector."""
    return with_parameters(value, lambda _: ":code")


def with_code(form: Form, values: Given) -> tuple[Form, Given]:
    """Return a form, and its values, that writes the codes of the vectors it writes."""
    found = coded(form) if form.table in TABLES else None
    if found is None or found.vector is None:
        return form if found is None else found.form, values
    if isinstance(values, tuple):
        own = _code(values[form.names.index(found.vector)])
        row: Row = tuple(own if place is None else values[place] for place in found.places)
        return found.form, row
    return found.form, {**values, "code": _code(values[found.vector])}


def _code(blob: object) -> Bits | None:
    return code(blob) if isinstance(blob, bytes) else None
