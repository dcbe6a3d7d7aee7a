"""Corrections as people write them, each beside a pair that looks the same and is none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from memstore.text.judging.judge import Claim, Verdict, judge, verdict

JUDGED: Final = Path(__file__).parent / "judged"

CORRECTED: Final = [
    line.split(" | ")
    for line in (JUDGED / "corrected.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
"""Language, subject, older claim, a correction of it, and a claim that corrects nothing."""

NOW: Final = (JUDGED / "now.txt").read_text(encoding="utf-8").splitlines()
"""Pairs of which the older claim may hold still: subject, older and newer claim."""


def test_most_corrections_are_retired_or_asked_about() -> None:
    found = Counter(
        judge(Claim(old, about), Claim(new, about)).verdict for _, about, old, new, _ in CORRECTED
    )
    assert found.total() == 157
    assert found[Verdict.RETIRE] >= 75
    assert found[Verdict.KEEP] <= 18


def test_what_looks_like_a_correction_is_seldom_retired() -> None:
    pairs = [(Claim(old, about), Claim(new, about)) for _, about, old, _, new in CORRECTED]
    retired = [new.text for old, new in pairs if judge(old, new).verdict is Verdict.RETIRE]
    assert len(retired) <= 2, retired  # what was to be, and what a part of it is done with


@pytest.mark.parametrize("line", NOW)
def test_what_may_hold_beside_what_is_now_is_not_retired(line: str) -> None:
    subject, older, newer = line.split("|")
    old, new = Claim(older, subject), Claim(newer, subject)
    assert judge(old, new).verdict is not Verdict.RETIRE
    assert verdict(old, new) is judge(old, new).verdict
