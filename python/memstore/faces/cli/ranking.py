"""The options of both searches on how what is found is ranked."""

from __future__ import annotations

from typing import Final

from memstore.faces.cli import command as cli
from memstore.search import requests
from memstore.settings import MIN_RELEVANCE

RELEVANCE: Final = cli.option(
    "--min-relevance X",
    f"find nothing if nothing is so relevant, 0 to 1 (default: {MIN_RELEVANCE})",
    type=float,
    default=MIN_RELEVANCE,
)

RANKING: Final = (
    cli.option(
        "--ranking NAME",
        "threads: look at conversations, names and dates, too (default); classic: words and"
        " meaning alone",
        choices=requests.RANKINGS,
    ),
    RELEVANCE,
    cli.option("--explain", "show what each score is made of"),
)
