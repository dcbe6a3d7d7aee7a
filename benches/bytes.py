"""What a fact takes in the file, by table and index, and what adding one writes.

    python -m benches.bytes [--facts 5000] [--length 100] [--page-size 4096]

Facts have texts of random words of this length, a subject for each twenty, and vectors of the
built-in model. Bytes are the pages of each table divided by the facts (SQLite's ``dbstat``), with
what is unused in them. Then facts are added one by one, and the pages in the log are counted by the
table that they are of; one page may be written by several of them.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import apsw

import memstore

AT_ONCE: Final = 500
ADDED: Final = 20
"""Facts added one by one: few, so that the log is not begun anew meanwhile."""
LOG_HEADER: Final = 32
FRAME_HEADER: Final = 24
LEAST_BYTES: Final = 5
"""Of a fact; what takes less is told as one."""


def facts(length: int, subjects: int) -> Iterator[dict[str, Any]]:
    """Yield facts with texts of this length."""
    chance = Random(1)
    letters = "abcdefghijklmnoprstuw"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(8_000)]
    while True:
        text = " ".join(chance.choices(words, k=length // 4 + 1))[:length].strip()
        yield {"content": text, "subject": f"person {chance.randrange(subjects)}"}


def bytes_of(connection: apsw.Connection, count: int) -> Iterator[tuple[str, float, float]]:
    """Yield each table and index, its bytes for each fact, and how many of them are unused."""
    rows = connection.execute(
        "SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name ORDER BY 2 DESC"
    )
    for name, taken, unused in rows:
        yield name, taken / count, unused / count


def logged(path: Path, page_size: int) -> list[int]:
    """Return the page of each frame in the log since it was begun."""
    log = path.with_name(f"{path.name}-wal").read_bytes()
    salts, frame = log[16:24], FRAME_HEADER + page_size
    pages = []
    for start in range(LOG_HEADER, len(log) - frame + 1, frame):
        (page,) = struct.unpack(">I", log[start : start + 4])
        if log[start + 8 : start + 16] != salts:  # left of an earlier log
            break
        pages.append(page)
    return pages


def _empty_log(connection: apsw.Connection) -> None:
    """Bring the whole log into the file."""
    connection.execute("SELECT 1 FROM sqlite_schema").fetchall()  # it has the log open from here on
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=int, default=5_000)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--page-size", type=int, default=4_096)
    asked = parser.parse_args(given)
    told = facts(asked.length, asked.facts // 20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with closing(apsw.Connection(str(path))) as empty:
            empty.pragma("page_size", asked.page_size)
            empty.pragma("journal_mode", "wal")
        with memstore.open(path, durability="normal") as store:
            connection = apsw.Connection(str(path))
            connection.set_busy_timeout(10_000)
            for _ in range(0, asked.facts, AT_ONCE):
                store.add_many(islice(told, AT_ONCE))
            _empty_log(connection)
            print(
                f"{'bytes for each fact':40}{path.stat().st_size / asked.facts:8.0f}{'unused':>8}"
            )
            others = 0.0
            for name, taken, unused in bytes_of(connection, asked.facts):
                if taken < LEAST_BYTES:
                    others += taken
                else:
                    print(f"  {name:38}{taken:8.0f}{unused:8.0f}")
            print(f"  {'others':38}{others:8.0f}")
            for fact in islice(told, ADDED):
                store.add(**fact)
            pages = logged(path, asked.page_size)
            _empty_log(connection)
            names = dict(connection.execute("SELECT pageno, name FROM dbstat"))
            connection.close()
        written = len(pages) / ADDED
        size = written * (asked.page_size + FRAME_HEADER) / 1000
        print(f"\n{'pages in the log for each add':40}{written:8.1f}, {size:.0f} KB")
        for name, number in Counter(names.get(page, "others") for page in pages).most_common():
            print(f"  {name:38}{number / ADDED:8.1f}")


if __name__ == "__main__":
    main()
