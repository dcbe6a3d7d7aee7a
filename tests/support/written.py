"""The forms of writes that tests state as SQL."""

from __future__ import annotations

import re

from memstore.database.writes import Delete, Form, Insert, Update
from memstore.frozen import replace


def form(sql: str) -> Form:
    """Return the form that a simple statement describes."""
    sql = sql.strip()
    if found := re.fullmatch(r"DELETE FROM (\w+)(?: WHERE (.*))?", sql, re.DOTALL):
        return Delete(found[1], found[2] or "")
    if found := re.fullmatch(r"UPDATE (\w+)\s+SET (.*)", sql, re.DOTALL):
        settings, *where = _parts(found[2], " WHERE ")
        return Update(found[1], dict(_setting(one) for one in _parts(settings)), *where)
    if found := re.fullmatch(
        r"(.*?) ON CONFLICT(?: \(([^)]*)\))? DO (?:NOTHING|UPDATE SET (.*))", sql, re.DOTALL
    ):
        unique = tuple(_parts(found[2])) if found[2] else ()
        return replace(form(found[1]), unique=unique, instead=found[3] or "")
    found = re.fullmatch(r"INSERT INTO (\w+)\s+\((.*?)\)\s+VALUES\s+\((.*)\)", sql, re.DOTALL)
    if found is not None:
        return Insert(found[1], tuple(_parts(found[2])), tuple(_parts(found[3])))
    found = re.fullmatch(
        r"INSERT INTO (\w+)\s+\((.*?)\)\s+SELECT\s+(.*?)(?:\s+FROM\s+(.*))?", sql, re.DOTALL
    )
    assert found is not None, sql
    return Insert(found[1], tuple(_parts(found[2])), tuple(_parts(found[3])), found[4] or "")


def _setting(text: str) -> tuple[str, str]:
    column, _, value = text.partition("=")
    return column.strip(), value.strip()


def _parts(text: str, between: str = ",") -> list[str]:
    """Return what stands between commas that are in no parentheses and no literal."""
    parts, depth = [""], 0
    for piece in re.findall(rf"'(?:[^']|'')*'|{between}|.", text, re.DOTALL):
        depth += (piece == "(") - (piece == ")")
        if piece == between and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]
