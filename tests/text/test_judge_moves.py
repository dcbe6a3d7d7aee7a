"""From X to Y: what a move, a switch or a raise proves, and what it leaves standing."""

from __future__ import annotations

import pytest

from memstore.text.judging.judge import Claim, Rule, Verdict, judge


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


@pytest.mark.parametrize(
    ("older", "newer", "subject"),
    [
        ("Ole works in Bremen.", "Ole moved from Bremen to Kiel.", "Ole"),
        ("Ole sings in Bremen.", "Ole moved from Bremen to Kiel.", "Ole"),
        ("Ole parks in Bremen.", "Ole moved from Bremen to Kiel.", "Ole"),
        ("The mayor works in Bremen.", "The mayor moved from Bremen to Kiel.", "mayor"),
        ("The band plays in Bremen.", "The band moved from Bremen to Kiel.", "band"),
        ("The doctor practises in Bremen.", "The doctor moved from Bremen to Kiel.", "doctor"),
        (
            "The train runs from Bremen to Kiel.",
            "The train was changed from Bremen to Kiel.",
            "train",
        ),
        ("The shop sells books in Bremen.", "The shop moved books from Bremen to Kiel.", "shop"),
        ("Ole has 200 euros in savings.", "Ole moved 50 euros from savings to checking.", "Ole"),
        (
            "User's credit limit is 4,000 pounds.",
            "The bank offered to lower User's credit limit from 4,000 to 2,500 pounds.",
            "User",
        ),
        (
            "User's credit limit is 4,000 pounds.",
            "The bank nearly lowered User's credit limit from 4,000 to 2,500 pounds.",
            "User",
        ),
        (
            "User's credit limit is 4,000 pounds.",
            "The bank lowered Ole's credit limit from 4,000 to 2,500 pounds.",
            "User",
        ),
        (
            "User's credit limit is 4,000 pounds.",
            "The bank lowered User's overdraft limit from 4,000 to 2,500 pounds.",
            "User",
        ),
        (
            "The rate limit is 100 requests per minute.",
            "The intern changed the rate limit from 100 to 200 in staging.",
            "rate limit",
        ),
        (
            "The rate limit is 100 requests per minute.",
            "A proposal raised the rate limit from 100 to 200.",
            "rate limit",
        ),
        (
            "The rate limit is 100 requests per minute.",
            "A dream changed the rate limit from 100 to 200 requests per minute.",
            "rate limit",
        ),
        (
            "The rate limit is 100 requests per minute.",
            "The test changes the rate limit from 100 to 200 requests per minute.",
            "rate limit",
        ),
        (
            "The rate limit is 100 requests per minute.",
            "A hacker changed the rate limit from 100 to 200 requests per minute.",
            "rate limit",
        ),
        (
            "The team meets on Mondays at 9.",
            "The holiday moved the team from Mondays to Tuesdays.",
            "team",
        ),
        (
            "The course is on Mondays and Thursdays.",
            "The course moved from Mondays to Tuesdays.",
            "course",
        ),
        (
            "The course is on Mondays at 9 and on Thursdays at 10.",
            "The course moved from Mondays to Tuesdays.",
            "course",
        ),
        (
            "User has therapy on Tuesdays at 5 pm.",
            "User's dinner moved from Tuesdays to Thursdays.",
            "User",
        ),
        ("The store is open from 9 to 18.", "The store went from 9 to 18 employees.", "store"),
        ("The store sells 4 wines from Spain.", "The store went from 4 to 6 wines.", "store"),
        ("The shop has 4 rooms and 2 toilets.", "The shop went from 2 to 3 toilets.", "shop"),
        ("The shop has 4 rooms on 2 floors.", "The shop went from 4 to 6 rooms.", "shop"),
        ("The API supports Node 18.", "The API was upgraded from Node 18 to Node 20.", "API"),
        (
            "The API supports Node 18 and Node 16.",
            "The API was upgraded from Node 18 to Node 20.",
            "API",
        ),
        ("The blog links to Netlify.", "The blog moved from Netlify to Hetzner.", "blog"),
        ("The blog writes about Netlify.", "The blog moved from Netlify to Hetzner.", "blog"),
        (
            "The museum shows paintings from Bremen.",
            "The museum moved from Bremen to Kiel.",
            "museum",
        ),
        ("The library imports Redis.", "The library switched from Redis to Kafka.", "library"),
        ("The company was founded in Bremen.", "The company moved from Bremen to Kiel.", "company"),
        (
            "The company has customers in Bremen.",
            "The company moved from Bremen to Kiel.",
            "company",
        ),
        (
            "The company has an office in Bremen.",
            "The company moved from Bremen to Kiel.",
            "company",
        ),
        (
            "The company sponsors a team in Bremen.",
            "The company moved from Bremen to Kiel.",
            "company",
        ),
        (
            "Die Firma hat ein Büro in Bremen.",
            "Die Firma ist von Bremen nach Kiel gezogen.",
            "Firma",
        ),
        ("Die Firma arbeitet für Bremen.", "Die Firma ist von Bremen nach Kiel gezogen.", "Firma"),
        (
            "Die Lehrerin unterrichtet in Bremen.",
            "Die Lehrerin ist von Bremen nach Kiel gezogen.",
            "Lehrerin",
        ),
        (
            "La profesora enseña en Cuenca.",
            "La profesora se trasladó de Cuenca a Albacete.",
            "profesora",
        ),
        (
            "La profesora canta en Cuenca.",
            "La profesora se mudó de Cuenca a Albacete.",
            "profesora",
        ),
        (
            "La banda toca los lunes a las 18:00.",
            "La banda se pasó de los lunes a los jueves.",
            "banda",
        ),
        ("L'équipe joue à Lyon.", "L'équipe est passée de Lyon à Lille.", "équipe"),
        (
            "L'utilisateur verse 150 euros par mois.",
            "L'utilisateur est passé de 150 à 220 euros de loyer.",
            "utilisateur",
        ),
        ("彼女は東京で働いている。", "彼女は東京から大阪に引っ越した。", "彼女"),
        ("彼は大阪の大学に通っている。", "彼は大阪から東京に移った。", "彼"),
        ("バンドは月曜に大阪で演奏する。", "バンドは大阪から東京に移った。", "バンド"),
        (
            "The ferry leaves on Mondays at 9.",
            "The ferry was moved from Mondays to Tuesdays at Easter.",
            "ferry",
        ),
        (
            "The ferry leaves on Mondays at 9.",
            "The strike moved the ferry from Mondays to Tuesdays.",
            "ferry",
        ),
        (
            "Ole's flight is on Monday at 9.",
            "Ole's flight was moved from Monday to Tuesday, maybe.",
            "Ole",
        ),
        (
            "The pool opens on Mondays at 9.",
            "The pool moved swimming from Mondays to Tuesdays.",
            "pool",
        ),
        (
            "The database has replicas in Oslo.",
            "The database moved from Oslo to Bergen.",
            "database",
        ),
        ("The queue is mirrored in Redis.", "The queue moved from Redis to Kafka.", "queue"),
        ("The queue is backed up to S3.", "The queue moved from S3 to GCS.", "queue"),
        (
            "The cache is warmed from Redis.",
            "The cache was migrated from Redis to Valkey.",
            "cache",
        ),
        ("The shop buys from Hetzner.", "The shop moved from Hetzner to Netcup.", "shop"),
        ("The shop rents servers from Hetzner.", "The shop moved from Hetzner to Netcup.", "shop"),
    ],
)
def test_what_may_hold_still_is_not_retired(older: str, newer: str, subject: str) -> None:
    assert judge(Claim(older, subject), Claim(newer, subject)).verdict is not Verdict.RETIRE
