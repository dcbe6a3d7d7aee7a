"""What was changed past the journal is named: any byte of a line, fact, episode or proposal."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import copied
from tests.support.raw import IntegrityError, columns, raw, unguarded

import memstore
from memstore import Head, Store

OpenStore = Callable[..., Store]

ROUNDS = 80
"""Random changes of one value, each in a file of its own."""

UNSEEN = {"memstore_facts": {"use_count", "last_used_at"}}
"""What is written without a line, because it is no part of the memories."""

TABLES = ("memstore_journal", "memstore_facts", "memstore_episodes", "memstore_proposals")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with every kind of row: chains, tombstones, threads, tasks, erased facts, episodes."""
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with memstore.open(path, embedder="none") as store:
        store.add_many({"content": f"fact {n}", "subject": "x"} for n in range(4))
        store.add("fact one, corrected", subject="x", supersedes=1, metadata={"a": [1, True]})
        store.delete(3)
        said = store.episodes.add(
            "something said",
            source="meeting",
            tags=["one", "two"],
            metadata={"n": 1},
            thread="t",
            seq=1,
        )
        store.add(
            "something known",
            subject="y",
            episode_id=said.id,
            user_id="u",
            agent_id="a",
            run_id="r",
            valid_at="2026-01-01",
            expired_at="2999-01-01",
            source="web",
            idempotency_key="key",
        )
        gone = store.episodes.add("said and erased", source="x")
        store.add("東京都は日本の首都です", subject="geography", episode_id=gone.id)
        store.episodes.erase(gone.id)
        store.erase(2)
        store.confirm(4)
        store.pin(4)
        store.tasks.create("a task", priority="high")
        propose(store)
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []
    return path


def propose(store: Store) -> None:
    """Make proposals in every state, one of them with erased reasons, and one with a part left."""

    def proposed(n: int, **why: object) -> int:
        old = store.add(f"the door {n} is open", subject="door")
        said = store.episodes.add(f"someone shut the door {n}", source="chat")
        new = memstore.NewFact(content=f"the door {n} is shut", subject="door", episode_id=said.id)
        change = memstore.AddFact(
            fact=new,
            precedence=memstore.MayReplace(fact_id=old.id, similarity=0.5),
            evidence={"episode": said.id, "said": f"shut the door {n}", "é": [1.5, None], **why},
        )
        return store.ledger.apply([change])[0].proposal_id or 0

    def summed(n: int) -> int:
        ids = [store.add(f"the lamp {n} is {what}", subject="lamp").id for what in ("on", "lit")]
        why = {"model": "m"}
        return store.of().proposals.put_forward(ids, f"lamp {n} lit", why).id

    one, two, three, erased, quoted, back = (proposed(n) for n in range(6))
    open_, accepted, rejected, gone, again = (summed(n) for n in range(5))
    assert one + open_ > 1  # they stay open
    acts = []
    for proposal in (two, accepted, back, again):
        store.proposals.accept(proposal)
        acts.append(store.ledger.log(limit=1)[0].line)
    for proposal in (three, rejected):
        store.proposals.reject(proposal)
    undone = [store.ledger.revert(acts=[act]).apply() for act in acts[2:]]
    assert store.proposals.get(back).state == store.proposals.get(again).state == "open"
    store.ledger.revert(lines=undone[0].lines).apply()
    assert store.proposals.get(back).state == "accepted"
    for proposal in (erased, gone):
        store.erase(store.proposals.get(proposal).sources[0].id)
    new = store.proposals.get(quoted).new
    assert new is not None
    store.episodes.erase(new.episode_id or 0)


def verified(path: Path, head: Head | str | None = None) -> list[str]:
    with memstore.open(path, embedder="none") as store:
        return [finding.message for finding in store.ledger.verify(head)]


def flipped(value: Any, chance: random.Random) -> Any:
    if isinstance(value, float):
        return value + 1
    if isinstance(value, int):
        return value ^ (1 << chance.randrange(8))
    if isinstance(value, str) and value:
        place = chance.randrange(len(value))
        other = chr(ord(value[place]) ^ (1 << chance.randrange(6)))
        return value[:place] + (other if other != "\0" else "~") + value[place + 1 :]
    if isinstance(value, bytes) and value:
        place = chance.randrange(len(value))
        return (
            value[:place] + bytes([value[place] ^ (1 << chance.randrange(8))]) + value[place + 1 :]
        )
    return chance.choice(["x", 1, b"x"])


def attack(path: Path, chance: random.Random) -> tuple[str, str, int, Any, Any] | None:
    """Change one value of one row by plain SQL; return what was changed."""
    with unguarded(path) as file:
        table = chance.choice(TABLES)
        named = [c for c in columns(file, table) if c not in UNSEEN.get(table, ())]
        column = chance.choice(named)
        row_id, value = chance.choice(file.execute(f"SELECT id, {column} FROM {table}").fetchall())
        changed = None if value is not None and chance.random() < 0.1 else flipped(value, chance)
        try:
            file.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (changed, row_id))
        except (IntegrityError, OverflowError):  # the schema refuses it
            return None
        [(now,)] = file.execute(
            f"SELECT {column} FROM {table} WHERE id = ?",
            (changed if column == "id" else row_id,),
        ).fetchall()
        if type(now) is type(value) and now == value:
            return None
        return table, column, row_id, value, now


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_any_changed_value_is_named(seed: int, filled: Path, path: Path) -> None:
    copied(filled, path)
    done = attack(path, random.Random(seed))
    if done is not None:
        assert verified(path), done


def put(path: Path, column: str, row_id: int, value: object) -> bool:
    """Change a proposal by plain SQL; return whether the schema allows it."""
    with unguarded(path) as file:
        try:
            file.execute(
                f"UPDATE memstore_proposals SET {column} = ? WHERE id = ?", (value, row_id)
            )
        except IntegrityError:
            return False
    return True


def test_every_column_of_a_proposal_in_any_state_is_compared(filled: Path, path: Path) -> None:
    chance = random.Random(1)
    copied(filled, path)
    with raw(path) as file:
        rows = file.execute("SELECT * FROM memstore_proposals ORDER BY id").fetchall()
        names = columns(file, "memstore_proposals")
    state, sources = names.index("state"), names.index("sources")
    states = {(row[state], row[sources] is None): row for row in rows}
    assert len(states) == 6
    tried = 0
    for row in states.values():
        for name, value in zip(names, row, strict=True):
            others = ["x", 1] if value is None else [flipped(value, chance)]
            if name == "state":
                others = ["open" if value == "rejected" else "rejected"]
            changed = next((one for one in others if put(path, name, row[0], one)), None)
            if changed is None:  # the schema refuses them
                continue
            now = changed if name == "id" else row[0]
            found = [one for one in verified(path) if "proposals that differ" in one]
            assert found, (row, name, changed)
            assert str(row[0]) in found[0]
            tried += 1
            assert put(path, name, now, value)
    assert tried > 8 * len(states)
    assert verified(path) == []


def test_a_proposal_inserted_or_removed_by_plain_sql_is_named(filled: Path, path: Path) -> None:
    copied(filled, path)
    with unguarded(path) as file:
        file.execute("DELETE FROM memstore_proposals WHERE id = 1")
        file.execute(
            "INSERT INTO memstore_proposals (id, at, old_id, new_id, similarity)"
            " VALUES (99, '2026-01-01T00:00:00.000000Z', 4, 5, 0.5)"
        )
        file.commit()
    assert verified(path) == [
        "proposals that differ from the journal: 1 (only in the journal), 99 (not in the journal)"
    ]


def test_an_untouched_file_has_no_findings_with_its_heads(store: Store) -> None:
    assert store.ledger.verify() == []
    heads = [store.file.head()]
    for n in range(3):
        store.add(f"fact {n}", subject="x")
        heads.append(store.file.head())
    assert store.status().head == str(heads[-1])
    assert [store.ledger.verify(head) for head in heads] == [[]] * 4
    assert store.ledger.verify(f" {heads[-1]} ") == []


FORGERIES = {
    "a line removed together with what it did": (
        "UPDATE memstore_facts SET superseded_by = NULL, superseded_at = NULL WHERE id = 1;"
        "DELETE FROM memstore_journal WHERE kind = 'supersede' AND fact_id = 1",
        "are missing",
    ),
    "a fact removed with all its lines": (
        "DELETE FROM memstore_facts WHERE id = 4; DELETE FROM memstore_journal WHERE fact_id = 4",
        "are missing",
    ),
    "an episode removed": ("DELETE FROM memstore_episodes WHERE id = 1", "1 (only in the journal)"),
    "a fact inserted with its line": (
        "INSERT INTO memstore_facts (id, uuid, namespace, content, subject, category, created_at,"
        " subject_key, claim_hash) VALUES (900, 'u', 'default', 'c', 's', 'note',"
        " '2026-01-01T00:00:00.000000Z', 's', 1);"
        "INSERT INTO memstore_journal (id, txn, at, run, actor, source, kind, fact_id, after, salt,"
        " hash) SELECT 900, 900, '2999-01-01T00:00:00.000000Z', run, actor, source, kind, 900,"
        " after, salt, hash FROM memstore_journal WHERE id = 1",
        "does not follow from the line before it",
    ),
    "a row changed together with its line": (
        "UPDATE memstore_facts SET content = 'forged' WHERE id = 4;"
        "UPDATE memstore_journal SET after = replace(after, '\"fact 3\"', '\"forged\"')"
        " WHERE fact_id = 4 AND kind = 'add'",
        "line 4 does not follow from the line before it",
    ),
    "changed evidence": (
        'UPDATE memstore_journal SET evidence = \'{"said": "forged"}\' WHERE id = 5',
        "line 5 does not follow from the line before it",
    ),
    "a text blanked without an erasure": (
        "UPDATE memstore_journal SET after = NULL, salt = NULL WHERE id = 1",
        "line 1 does not follow from the line before it",
    ),
    "the order of two lines": (
        "UPDATE memstore_journal SET id = -1 WHERE id = 3;"
        "UPDATE memstore_journal SET id = 3 WHERE id = 4;"
        "UPDATE memstore_journal SET id = 4 WHERE id = -1",
        "line 3 does not follow from the line before it",
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_is_named(what: str, filled: Path, path: Path) -> None:
    copied(filled, path)
    script, says = FORGERIES[what]
    with unguarded(path) as file:
        file.executescript(script)
    assert any(says in message for message in verified(path)), verified(path)


def test_lines_removed_from_the_end_are_noticed_with_a_head(store: Store) -> None:
    path = Path(store.path)
    store.add("fact 1", subject="x")
    store.add("fact 2", subject="x")
    head = store.file.head()
    store.close()
    with unguarded(path) as file:
        file.executescript(
            "DELETE FROM memstore_journal WHERE fact_id = 2; DELETE FROM memstore_facts"
            " WHERE id = 2; UPDATE sqlite_sequence SET seq = 1;"
        )
    without = [message for message in verified(path) if "journal:" in message]
    assert without == []  # the chain alone cannot show it
    assert "the journal: the last line is 1, but the head that was given is of line 2" in verified(
        path, head
    )


def test_missing_triggers_are_named_and_rebuilding_restores_them(store: Store) -> None:
    store.add("fact", subject="x")
    with raw(store.path) as file:
        names = [
            name
            for (name,) in file.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
                " AND tbl_name IN ('memstore_journal', 'memstore_episodes')"
            )
        ]
        for name in names:
            file.execute(f"DROP TRIGGER {name}")
        file.commit()
    [finding] = store.ledger.verify()
    assert finding.check == "schema"
    assert finding.repairable
    store.file.rebuild()
    assert store.ledger.verify() == []
    with raw(store.path) as file:
        kept = {name for (name,) in file.execute("SELECT name FROM sqlite_schema")}
    assert {*names} <= kept


def test_the_doctor_finds_what_verifying_finds(filled: Path, path: Path) -> None:
    copied(filled, path)
    with unguarded(path) as file:
        file.execute("UPDATE memstore_journal SET actor = 'forged' WHERE id = 3")
        file.execute("UPDATE memstore_facts SET uuid = 'forged' WHERE id = 2")
    with memstore.open(path, embedder="none") as store:
        found = store.ledger.verify()
        examined = store.file.doctor(deep=True)
    assert len(found) == 2
    assert [one for one in examined if one in found] == [found[1], found[0]]


def test_a_head_is_read_as_it_is_written(store: Store) -> None:
    head = store.file.head()
    assert Head.parse(str(head)) == head
    zeros = "0" * 64
    for wrong in ("", "5", "5:", f"x:{zeros}", f"5:{zeros[1:]}", f"-1:{zeros}", f"٥:{zeros}"):
        with pytest.raises(memstore.InvalidArgument, match="a number of lines, a colon and"):
            store.ledger.verify(wrong)
    with pytest.raises(memstore.InvalidArgumentType):
        store.ledger.verify(5)  # type: ignore[arg-type]


def test_a_confined_store_cannot_verify_the_file(store: Store) -> None:
    with pytest.raises(memstore.AccessDenied):
        store.within("other", confined=True).ledger.verify()
