"""The contextual ranking as documented, over every row, in numpy.

It shares no code with the kernel but the tokenizer; what a text holds is told by a few words of the
tests' vocabulary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.support.builds import skip_without_model
from tests.support.raw import raw

from memstore._kernel import model

skip_without_model(module=True)
MODEL = model.BuiltInModel()
TABLE = Path(__file__).parents[2] / "rust/kernel/model/l2-supercat-256-int8.bin"

TIMES = {"yesterday", "monday"}
KIN = {"sister"}
NAMES = {"Berlin", "Otto"}
ROLES = {"user", "assistant"}
NOBODY = {"note", "todo"}
AGE = 0.005


def table() -> NDArray[np.float64]:
    content = TABLE.read_bytes()
    size = MODEL.token_count * MODEL.dimension
    rows = np.frombuffer(content[-size:], "i1").reshape(MODEL.token_count, MODEL.dimension)
    scales = np.frombuffer(content[-size - 4 * MODEL.token_count : -size], "<f4")
    return rows.astype(np.float64) * scales[:, None]


VECTORS = table()
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)


def pieces(text: str) -> list[int]:
    (blob,) = MODEL.token_ids([text])
    return np.frombuffer(blob, "<u2").tolist()


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


@dataclass
class Row:
    id: int
    speaker: str
    content: str
    thread: object
    seq: int
    valid_at: str
    said_at: datetime
    decay: float
    bm25: dict[str, float]
    vector: NDArray[np.float64] | None

    @property
    def by_table(self) -> NDArray[np.float64]:
        return unit(VECTORS[pieces(self.text)].sum(axis=0))

    @property
    def text(self) -> str:
        named = self.speaker.casefold() in self.content.casefold()
        return self.content if named else f"{self.speaker}: {self.content}"

    @property
    def words(self) -> int:
        return len(self.text.split())


class Contextual:
    """Scores of every row of one namespace that a query finds.

    Args:
        path: the file.
        embed: another embedder than the embedded one.
    """

    def __init__(
        self,
        path: str,
        now: float,
        embed: Callable[[str], NDArray[np.float64]] | None = None,
        half_life_seconds: float = 30 * 86_400.0,
    ) -> None:
        self.path, self.now, self.embed, self.half_life = path, now, embed, half_life_seconds
        self.scale = 1.0
        """What the last scores were divided by."""

    def rows(self, words: list[str]) -> list[Row]:
        with raw(self.path) as file:
            found = file.execute(
                "SELECT id, subject, content, thread, seq, valid_at, created_at,"
                " last_confirmed_at, category FROM memstore_facts"
            ).fetchall()
            bm25: dict[int, dict[str, float]] = {}
            for word in words:
                for id_, score in file.execute(
                    "SELECT rowid, bm25(memstore_facts_fts) FROM memstore_facts_fts"
                    " WHERE memstore_facts_fts MATCH ?",
                    [f'"{word}"'],
                ):
                    bm25.setdefault(id_, {})[word] = -score
        rows = []
        for id_, subject, content, thread, seq, valid, created, confirmed, category in found:
            known = datetime.fromisoformat(max(created, confirmed or "")).timestamp()
            age = max(0.0, self.now - known) if category == "note" else 0.0
            said_at = datetime.fromisoformat(max(valid or created, confirmed or ""))
            row = Row(id_, subject, content, thread, seq or 0, valid or created, said_at,
                      0.5 ** (age / self.half_life), bm25.get(id_, {}), None)  # fmt: skip
            made = VECTORS[pieces(row.text)].sum(axis=0) if not self.embed else self.embed(row.text)
            row.vector = unit(made)
            rows.append(row)
        return rows

    def scores(self, query: str, words: list[str]) -> dict[int, float]:
        rows = self.rows(words)
        having: dict[int, int] = {}
        for row in rows:
            for piece in set(pieces(row.text)):
                having[piece] = having.get(piece, 0) + 1
        every = pieces(query)
        idf = {
            piece: max(0.0, math.log((len(rows) + 1) / (having.get(piece, 0) + 0.5)))
            for piece in every
        }
        weights = [idf[piece] for piece in every]
        if not any(weights):
            weights = [1.0] * len(every)
        weighed = np.array(weights) @ VECTORS[every]
        asked = unit(weighed) if not self.embed else unit(self.embed(query))
        cosine = {row.id: float(asked @ row.vector) for row in rows if row.vector is not None}
        by_table = {row.id: float(unit(weighed) @ row.by_table) for row in rows}
        found = {row.id for row in rows if row.bm25 or cosine[row.id] > 0}
        dated = {row.id for row in rows if "May 2023" in query and row.valid_at[:7] == "2023-05"}
        if len(dated) <= 3:
            found |= dated
        beside = self.beside(rows)
        candidates = found | {other for id_ in found for other, _ in beside[id_]}
        by_id = {row.id: row for row in rows if row.id in candidates}
        best = {
            row.id: {
                piece: float((UNIT[sorted(set(pieces(row.text)))] @ UNIT[piece]).max())
                for piece in idf
            }
            for row in by_id.values()
        }

        def helped(row: Row, step: float, own: float, of: Callable[[int], float]) -> float:
            helps = min(1.0, 30 / row.words)
            others = [
                (step * helps) ** abs(distance) * of(other)
                for other, distance in beside[row.id]
                if other in by_id
            ]
            return max([own, *others])

        bm25 = {
            row.id: sum(
                helped(row, 0.4, row.bm25.get(word, 0.0),
                       lambda other, word=word: by_id[other].bm25.get(word, 0.0))  # type: ignore[misc]
                for word in words
            )
            for row in by_id.values()
        }  # fmt: skip
        telling = set(pieces(" ".join(words)))
        of_words = {
            piece: weight if piece in telling else 0.1 * weight for piece, weight in idf.items()
        }
        total = sum(of_words.values())
        terms = {
            row.id: sum(
                weight * helped(row, 0.8, best[row.id][piece],
                                lambda other, piece=piece: best[other][piece])  # type: ignore[misc]
                for piece, weight in of_words.items()
            ) / total if total else 0.0
            for row in by_id.values()
        }  # fmt: skip
        mean = sum(row.words for row in rows) / len(rows)
        k = 0.5 * 80 / (80 + mean)
        holding = {word: sum(word in row.bm25 for row in rows) for word in words}
        possible = sum(
            max(math.log((len(rows) - held + 0.5) / (held + 0.5)), 1e-6)
            for held in holding.values()
            if held
        )
        most = max(0.5 * max(bm25.values(), default=0.0) + 0.6 * possible, 2.0)
        base = {
            id_: (1 - k) / 2 * bm25[id_] / most
            + (1 - k) / 2 * max(by_table[id_], 0.0)
            + k * terms[id_]
            for id_ in by_id
        }
        helps = {
            id_: (1 - k) / 2 * (bm25[id_] - sum(row.bm25.values())) / most
            + k * (terms[id_] - sum(w * best[id_][p] for p, w in of_words.items()) / (total or 1.0))
            for id_, row in by_id.items()
        }
        if self.embed:  # its model joins the table
            for id_, row in by_id.items():
                own = (1 - k) / 2 * (sum(row.bm25.values()) / most + max(by_table[id_], 0.0))
                own += k * sum(w * best[id_][p] for p, w in of_words.items()) / (total or 1.0)
                near = max(cosine[id_], 0.0)
                shares = row.bm25 or any(best[id_][p] > 0.999 for p in of_words)
                base[id_] += 0.3 * near + (0 if shares else max(0.0, 0.5 * near - own))
        sums = dict(base)
        for row in by_id.values():
            sums[row.id] += self.named(query, row, list(by_id.values()))
            sums[row.id] += AGE * (row.decay - 1)
            if said_anywhere(row, by_id.values()) and not self.of_dates(query, row):
                sums[row.id] -= helps[row.id]
                continue
            before = [other for other, distance in beside[row.id] if distance == -1]
            asked = by_id.get(before[0]) if before else None
            if (
                asked
                and "?" in asked.content
                and (asked.speaker in NOBODY or asked.speaker != row.speaker)
            ):
                sums[row.id] += 20 / (20 + row.words) * 0.4 * base[asked.id]
            of_thread = [base[o.id] for o in by_id.values() if o.thread and o.thread == row.thread]
            if len(of_thread) > 1:
                sums[row.id] += 0.15 * sum(sorted(of_thread, reverse=True)[:3]) / 3
        self.scale = max([1.0, *sums.values()])
        return {id_: max(0.0, one / self.scale) for id_, one in sums.items()}

    def relevance(self, query: str, words: list[str]) -> dict[int, float]:
        rows = self.rows(words)
        held = {row.id: pieces(row.text) for row in rows}
        every = pieces(query)
        idf = {
            piece: math.log(
                (max(len(rows), 100) + 1) / (sum(piece in row for row in held.values()) + 0.5)
            )
            for piece in every
        }
        asked = unit(sum(idf[piece] * VECTORS[piece] for piece in every))
        telling = set(pieces(" ".join(words)))
        weights = {piece: idf[piece] * (1 if piece in telling else 0.1) for piece in idf}
        found = {}
        for id_, own in held.items():
            near = (UNIT[[*weights]] @ UNIT[own].T).max(axis=1)
            terms = np.average(near, weights=[*weights.values()])
            cosine = asked @ unit(VECTORS[own].sum(axis=0))
            found[id_] = max(float(terms), 0.0) * max(float(cosine), 0.0)
        return found

    def order(self, scores: dict[int, float]) -> list[int]:
        """Return the rows by these scores; of those that compete the newest first."""
        rows = {row.id: row for row in self.rows([])}

        def newest(id_: int) -> tuple[datetime, int]:
            return rows[id_].said_at, id_

        def subject(id_: int) -> str:
            return "" if rows[id_].speaker in NOBODY else rows[id_].speaker

        def compete(id_: int, other: int) -> bool:
            if scores[id_] - scores[other] > 0.02 or subject(id_) != subject(other):
                return False
            own, others = set(pieces(rows[id_].text)), set(pieces(rows[other].text))
            return 3 * len(own & others) >= 2 * min(len(own), len(others))

        waiting = sorted(scores, key=lambda id_: (scores[id_], newest(id_)), reverse=True)
        found = dict.fromkeys(range(len(waiting)), 0)
        places = [*found]
        while waiting:
            taken = [at for at, id_ in enumerate(waiting) if not at or compete(waiting[0], id_)]
            for at, id_ in zip(taken, sorted((waiting[at] for at in taken), key=newest)[::-1],
                               strict=True):  # fmt: skip
                found[places[at]] = id_
            waiting = [id_ for at, id_ in enumerate(waiting) if at not in taken]
            places = [place for at, place in enumerate(places) if at not in taken]
        return [*found.values()]

    def named(self, query: str, row: Row, candidates: list[Row]) -> float:
        asked = {word.casefold() for word in re.findall(r"\w+", query)}
        added = 0.0
        if row.speaker.casefold() in asked - ROLES - NOBODY:
            added += 0.12
        if dates := self.of_dates(query, row, every=True):
            added += 0.3 * sum(dates) / len(dates) + 0.2 * all(dates)
        held = set(re.findall(r"\w+", row.content))
        speakers = {one.speaker for one in candidates if one.thread} | {row.speaker}
        names = held & NAMES - speakers
        lower = {word.casefold() for word in held}
        held_by = {"when": lower & TIMES, "where": names, "who": names or lower & KIN}
        if any(held_by.get(word) for word in asked):
            added += 0.1
        return added

    def of_dates(self, query: str, row: Row, *, every: bool = False) -> list[bool]:
        """Return whether a row is of each date of a query, or only those of which it is."""
        found = [match == row.valid_at[:4] for match in re.findall(r"\b20\d\d\b", query)] + [
            row.valid_at[5:7] == "05" for _ in re.findall(r"\bMay\b", query)
        ]
        return found if every else [one for one in found if one]

    def beside(self, rows: list[Row]) -> dict[int, list[tuple[int, int]]]:
        """For each row those up to two places away in its thread, with their distance."""
        found: dict[int, list[tuple[int, int]]] = {row.id: [] for row in rows}
        for thread in {row.thread for row in rows if row.thread}:
            order = sorted((r for r in rows if r.thread == thread), key=lambda r: (r.seq, r.id))
            for at, row in enumerate(order):
                for distance in (-1, -2, 1, 2):
                    if 0 <= at + distance < len(order):
                        found[row.id].append((order[at + distance].id, distance))
        return found


def said_anywhere(row: Row, candidates: Iterable[Row]) -> bool:
    """Return whether candidates of three threads have the text of a row."""
    own = sorted(pieces(row.text))
    return bool(row.thread) and len(
        {one.thread for one in candidates if one.thread and sorted(pieces(one.text)) == own}
    ) >= 3  # fmt: skip
