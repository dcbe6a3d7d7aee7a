"""The full-text index over episodes: asking it, and where in a text its words stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.sqlite.full_text import FullText
from memstore.database.tables import episodes as episode_table
from memstore.text.words import UNSPACED_RUN, match_expression, terms

if TYPE_CHECKING:
    from memstore.database.engine import Transaction, Value
    from memstore.database.episode_filter import EpisodeFilter

INDEX = FullText("memstore_episodes_fts")

OPENS, CLOSES = "\x02", "\x03"
"""Put around the words that matched; control characters that no text of words holds."""


def search(
    transaction: Transaction, query: str, wanted: EpisodeFilter, limit: int
) -> list[tuple[int, float]]:
    """Return ``(id, bm25)`` of the best episodes by words; more negative is better.

    Of equals the newer come first. The filter applies before the limit, so episodes that may not
    be seen take nobody's place.
    """
    expression = match_expression(query)
    where, values = wanted.where()
    if expression is None:
        return _containing(transaction, query.strip(), where, values, limit)
    if wanted.is_plain:
        asked = limit * 3 // 2  # where nearly all may be seen, so many nearly always hold enough
        best = INDEX.best(transaction, expression, asked)
        seen = episode_table.visible(transaction, [id_ for id_, _ in best], wanted)
        found = [place for place in best if place[0] in seen][:limit]
        if len(found) == limit or len(best) < asked:
            return found
    # CROSS: first the index. Asked about one row after the other it takes a hundred times as long.
    rows = transaction.rows(
        f"SELECT e.id, {INDEX.nearness} AS nearness"
        f" FROM {INDEX.name} CROSS JOIN memstore_episodes e ON e.id = {INDEX.name}.rowid"
        f" WHERE {INDEX.name} MATCH ? AND {where} ORDER BY nearness, e.id DESC LIMIT ?",
        (expression, *values, limit),
    )
    return [(int(row[0] or 0), float(row[1] or 0.0)) for row in rows]


def places(transaction: Transaction, query: str, episode_id: int, content: str) -> dict[int, str]:
    """Return the words of an episode's content that answer to a query, by where they begin.

    Offsets count characters. A word is given in the form it was asked for or found in, folded, so
    that two places of one word can be told from two words.
    """
    expression = match_expression(query)
    if expression is None:
        at = content.find(query.strip())
        return {at: query.strip()} if at >= 0 and query.strip() else {}
    found = _of_scripts_without_spaces(query, content)
    if OPENS in content or CLOSES in content:
        return found
    row = transaction.one(
        f"SELECT highlight({INDEX.name}, 0, ?, ?) FROM {INDEX.name}"
        f" WHERE {INDEX.name} MATCH ? AND rowid = ?",
        (OPENS, CLOSES, expression, episode_id),
    )
    if row is None:
        return found
    return found | {at: word.casefold() for at, word in _marked(str(row[0]))}


def _marked(text: str) -> list[tuple[int, str]]:
    """Return what stands between the marks, by where it begins in the text without them."""
    found: list[tuple[int, str]] = []
    before, *marked = text.split(OPENS)
    at = len(before)
    for part in marked:
        word, _, rest = part.partition(CLOSES)
        found.append((at, word))
        at += len(word) + len(rest)
    return found


def _of_scripts_without_spaces(query: str, content: str) -> dict[int, str]:
    """Find what the index knows by its single characters: pairs of neighbours."""
    found: dict[int, str] = {}
    for term in terms(query):
        if not UNSPACED_RUN.match(term):
            continue
        pair = term.replace(" ", "")
        at = content.find(pair)
        while at >= 0:
            found[at] = pair
            at = content.find(pair, at + 1)
    return found


def _containing(
    transaction: Transaction, text: str, where: str, values: list[Value], limit: int
) -> list[tuple[int, float]]:
    """Find what holds a text that has no words in it, such as an emoji or ``->``."""
    if not text:
        return []
    rows = transaction.rows(
        f"SELECT e.id FROM memstore_episodes e WHERE instr(e.content, ?) AND {where}"
        " ORDER BY e.id DESC LIMIT ?",
        (text, *values, limit),
    )
    return [(int(row[0] or 0), -1.0) for row in rows]
