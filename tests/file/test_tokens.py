"""Tokens: what is stored, when they are valid, and what a store for a token can access."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401 - a fixture
from tests.support.raw import raw

import memstore
from memstore import AccessDenied, Conflict, NotFound, Store

GIVEN = "0123456789abcdef" * 4


def change(path: Path, sql: str) -> None:
    with raw(path) as file:
        file.execute(sql)
        file.commit()


def test_secret_is_valid_and_not_in_the_file(store: Store, path: Path) -> None:
    token, secret = store.file.tokens.create("laptop", namespace=store.namespace)
    assert secret.startswith("mst_")
    assert len(secret) >= 47
    assert (token.name, token.namespace, token.access, token.status) == (
        "laptop",
        "default",
        "write",
        "active",
    )
    assert store.file.tokens.check(secret) == token
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in written
    assert secret.encode() not in written


def test_no_two_secrets_are_the_same(store: Store) -> None:
    assert (
        len({store.file.tokens.create(f"t{n}", namespace=store.namespace)[1] for n in range(20)})
        == 20
    )


@pytest.mark.parametrize("secret", ["", "mst_", "\ud800", "mst_" + "A" * 43])
def test_unknown_secret_is_refused(store: Store, secret: str) -> None:
    store.file.tokens.create("laptop", namespace=store.namespace)
    with pytest.raises(AccessDenied, match="unknown"):
        store.file.tokens.check(secret)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_arbitrary_text_is_not_a_valid_secret(store: Store, text: str) -> None:
    with pytest.raises(AccessDenied):
        store.file.tokens.check(text)


def test_a_revoked_token_is_refused_and_its_name_can_be_reused(store: Store) -> None:
    first, secret = store.file.tokens.create("laptop", namespace=store.namespace)
    assert store.file.tokens.revoke("laptop").status == "revoked"
    with pytest.raises(AccessDenied, match="revoked"):
        store.file.tokens.check(secret)
    with pytest.raises(NotFound, match="no token"):
        store.file.tokens.revoke("laptop")
    with pytest.raises(Conflict, match="already"):
        store.file.tokens.revoke(first.id)
    second, other = store.file.tokens.create("laptop", namespace=store.namespace)
    assert store.file.tokens.check(other).id == second.id != first.id
    assert [token.status for token in store.file.tokens.list()] == ["revoked", "active"]


def test_an_expired_token_is_refused(store: Store, path: Path) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    token, secret = store.file.tokens.create("guest", expires_at=until, namespace=store.namespace)
    assert store.file.tokens.check(secret).expires_at == until
    assert store.file.tokens.usable()
    change(path, "UPDATE memstore_tokens SET expires_at = '2020-01-01T00:00:00.000000Z'")
    with pytest.raises(AccessDenied, match="expired"):
        store.file.tokens.check(secret)
    assert not store.file.tokens.usable()
    assert store.file.tokens.required()
    assert store.file.tokens.revoke(token.id).status == "revoked"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"name": " "}, "name is empty"),
        ({"name": "x" * 501}, "limit is 500"),
        ({"access": "admin"}, "access must be read or write"),
        ({"expires_at": "2020-01-01"}, "expires_at is in the past"),
        ({"expires_at": "soon"}, "expires_at is not a time: 'soon'"),
        ({"secret": "short"}, "openssl rand -hex 32"),
        ({"secret": "x" * 60 + "\n"}, "openssl rand -hex 32"),
    ],
)
def test_invalid_token_values_are_refused(
    store: Store, arguments: dict[str, str], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        store.file.tokens.create(**({"name": "laptop"} | arguments), namespace=store.namespace)  # type: ignore[arg-type]
    assert store.file.tokens.list() == []
    assert not store.file.tokens.required()


def test_token_names_are_unique(store: Store) -> None:
    store.file.tokens.create("laptop", namespace=store.namespace)
    with pytest.raises(Conflict, match="already has the name 'laptop'"):
        store.file.tokens.create("laptop", namespace=store.namespace)
    with pytest.raises(Conflict, match="already has the name 'laptop'"):
        store.file.tokens.create("laptop", namespace="other")


def test_creating_a_token_with_a_given_secret_is_idempotent(store: Store) -> None:
    token, secret = store.file.tokens.create("cluster", secret=GIVEN, namespace=store.namespace)
    assert secret == GIVEN
    assert store.file.tokens.create("cluster", secret=GIVEN, namespace=store.namespace)[0] == token
    assert len(store.file.tokens.list()) == 1
    for other in ({"name": "else"}, {"name": "cluster", "access": "read"}):
        with pytest.raises(Conflict, match="the secret belongs to token 1"):
            store.file.tokens.create(**other, secret=GIVEN, namespace=store.namespace)
    with pytest.raises(Conflict, match="the secret belongs to token 1"):
        store.file.tokens.create("cluster", namespace="other", secret=GIVEN)
    store.file.tokens.revoke("cluster")
    with pytest.raises(Conflict, match="revoked"):  # a leaked secret cannot be used again
        store.file.tokens.create("cluster", secret=GIVEN, namespace=store.namespace)


def test_use_is_recorded_once_a_minute_without_blocking(
    open_store: Callable[..., Store], path: Path
) -> None:
    store, other = open_store(), open_store()
    token, secret = store.file.tokens.create("laptop", namespace=store.namespace)
    with other.file.engine.write():
        store.file.tokens.note_use(token)  # another process writes: this neither waits nor fails
    assert store.file.tokens.check(secret).last_used_at is None
    store.file.tokens.note_use(token)
    used = store.file.tokens.check(secret)
    assert used.last_used_at is not None
    store.file.tokens.note_use(used)
    assert store.file.tokens.check(secret) == used
    change(path, "UPDATE memstore_tokens SET last_used_at = '2999-01-01T00:00:00.000000Z'")
    store.file.tokens.note_use(store.file.tokens.check(secret))  # the clock was set back
    noted = store.file.tokens.check(secret).last_used_at
    assert noted is not None
    assert noted.year < 2999


def test_journal_records_who_created_and_revoked_a_token(
    open_store: Callable[..., Store], path: Path
) -> None:
    with open_store(actor="ops") as store:
        _, secret = store.file.tokens.create("laptop", access="read", namespace=store.namespace)
        store.file.tokens.revoke("laptop")
    with raw(path) as file:
        lines = file.execute(
            "SELECT actor, kind, after FROM memstore_journal WHERE kind LIKE '%token' ORDER BY id"
        ).fetchall()
    assert [(actor, kind) for actor, kind, _ in lines] == [
        ("ops", "token"),
        ("ops", "revoke_token"),
    ]
    assert '"access": "read"' in lines[0][2]
    digest = hashlib.sha256(secret.encode()).hexdigest()
    assert not any(secret in str(line) or digest in str(line) for line in lines)


@pytest.mark.parametrize(
    "tampering",
    [
        "INSERT INTO memstore_tokens (name, hash, namespace, access, created_at)"
        " VALUES ('intruder', 'h', 'default', 'write', '2026-01-01T00:00:00.000000Z')",
        "UPDATE memstore_tokens SET access = 'write' WHERE name = 'reader'",
        "UPDATE memstore_tokens SET namespace = 'other' WHERE name = 'reader'",
        "UPDATE memstore_tokens SET revoked_at = NULL WHERE name = 'gone'",
        "DELETE FROM memstore_tokens WHERE name = 'reader'",
    ],
)
def test_doctor_finds_a_token_without_a_journal_line(
    store: Store, path: Path, tampering: str
) -> None:
    store.file.tokens.create(
        "reader", access="read", expires_at="2999-01-01", namespace=store.namespace
    )
    store.file.tokens.create("gone", namespace=store.namespace)
    store.file.tokens.revoke("gone")
    assert store.file.doctor() == []
    change(path, tampering)
    (finding,) = store.file.doctor()
    assert finding.check == "tokens"


def test_a_confined_store_cannot_reach_another_namespace(store: Store) -> None:
    store.add("mine", subject="s")
    work = store.within("work", confined=True)
    fact = work.add("works", subject="s")
    assert [hit.fact.content for hit in work.search("mine works")] == ["works"]
    assert list(work.transfer.export())
    for beyond in ("default", "all", ["work", "default"]):
        with pytest.raises(AccessDenied, match="'work'"):
            work.search("mine", namespaces=beyond)
        with pytest.raises(AccessDenied):
            work.file.export(beyond)
    for beyond in ("default", "Work"):
        with pytest.raises(AccessDenied):
            work.within(beyond)
    with pytest.raises(AccessDenied):
        work.file.embed_pending()
    with pytest.raises(AccessDenied):
        work.file.import_(list(work.transfer.export()))
    store.episodes.add("heard at home", source="chat")
    work.episodes.add("heard at work", source="chat")
    for beyond in ("default", "all"):
        with pytest.raises(AccessDenied):
            work.episodes.search("heard", namespaces=beyond)
    assert [hit.episode.content for hit in work.episodes.search("heard")] == ["heard at work"]
    assert work.status().namespaces == {"work": 1}
    assert store.status().namespaces == {"default": 1, "work": 1}
    assert work.within("work").get(fact.id) == work.get(fact.id)
    with pytest.raises(AccessDenied):
        work.within("work").within("default")  # including indirectly
    with pytest.raises(NotFound):
        work.get(1)


def test_a_store_within_another_namespace_shares_its_file_and_model(
    store: Store, embedder: object
) -> None:
    other = store.within("other")
    kept = other.add("the fox runs", subject="fox")
    assert kept.embedded
    assert (other.namespace, other.path) == ("other", store.path)
    assert other.search("a fox runs")[0].vector_score > 0.5
    assert other.within("default").namespace == "default"
    other.close()  # the store it was made from keeps the file open
    assert other.get(kept.id).use_count == 1
    assert store.search("fox") == [] or store.search("fox")[0].fact.namespace == "default"
    store.close()
    with pytest.raises(memstore.StoreClosed):
        other.list()


def test_the_command_line_creates_lists_and_revokes_tokens(cli: CommandLine) -> None:
    made = cli("token", "create", "laptop", "--namespace", "work", "--read-only")
    assert made.code == 0
    secret = made.out.removesuffix("\n")  # and nothing else, so that a script can use it
    assert secret.startswith("mst_")
    assert "token 1 (laptop) reads in work" in made.err
    assert secret not in made.err
    told = cli.json("token", "create", "desk", "--expires-at", "2999-01-01")
    assert told["secret"].startswith("mst_")
    assert (told["id"], told["access"], told["namespace"]) == (2, "write", "default")
    rows = [line.split("\t") for line in cli("token", "list").out.splitlines()]
    assert rows == [
        ["1", "laptop", "active", "read", "work", "never", "never"],
        ["2", "desk", "active", "write", "default", "2999-01-01T23:59:59Z", "never"],
    ]
    assert not any("secret" in token or "hash" in token for token in cli.json("token", "list"))
    assert cli("token", "revoke", "laptop").out == "revoked token 1 (laptop)\n"
    assert cli.json("token", "revoke", "#2")["status"] == "revoked"
    assert cli.error("token", "revoke", "laptop")[0] == 1
    assert cli.error("token", "create", "x", "--expires-at", "soon")[1].startswith("--expires-at ")


def test_the_command_line_reads_a_secret_from_a_file(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{GIVEN}\n")
    for _ in range(2):
        made = cli("token", "create", "cluster", "--secret-file", file)
        assert (made.code, made.out) == (0, "token 1 (cluster) reads and writes in default\n")
    assert cli("token", "create", "piped", "--secret-file", "-", stdin=GIVEN[::-1]).code == 0
    with memstore.open(cli.db, embedder=None) as store:
        assert store.file.tokens.check(GIVEN).name == "cluster"
    file.write_text("\n")
    assert cli.error("token", "create", "y", "--secret-file", file)[0] == 2
    assert cli.error("token", "create", "y", "--secret-file", tmp_path / "none")[0] == 3
    file.write_text("short\n")
    assert "--secret-file must be 43" in cli.error("token", "create", "y", "--secret-file", file)[1]
