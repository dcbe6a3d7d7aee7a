"""The data for measurements: files of facts and matrices of vectors, created once in a folder."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

import memstore
from benches.language import Language, facts
from memstore._kernel.codes import Codes
from memstore._kernel.vectors import unpack

SPACES: Final = {
    "default": 40, "work": 20, "home": 10, "lab": 8, "team": 6,
    "archive": 5, "ops": 4, "family": 3, "travel": 2, "misc": 2,
}  # fmt: skip
"""Namespaces, and how many facts of a hundred each has."""
SUPERSEDED: Final = 0.3
MODEL_DIMENSION: Final = 256
DATABASE: Final = bytes(16)
"""The identity that files of codes get."""


def facts_file(folder: Path, count: int) -> Path:
    """Return a file of so many facts, written through the library."""
    path = folder / f"facts-{count}.db"
    return once(path, lambda part: _fill(part, count))


def _fill(path: Path, count: int) -> None:
    told = facts(count)
    stores: dict[str, memstore.Store] = {}
    active: dict[str, list[int]] = {name: [] for name in SPACES}
    chance = Language(seed=3).random
    batch = max(20, min(2_000, count // 500))
    try:
        while new := [*islice(told, batch)]:
            [name] = chance.choices(list(SPACES), weights=list(SPACES.values()))
            if name not in stores:
                stores[name] = memstore.open(path, namespace=name, durability="normal")
            for one in new:
                if active[name] and chance.random() < SUPERSEDED:
                    old = chance.randrange(len(active[name]))
                    active[name][old], active[name][-1] = active[name][-1], active[name][old]
                    one |= {"supersedes": active[name].pop(), "any_subject": True}
            active[name] += [fact.id for fact in stores[name].add_many(new)]
    finally:
        for store in stores.values():
            store.close()
    with memstore.open(path) as store:
        store.file.searches.comparisons.run()  # a memory that is searched has been compared


def matrix(folder: Path, count: int, dimension: int) -> NDArray[np.float32]:
    """Return real vectors of unit length, by the built-in model.

    Of more than its 256 numbers, those of several texts side by side.
    """
    path = folder / f"vectors-{count}x{dimension}.npy"

    def write(part: Path) -> None:
        with part.open("wb") as file:  # a name without the suffix that numpy would add
            np.save(file, _embedded(Language(seed=13), count, dimension))

    return np.load(once(path, write))


def asked_vectors(count: int, dimension: int) -> NDArray[np.float32]:
    """Return vectors of questions."""
    return _embedded(Language(seed=17), count, dimension, question=True)


def _embedded(
    language: Language, count: int, dimension: int, *, question: bool = False
) -> NDArray[np.float32]:
    embedder, side = memstore.LocalEmbedder(), dimension // MODEL_DIMENSION
    text = language.question if question else lambda: language.text(5, 25)
    rows = np.empty((count * side, MODEL_DIMENSION), dtype=np.float32)
    for start in range(0, len(rows), 50_000):
        part = rows[start : start + 50_000]
        part[:] = embedder.embed([text() for _ in part])
    found = rows.reshape(count, dimension)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def vectors_file(folder: Path, vectors: NDArray[np.float32]) -> apsw.Connection:
    """Return a database whose table ``vectors`` holds each row as a BLOB, ids from 1."""

    def write(part: Path) -> None:
        connection = apsw.Connection(str(part))
        connection.pragma("synchronous", "OFF")
        connection.execute("CREATE TABLE vectors (id INTEGER PRIMARY KEY, embedding BLOB)")
        with connection:
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?)",
                ((number, row.tobytes()) for number, row in enumerate(vectors, 1)),
            )
        connection.close()

    path = folder / "vectors-{}x{}.db".format(*vectors.shape)
    return apsw.Connection(str(once(path, write)))


def codes_file(folder: Path, vectors: NDArray[np.float32]) -> Path:
    """Write the codes of the vectors, ids from 1, as this version of the kernel makes them."""
    codes, batch = Codes(vectors.shape[1]), 5_000
    for first in range(0, len(vectors), batch):
        rows = vectors[first : first + batch]
        ids = range(first + 1, first + len(rows) + 1)
        codes.put(ids, ids, [row.tobytes() for row in rows])
    path = folder / "vectors-{}x{}.codes".format(*vectors.shape)
    path.touch()
    codes.save(path, DATABASE, 0, 0)
    return path


def plain_read(folder: Path) -> Callable[[NDArray[np.float32]], None]:
    """Compile the loop in ``read.rs`` for this machine; it uses all cores."""
    source, library = Path(__file__).with_name("read.rs"), folder / "read.so"
    flags = ["--edition=2024", "--crate-type=cdylib", "-Copt-level=3", "-Ctarget-cpu=native"]
    subprocess.run(["rustc", *flags, "-o", library, source], check=True)
    function = ctypes.CDLL(str(library)).plain_read
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    function.restype = None
    return lambda numbers: function(numbers.ctypes.data, numbers.size, os.cpu_count() or 1)


def active_facts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the active facts of a file with their vectors, for the other engines."""
    connection = apsw.Connection(f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_URI | 1)
    rows = connection.execute(
        "SELECT f.id, f.namespace, f.subject, f.content, f.metadata ->> 'project', v.embedding"
        " FROM memstore_facts AS f JOIN memstore_fact_vectors AS v ON v.fact_id = f.id"
        " WHERE f.superseded_by IS NULL ORDER BY f.id"
    )
    names = ("id", "namespace", "subject", "content", "project", "vector")
    return (dict(zip(names, (*row, unpack(packed)), strict=True)) for *row, packed in rows)


def once(path: Path, write: Callable[[Path], None]) -> Path:
    """Return a file, which is created under another name first if it does not exist."""
    if not path.exists():
        part = path.with_suffix(".part")
        for left in path.parent.glob(f"{part.name}*"):
            left.unlink()
        write(part)
        part.rename(path)
    return path
