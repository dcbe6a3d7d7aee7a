"""Addresses of servers: which names of files are meant as one, and what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.file import paths
from memstore.text import addresses

PASSWORD = "hunter2"

MISTYPED = [
    "ana:hunter2@host/db",
    "ana:hunter2@host",
    "ana:hun/hunter2@host/db",
    "postgresql:/ana:hunter2@host",
    "postgresql:ana@host",
    "postgresl:/ana:hunter2@host",
    "postgresql//ana:hunter2@host/db",
    "postgresql;//ana:hunter2@host/db",
    "postgresql/ana:hunter2@host/db",
    "//ana:hunter2@host/db",
    "://ana:hunter2@host/db",
    "https:/ana:hunter2@host",
    " postgresql://ana:hunter2@host/db",
    "'postgresql://ana:hunter2@host/db'",
    '"postgres://ana:hunter2@host/db"',
    "<postgres://ana:hunter2@host/db>",
    "MEMSTORE_DB=postgresql://ana:hunter2@host/db",
    "jdbc:postgresql://host/db?user=ana&password=hunter2",
    "host/db?user=ana&password=hunter2",
    "host=h password=hunter2",
    "host=h password='hunter2 x' dbname=d",
    "  user = ana  password = hunter2",
    "dbname=d passfile=/home/ana/.pgpass",
    "service=memory",
    "sslpassword=hunter2",
    "PASSWORD=hunter2",
]


@pytest.mark.parametrize("name", MISTYPED)
def test_a_mistyped_address_is_no_file(name: str) -> None:
    assert addresses.resembles_address(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "memory.db",
            "a:b.db",
            "a@b.db",
            "a=b.db",
            "a@b=c:d.db",
            "ana:work@home.db",
            "a:b@c.sqlite",
        ),
        *("key=v@l", "user=ana.db", "notes@home", "2026-11-28T10:00.db", ":memory:"),
        *("C:/a@b/memory.db", "c:\\users\\a@b\\memory.db", "c://memory.db", "C:memory.db"),
        *(
            "./ana:x@host/db",
            "../host=h password=x",
            "/data/ana:x@host/db",
            "~/a:b@c",
            "/a=b/c:d@e",
        ),
        *(
            "/srv/password=x/memory.db",
            "backups/2026-11-28/a@b",
            "a/b://c",
            "緑:茶.db",
            "postgres.db",
        ),
    ],
)
def test_the_name_of_a_file_is_one(name: str) -> None:
    assert not addresses.resembles_address(name)


NAMES = st.text(st.characters(exclude_characters="/\\:@\0", exclude_categories=["Cs"]), min_size=2)
SECRETS = st.text("abcXYZ019:@/?#&=%+!$'\"", max_size=12).map(lambda one: one + "hunter2")


@given(st.sampled_from(["", "//", "postgres:/", "postgresql:", "pg:/", "mysql://"]), NAMES, SECRETS)
def test_no_name_and_password_become_a_file(scheme: str, name: str, secret: str) -> None:
    assert addresses.resembles_address(f"{scheme}{name}:{secret}@host/db")


@given(st.sampled_from(["postgres", "postgresql", "POSTGRESQL"]), SECRETS)
def test_no_password_is_shown_whatever_is_in_it(scheme: str, secret: str) -> None:
    url = f"{scheme}://ana:{secret}@host/db"
    assert PASSWORD not in paths.without_secrets(url)


@pytest.mark.parametrize(
    ("url", "is_ambiguous"),
    [
        ("postgresql://ana:p@ss@host/db", True),
        ("postgresql://ana:p/ss@host/db", True),
        ("postgresql://host/d@b", True),
        ("postgresql://ana:p?s@s@host/db", True),
        ("postgresql://ana:p%40ss@host/d%40b", False),
        ("postgresql://ana:p?ss@host/db", False),
        ("postgresql://host/db?user=ana@host&password=p@ss", False),
        ("postgresql://ana%40work@host/db", False),
        ("postgresql:///db?host=/run", False),
    ],
)
def test_an_address_is_clear_or_not(url: str, is_ambiguous: bool) -> None:
    assert addresses.is_ambiguous(url) == is_ambiguous


@given(st.sampled_from(["postgresql://", "mysql:/", "https://", ""]), SECRETS)
def test_a_word_of_a_command_is_quoted_without_its_password(scheme: str, secret: str) -> None:
    secret = secret.lstrip("/") if not scheme else secret
    told = addresses.masked(f"unrecognized arguments: {scheme}ana:{secret}@host/db")
    assert PASSWORD not in told
    assert told.startswith("unrecognized arguments: ")
    assert told.endswith("@host/db")


def test_what_is_no_password_is_quoted_as_it_is() -> None:
    for text in ("there is no command 'serach'", "invalid choice: 'a=b'", "ana@example.com", "a:b"):
        assert addresses.masked(text) == text
    assert addresses.masked("'postgresql://a:b@h/d'") == "'postgresql://a:…@h/d'"
    assert addresses.masked("x password=hunter2 y") == "x password=… y"
