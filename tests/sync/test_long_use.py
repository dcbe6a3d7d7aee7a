"""Days in which devices sync every five minutes; ``benches.sync_year`` has whole years of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from benches.sync_year import Year


@pytest.mark.parametrize(("kind", "devices"), [("folder", 2), ("spoilt", 3)])
def test_days_of_work_end_equal_with_few_files(kind: str, devices: int, tmp_path: Path) -> None:
    """Whatever the carrier does; runs without news write nothing, which the days check."""
    with ExitStack() as stack:
        year = Year(kind, devices, tmp_path, stack, seed=5)
        for _ in range(5):
            year.work()
        year.end()
        assert year.total["changes"] > 80
        assert 0 < year.most <= 20
