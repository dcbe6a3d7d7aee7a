"""From X to Y: what a move, a switch or a raise proves, and what it leaves standing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from memstore.text.judging.judge import Claim, Rule, Verdict, judge

MOVES: Final = Path(__file__).parent / "judged" / "moves.txt"
"""Pairs of which the older claim may hold still: subject, older and newer claim."""


@pytest.mark.parametrize(
    ("older", "newer", "subject"),
    [
        (
            "User's credit limit is 4,000 pounds.",
            "The bank lowered User's credit limit from 4,000 to 2,500 pounds.",
            "User",
        ),
        (
            "Mein Dispo liegt bei 1.000 Euro.",
            "Die Bank hat meinen Dispo von 1.000 auf 500 Euro gesenkt.",
            "User",
        ),
        (
            "La clase de alemán es los lunes a las 18:00.",
            "La clase de alemán se pasó de los lunes a los jueves.",
            "La clase",
        ),
        (
            "配信サーバーはApacheで動いている。",
            "配信サーバーはApacheからnginxに移行した。",
            "配信サーバー",
        ),
        ("週次会議は月曜の10時からだ。", "週次会議は月曜から水曜に変更された。", "週次会議"),
        ("The API runs on Node 18.", "The API was upgraded from Node 18 to Node 20.", "API"),
        (
            "The rate limit is 100 requests per minute.",
            "The rate limit was raised from 100 to 200 requests per minute.",
            "rate limit",
        ),
        ("Ole lives in Bremen.", "Ole moved from Bremen to Kiel.", "Ole"),
        ("The blog is hosted on Netlify.", "The blog moved from Netlify to Hetzner.", "blog"),
        ("The blog is hosted on Netlify.", "We moved the blog from Netlify to Hetzner.", "blog"),
        (
            "The shop queues its jobs in Redis.",
            "We moved the shop's job queue from Redis to Kafka.",
            "shop",
        ),
        (
            "The shop's job queue is Redis.",
            "The shop's job queue was switched from Redis to Kafka.",
            "shop",
        ),
        (
            "The session timeout is 30 minutes.",
            "We lowered the session timeout from 30 to 15 minutes.",
            "session",
        ),
    ],
)
def test_the_old_value_and_the_new_one_are_proof(older: str, newer: str, subject: str) -> None:
    judged = judge(Claim(older, subject), Claim(newer, subject))
    assert (judged.verdict, judged.rule) == (Verdict.RETIRE, Rule.FROM_TO)


@pytest.mark.parametrize("line", MOVES.read_text(encoding="utf-8").splitlines())
def test_what_may_hold_still_is_not_retired(line: str) -> None:
    subject, older, newer = line.split("|")
    assert judge(Claim(older, subject), Claim(newer, subject)).verdict is not Verdict.RETIRE
