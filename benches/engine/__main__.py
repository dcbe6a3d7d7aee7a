"""The cost of searches and starts, as one table, compared with other engines and a plain read.

    python -m benches.engine [--facts 10000,100000,1000000] [--only ROW …] [--folder FOLDER]

Files, vectors and the other engines' indexes are made once and kept in the folder; a million facts
take some 6 GB and ten minutes. Peers that are not installed are left out and named:

    pip install sqlite-vec usearch tantivy lancedb

All ways to do one thing take turns with the same questions. Times on the clock depend on the
machine; ratios are those of the turns, the median counts. Recall is by numpy for vectors; for words
it is how many of FTS5's ten best are among the ten.
"""

from __future__ import annotations

import argparse
import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Final

import apsw

from benches.engine import rows
from benches.engine.rows import Figure
from memstore.domain import clock

ENGINES: Final = ("sqlite-vec", "usearch", "tantivy", "lancedb")
ROWS = {"searches": rows.searches, "scan": rows.scan, "programs": rows.programs}
ONCE = {"ranking": rows.ranking, "writes": rows.written}
"""What does not depend on how many facts there are."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", default="10000,100000,1000000")
    parser.add_argument("--only", nargs="+", choices=[*ROWS, *ONCE])
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wanted = asked.only or [*ROWS, *ONCE]
    figures: list[Figure] = []
    print(f"{clock.utc_now():%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores", flush=True)
    print(f"Python {platform.python_version()}, {_versions()}", flush=True)

    def told(text: str) -> None:
        print(text, flush=True)

    for count in map(int, asked.facts.split(",")):
        for name, measure in ROWS.items():
            figures += measure(asked.folder, count, told) if name in wanted else []
    for name, row in ONCE.items():
        figures += row(told) if name in wanted else []
    told("\n| work | measured | wanted | reached |\n|---|---|---|---|")
    for figure in figures:
        sign = "≥" if figure.at_least else "≤"
        limit = "" if figure.limit is None else f"{sign} {figure.limit:g} {figure.unit}"
        told(f"| {figure.work} | {figure.value:,.3g} {figure.unit} | {limit} | {figure.holds} |")


def _versions() -> str:
    """Return the versions of SQLite and of the engines that are installed."""
    found = [f"SQLite {apsw.sqlite_lib_version()}"]
    for name in ("numpy", *ENGINES):
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return ", ".join(found)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown processor"
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")


if __name__ == "__main__":
    main()
