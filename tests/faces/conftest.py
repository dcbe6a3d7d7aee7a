"""With ``--engine postgres``, the programs open a database by its URL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def path(path: Path, databases: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path | str]:
    """Return what the programs are given as ``--db``."""
    if databases is None:
        yield path
        return
    from tests.support import on_postgres

    with on_postgres.at_a_url(databases, monkeypatch) as url:
        yield url
