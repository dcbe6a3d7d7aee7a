"""Other engines for words and vectors, each with the settings that suit it best.

One that is not installed is left out, and named. What it builds is kept in the folder, made of the
same facts and the same vectors.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from benches.engine.made import active_facts
from memstore.text.words import match_expression, terms

BATCH: Final = 20_000
CANDIDATES: Final = 50
WORD_WEIGHT, VECTOR_WEIGHT = 0.6, 0.4

os.environ.setdefault("LANCE_LOG", "error")

Where = Mapping[str, str]
"""What a column has to be: namespace, and perhaps subject or project."""


class FactPeer(ABC):
    """Indexes the active facts of a file.

    Args:
        path: the file of memstore.
        place: the folder for the engine's files.
    """

    name: ClassVar[str]
    has_vectors: ClassVar[bool] = True
    largest: ClassVar[int] = 1_000_000
    """Of how many facts it is built; of more would take hours."""

    @abstractmethod
    def __init__(self, path: Path, place: Path) -> None: ...

    @abstractmethod
    def words(self, question: str, where: Where) -> Sequence[int]:
        """Return the best ten by words."""

    def hybrid(self, question: str, vector: NDArray[np.float32], where: Where) -> Sequence[int]:
        """Return the best ten by words and vectors."""
        raise NotImplementedError


class Sqlite(FactPeer):
    """FTS5's ``bm25()`` over memstore's own file, and a table of sqlite-vec."""

    name = "FTS5, sqlite-vec"

    def __init__(self, path: Path, place: Path) -> None:
        import sqlite_vec

        is_new = not place.exists()
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        self.connection = connection = apsw.Connection(str(place), flags=flags)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.execute("ATTACH ? AS file", (f"file:{path}?mode=ro",))
        connection.execute("PRAGMA file.cache_size=-200000; PRAGMA main.cache_size=-200000")
        if is_new:
            connection.pragma("synchronous", "OFF")
            connection.execute(
                "CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY,"
                " namespace TEXT PARTITION KEY, subject TEXT, project TEXT,"
                " embedding float[256] distance_metric=cosine)"
            )
            with connection:
                connection.executemany(
                    "INSERT INTO vectors (id, namespace, subject, project, embedding)"
                    " VALUES (:id, :namespace, :subject, :project, :vector)",
                    active_facts(path),
                )

    def words(self, question: str, where: Where) -> Sequence[int]:
        return [*self._by_words(question, where, 10)]

    def _by_words(self, question: str, where: Where, limit: int) -> dict[int, float]:
        columns = {"project": "f.metadata ->> 'project'"}
        conditions = [f"{columns.get(name, f'+f.{name}')} = :{name}" for name in where]
        found = self.connection.execute(
            "SELECT f.id, -bm25(memstore_facts_fts) AS score FROM file.memstore_facts_fts"
            " CROSS JOIN file.memstore_facts AS f ON f.id = memstore_facts_fts.rowid"
            " WHERE memstore_facts_fts MATCH :asked AND f.superseded_by IS NULL"
            f" AND {' AND '.join(conditions)} ORDER BY score DESC LIMIT {limit}",
            {"asked": match_expression(question), **where},
        )
        return dict(found)

    def hybrid(self, question: str, vector: NDArray[np.float32], where: Where) -> Sequence[int]:
        conditions = "".join(f" AND {name} = :{name}" for name in where)
        near = {
            id_: 1 - distance
            for id_, distance in self.connection.execute(
                "SELECT id, distance FROM vectors WHERE embedding MATCH :vector"
                f" AND k = {CANDIDATES}{conditions}",
                {"vector": vector.tobytes(), **where},
            )
        }
        words = self._by_words(question, where, CANDIDATES)
        best = max(words.values(), default=1.0)
        scores = {
            id_: WORD_WEIGHT * words.get(id_, 0.0) / best + VECTOR_WEIGHT * near.get(id_, 0.0)
            for id_ in {*words, *near}
        }
        return sorted(scores, key=lambda id_: -scores[id_])[:10]


class Tantivy(FactPeer):
    """Stemmed words; the query is parsed beforehand, and only ids are stored."""

    name = "tantivy"
    has_vectors = False

    def __init__(self, path: Path, place: Path) -> None:
        import tantivy

        self.tantivy = tantivy
        build = tantivy.SchemaBuilder()
        build.add_integer_field("id", stored=True, fast=True)
        build.add_text_field("text", tokenizer_name="en_stem", index_option="freq")
        for name in ("namespace", "subject", "project"):
            build.add_text_field(name, tokenizer_name="raw", index_option="basic")
        self.schema = build.build()
        is_new = not place.exists()
        place.mkdir(exist_ok=True)
        self.index = tantivy.Index(self.schema, path=str(place))
        if is_new:
            writer = self.index.writer(heap_size=200_000_000, num_threads=1)
            for fact in active_facts(path):
                fact.pop("vector")
                text = f"{fact['subject']} {fact.pop('content')}"
                writer.add_document(tantivy.Document(text=text, **fact))
            writer.commit()
            writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def words(self, question: str, where: Where) -> Sequence[int]:
        tantivy = self.tantivy
        parts = [(tantivy.Occur.Must, self.index.parse_query(" ".join(terms(question)), ["text"]))]
        for name, value in where.items():
            term = tantivy.Query.term_query(self.schema, name, value)
            parts.append((tantivy.Occur.Must, tantivy.Query.const_score_query(term, 0.0)))
        found = self.searcher.search(tantivy.Query.boolean_query(parts), 10, count=False).hits
        return [self.searcher.doc(address)["id"][0] for _, address in found]


class Lance(FactPeer):
    """Its inverted index, an index of vectors refined by the full ones, indexed columns."""

    name = "lancedb"
    largest = 100_000

    def __init__(self, path: Path, place: Path) -> None:
        import lancedb
        import pyarrow as pa

        database = lancedb.connect(str(place))
        if not place.exists() or "facts" not in database.table_names():
            vector = pa.list_(pa.float32(), 256)
            schema = pa.schema([
                ("id", pa.int64()), ("namespace", pa.string()), ("subject", pa.string()),
                ("content", pa.string()), ("project", pa.string()), ("vector", vector),
            ])  # fmt: skip

            def batches() -> Any:
                facts = active_facts(path)
                while rows := [*islice(facts, BATCH)]:
                    for row in rows:
                        row["content"] = f"{row['subject']} {row['content']}"
                        row["vector"] = np.frombuffer(row["vector"], dtype="<f4")
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)

            table = database.create_table("facts", batches(), schema=schema, mode="overwrite")
            table.create_fts_index("content", use_tantivy=False, with_position=False, stem=True)
            parts = max(1, int(table.count_rows() ** 0.5))
            table.create_index("cosine", index_type="IVF_PQ", num_partitions=parts)
            kinds = {"namespace": "BITMAP", "project": "BITMAP", "subject": "BTREE"}
            for column, kind in kinds.items():
                table.create_scalar_index(column, index_type=kind)
        self.table = database.open_table("facts")

    def words(self, question: str, where: Where) -> Sequence[int]:
        asked = " ".join(terms(question))
        found = self.table.search(asked, query_type="fts").where(_condition(where), prefilter=True)
        ids: list[int] = found.select(["id", "_score"]).limit(10).to_arrow()["id"].to_pylist()
        return ids

    def hybrid(self, question: str, vector: NDArray[np.float32], where: Where) -> Sequence[int]:
        asked = (
            self.table.search(query_type="hybrid").vector(vector).text(" ".join(terms(question)))
        )
        found = asked.where(_condition(where), prefilter=True).refine_factor(5)
        ids: list[int] = found.limit(10).to_arrow()["id"].to_pylist()
        return ids


def _condition(where: Where) -> str:
    return " AND ".join(f"{name} = '{value}'" for name, value in where.items())


class VectorPeer(ABC):
    """Finds the ten nearest rows of a matrix with rows of unit length, by index."""

    name: ClassVar[str]
    largest: ClassVar[int] = 1_000_000
    """Of how many vectors it is built; of more would take hours."""

    @abstractmethod
    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None: ...

    @abstractmethod
    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]: ...


def plain_product(matrix: NDArray[np.float32], query: NDArray[np.float32]) -> list[int]:
    """Return the ten nearest rows by one product with all of them."""
    cosines = matrix @ query
    best = np.argpartition(-cosines, 10)[:10]
    found: list[int] = best[np.argsort(-cosines[best])].tolist()
    return found


class Numpy(VectorPeer):
    name = "numpy"

    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None:
        self.matrix = matrix

    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]:
        return plain_product(self.matrix, query)


class Vec(VectorPeer):
    name = "sqlite-vec, exact"
    create = "id INTEGER PRIMARY KEY, embedding float[{}] distance_metric=cosine"
    put = "INSERT INTO vectors (id, embedding) VALUES (:id, :vector)"
    find = "SELECT id FROM vectors WHERE embedding MATCH :vector AND k = 10"

    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None:
        import sqlite_vec

        is_new = not place.exists()
        self.connection = connection = apsw.Connection(str(place))
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.pragma("cache_size", -1_500_000)
        if is_new:
            connection.pragma("synchronous", "OFF")
            columns = self.create.format(matrix.shape[1])
            with connection:
                connection.execute(f"CREATE VIRTUAL TABLE vectors USING vec0({columns})")
                rows = ({"id": n, "vector": row.tobytes()} for n, row in enumerate(matrix))
                connection.executemany(self.put, rows)

    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]:
        return [id_ for (id_,) in self.connection.execute(self.find, {"vector": query.tobytes()})]


class VecBits(Vec):
    """One bit per number, and the best 200 compared in full, as its documentation advises."""

    name = "sqlite-vec, bits"
    create = "id INTEGER PRIMARY KEY, bits bit[{}], +embedding BLOB"
    put = (
        "INSERT INTO vectors (id, bits, embedding)"
        " VALUES (:id, vec_quantize_binary(:vector), :vector)"
    )
    find = (
        "WITH near AS (SELECT id, embedding FROM vectors"
        " WHERE bits MATCH vec_quantize_binary(:vector) AND k = 200)"
        " SELECT id FROM near ORDER BY vec_distance_cosine(embedding, :vector) LIMIT 10"
    )


class Usearch(VectorPeer):
    """A graph of neighbours (HNSW) over float16 numbers."""

    name = "usearch, HNSW"
    largest = 100_000

    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None:
        from usearch.index import Index

        options = {"ndim": matrix.shape[1], "metric": "cos", "dtype": "f16"}
        self.index = Index(**options, connectivity=16, expansion_add=128, expansion_search=128)
        if not place.exists():
            self.index.add(np.arange(len(matrix)), matrix)
            self.index.save(str(place))
        self.index.load(str(place))

    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]:
        found: list[int] = self.index.search(query, 10).keys.tolist()
        return found


class UsearchExact(VectorPeer):
    name = "usearch, exact"

    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None:
        from usearch.index import MetricKind, search

        self._search, self._metric, self.matrix = search, MetricKind.Cos, matrix

    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]:
        found = self._search(self.matrix, query, 10, self._metric, exact=True, threads=0)
        keys: list[int] = found.keys.tolist()
        return keys


class LanceVectors(VectorPeer):
    name = "lancedb, exact"

    def __init__(self, matrix: NDArray[np.float32], place: Path) -> None:
        import lancedb
        import pyarrow as pa

        database = lancedb.connect(str(place))
        if "vectors" not in database.table_names():
            column = pa.FixedSizeListArray.from_arrays(matrix.reshape(-1), matrix.shape[1])
            database.create_table(
                "vectors", pa.table({"id": pa.array(range(len(matrix))), "vector": column})
            )
        self.table = database.open_table("vectors")

    def nearest(self, query: NDArray[np.float32]) -> Sequence[int]:
        asked = self.table.search(query).distance_type("cosine").select(["id", "_distance"])
        ids: list[int] = asked.limit(10).to_arrow()["id"].to_pylist()
        return ids


FACT_PEERS: Final = (Sqlite, Tantivy, Lance)
VECTOR_PEERS: Final = (Numpy, Vec, VecBits, UsearchExact, Usearch, LanceVectors)
