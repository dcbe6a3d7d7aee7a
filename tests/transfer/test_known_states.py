"""What an import does to what is known here: every state there against every state here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.raw import SERVED, raw, stored

import memstore
from memstore import Store
from memstore.faces.cli import transfer as transfer_command
from memstore.frozen import replace
from memstore.transfer.merging import Left

TEXT = "the door is open"


def superseded(store: Store, fact_id: int) -> None:
    store.add("the door is shut", subject="door", supersedes=fact_id)


def reinstated(store: Store, fact_id: int) -> None:
    superseded(store, fact_id)
    store.reinstate(fact_id)


def restored(store: Store, fact_id: int) -> None:
    store.delete(fact_id)
    store.restore(fact_id)


def deleted_and_erased(store: Store, fact_id: int) -> None:
    store.delete(fact_id)
    store.erase(fact_id)


def proposed(store: Store, fact_id: int) -> None:
    store.of().proposals.put_forward([fact_id, fact_id + 1], "both", {})


def accepted(store: Store, fact_id: int) -> None:
    proposed(store, fact_id)
    store.proposals.accept(store.proposals.list()[0].id)


STATES: Mapping[str, Callable[[Store, int], object]] = {
    "active": lambda store, fact_id: None,
    "superseded": superseded,
    "reinstated": reinstated,
    "accepted": accepted,
    "deleted": lambda store, fact_id: store.delete(fact_id),
    "erased": lambda store, fact_id: store.erase(fact_id),
    "deleted, erased": deleted_and_erased,
    "restored": restored,
    "expired": lambda store, fact_id: store.set_expiry(fact_id, "2026-01-01"),
    "pinned": lambda store, fact_id: store.pin(fact_id),
    "confirmed": lambda store, fact_id: store.confirm(fact_id),
    "changed": lambda store, fact_id: store.update_metadata(fact_id, {"n": 1}),
    "proposed": proposed,
}

REPLACED = ("superseded", "reinstated", "accepted")
ERASED = ("erased", "deleted, erased")
LIVE = ("active", "restored", "expired", "pinned", "confirmed", "changed", "proposed")

RULES: list[tuple[tuple[str, ...], tuple[str, ...], str | None, str | None]] = [
    # There; here; the status here after the import (None: as before); what is said of it.
    (ERASED, ERASED, "erased", None),
    (ERASED, (*LIVE, *REPLACED, "deleted"), "erased", None),
    ((*LIVE, *REPLACED, "deleted"), ERASED, "erased", "erased_here"),
    (("deleted",), (*LIVE, *REPLACED, "deleted"), "deleted", None),
    (("restored",), ("deleted",), "active", None),
    (REPLACED, REPLACED, "superseded", None),
    (REPLACED, ("deleted",), "deleted", None),
    (REPLACED, LIVE, "superseded", None),
    (("expired",), ("deleted", *REPLACED), None, None),
    (("expired",), LIVE, "expired", None),
    (("confirmed",), ("deleted",), "active", None),
    (("pinned", "confirmed", "changed"), (*LIVE, *REPLACED, "deleted"), None, None),
    (("active", "restored", "proposed"), (*LIVE, *REPLACED, "deleted"), None, None),
]
"""The first that fits holds. Who acts there does it after who acts here."""


def expected(there: str, here: str) -> tuple[str | None, str | None]:
    for of_there, of_here, status, said in RULES:
        if there in of_there and here in of_here:
            return status, said
    raise AssertionError(f"no rule says what {there} there means for {here} here")


def status_of(store: Store, uuid: str) -> str:
    with raw(store.path) as file:
        rows = file.execute(
            "SELECT content, superseded_by, deleted_at, expired_at FROM memstore_facts"
            f" WHERE uuid = '{uuid}'"
        ).fetchall()
    [(content, by, deleted, expires)] = rows
    if deleted is not None:
        return "deleted" if content else "erased"
    return "superseded" if by is not None else "active" if expires is None else "expired"


@pytest.fixture
def new(open_store: Callable[..., Store], tmp_path: Path) -> Callable[[str], Store]:
    return lambda name: open_store(tmp_path / f"{name}.db", embedder=None)


@pytest.mark.parametrize("there", STATES)
def test_every_state_there_against_every_state_here(
    there: str, new: Callable[[str], Store]
) -> None:
    for number, here in enumerate(STATES):
        source, target = new(f"source {number}"), new(f"target {number}")
        fact = source.add(TEXT, subject="door")
        source.add("the lamp is on", subject="door")
        target.transfer.import_(source.transfer.export())
        STATES[here](target, 1)
        before = status_of(target, fact.uuid)
        STATES[there](source, 1)
        export = [*source.transfer.export()]
        rehearsed = target.transfer.import_(export, dry_run=True)
        assert status_of(target, fact.uuid) == before
        report = target.transfer.import_(export)
        assert replace(rehearsed, dry_run=False, is_gone=report.is_gone) == report
        status, said = expected(there, here)
        assert status_of(target, fact.uuid) == (status or before), here
        assert [*report.left] == ([] if said is None else [said]), here
        assert report.erased == (there in ERASED and here not in ERASED)
        assert target.file.doctor(deep=True) == [], here
        if "erased" in status_of(target, fact.uuid) and "reinstated" not in (there, here):
            assert TEXT not in "".join(target.transfer.export())
        again = target.transfer.import_(export)
        assert (again.retired, again.removed, again.restored, again.erased) == (0, 0, 0, 0)


@pytest.mark.parametrize("there", STATES)
def test_every_state_of_a_fact_that_is_absent_here(there: str, new: Callable[[str], Store]) -> None:
    source, target = new("source"), new("target")
    fact = source.add(TEXT, subject="door")
    source.add("the lamp is on", subject="door")
    STATES[there](source, 1)
    report = target.transfer.import_(source.transfer.export())
    assert status_of(target, fact.uuid) == status_of(source, fact.uuid)
    assert (report.left, report.episodes_left, report.proposals_left) == ({}, {}, 0)
    assert target.file.doctor(deep=True) == []


def test_a_deletion_that_both_know_does_not_hide_the_erasure(new: Callable[[str], Store]) -> None:
    source, target = new("source"), new("target")
    source.delete(source.add(TEXT, subject="door").id)
    target.transfer.import_(source.transfer.export())
    source.erase(1)
    assert target.transfer.import_(source.transfer.export()).erased == 1
    assert TEXT.encode() not in stored(target.path)
    assert target.file.remains(["door is open"]) == [] if not SERVED else True


def test_what_was_restored_or_deleted_here_later_stays_and_is_said(
    new: Callable[[str], Store],
) -> None:
    source, target = new("source"), new("target")
    first, second = (source.add(f"{TEXT} {n}", subject="door").id for n in range(2))
    target.transfer.import_(source.transfer.export())
    for store, undone in ((source, second), (target, first)):
        store.delete(first)
        store.delete(second)
        store.restore(undone)
    report = target.transfer.import_(source.transfer.export())
    assert report.left == {"deleted_here": 1, "restored_here": 1}
    assert (report.removed, report.restored) == (0, 0)


EPISODES: Mapping[str, Callable[[Store], object]] = {
    "active": lambda store: None,
    "expired": lambda store: store.episodes.expire([1]),
    "erased": lambda store: store.episodes.erase(1),
}


@pytest.mark.parametrize("there", EPISODES)
@pytest.mark.parametrize("here", [*EPISODES, "absent"])
def test_every_state_of_an_episode(there: str, here: str, new: Callable[[str], Store]) -> None:
    source, target = new("source"), new("target")
    source.episodes.add("somebody opened the door", source="chat")
    if here != "absent":
        target.transfer.import_(source.transfer.export())
        EPISODES[here](target)
    EPISODES[there](source)
    rehearsed = target.transfer.import_([*source.transfer.export()], dry_run=True)
    report = target.transfer.import_(source.transfer.export())
    assert replace(rehearsed, dry_run=False, is_gone=report.is_gone) == report
    with raw(target.path) as file:
        [(content, expires)] = file.execute(
            "SELECT content, expired_at FROM memstore_episodes"
        ).fetchall()
    is_erased = "erased" in (there, here)
    assert (content == "") is is_erased
    assert report.episodes_removed == (there == "erased" and here in ("active", "expired"))
    said = {"erased_here"} if here == "erased" != there else set[str]()
    assert {*report.episodes_left} == said
    if not is_erased:
        assert (expires is not None) == ("expired" in (here, there))
    assert target.file.doctor(deep=True) == []


def test_an_erasure_is_not_taken_over_if_the_caller_says_so(new: Callable[[str], Store]) -> None:
    source, target = new("source"), new("target")
    source.add(TEXT, subject="door")
    source.episodes.add("somebody opened the door", source="chat")
    target.transfer.import_(source.transfer.export())
    source.erase(1)
    source.episodes.erase(1)
    report = target.transfer.import_(source.transfer.export(), erasures=False)
    assert (report.left, report.episodes_left) == ({"erasure": 1}, {"erasure": 1})
    assert target.get(1).content == TEXT
    assert target.episodes.get(1).content == "somebody opened the door"


def test_an_erasure_of_what_was_created_at_another_time_is_not_taken_over(
    new: Callable[[str], Store],
) -> None:
    source, target = new("source"), new("target")
    source.add(TEXT, subject="door")
    target.transfer.import_(source.transfer.export())
    source.erase(1)
    [created] = {fact.created_at for fact in target.list()}
    forged = [
        line.replace(f"{created:%Y-%m-%dT%H:%M:%S}", "2020-01-01T00:00:00")
        for line in source.transfer.export()
    ]
    assert target.transfer.import_(forged, unverified=True).left == {"another_record": 1}
    assert target.get(1).content == TEXT


@pytest.mark.parametrize("acts", ["proposal", "decision", "reply", "evidence"])
def test_what_quotes_an_erased_fact_is_not_taken_back(
    acts: str, new: Callable[[str], Store]
) -> None:
    source, target = new("source"), new("target")
    secret = "Zebediah keeps zqsecret in the cellar"
    source.add(secret, subject="Zebediah")
    source.add("Zeb keeps nothing", subject="Zebediah" if acts == "proposal" else "Zeb")
    target.transfer.import_(source.transfer.export())
    target.erase(1)
    if acts == "proposal":
        source.of().proposals.put_forward([1, 2], secret, {"said": secret})
    elif acts == "decision":
        source.graph.merge("Zebediah", "Zeb")
    elif acts == "reply":
        said = source.episodes.add(f"he said: {secret}", source="chat")
        with raw(source.path) as file:
            file.execute(
                "INSERT INTO memstore_replies (episode_id, key, model, reply, created_at)"
                f" VALUES ({said.id}, 'k', 'm', '{{\"facts\": [\"{secret}\"]}}',"
                " '2026-01-01T00:00:00.000000Z')"
            )
            file.commit()
    else:
        new_fact = memstore.NewFact(content="the cellar is empty", subject="Zebediah", supersedes=1)
        evidence = {"compared": secret, "supersedes": 1}
        source.ledger.apply([memstore.AddFact(fact=new_fact, evidence=evidence)])
    export = [*source.transfer.export()]
    report = target.transfer.import_(export)
    assert report.left == {"erased_here": 1}
    told = "".join(target.transfer.export())
    if acts == "reply":
        assert report.replies == 0
        assert "facts" not in [line for line in told.splitlines() if '"reply"' in line]
    else:
        assert "zqsecret" not in told
        assert "Zebediah" not in told or acts != "decision"
    assert report.proposals_left == (acts == "proposal")
    assert target.file.doctor(deep=True) == []


IMPORTING = """
import sys, memstore
with memstore.open(sys.argv[1], embedder=None) as store, open(sys.argv[2]) as lines:
    lines = [*lines]
    print("begun", flush=True)
    store.transfer.import_(lines)
"""


@pytest.mark.process
def test_an_erasure_whose_import_was_killed_is_completed_by_the_same_import(
    new: Callable[[str], Store], tmp_path: Path
) -> None:
    source, target = new("source"), new("target")
    for number in range(200):
        source.add(f"secret zqword{number} of the door", subject="door")
        source.episodes.add(f"secret zqsaid{number} of it", source="chat")
    target.transfer.import_(source.transfer.export())
    path = Path(target.path)
    target.close()
    source.ledger.erasure(subject="door").apply()
    source.episodes.erase(50)
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(source.transfer.export()))
    for wait in range(6):
        again = tmp_path / f"killed-{wait}.db"
        shutil.copy(path, again)
        command = [sys.executable, "-c", IMPORTING, str(again), str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.15 * wait)
            child.kill()
        with memstore.open(again, embedder=None) as store:
            assert store.transfer.import_(file.read_text().splitlines()).is_gone
            assert store.file.doctor(deep=True) == []
        left = b"".join(one.read_bytes() for one in tmp_path.glob(f"{again.name}*"))
        assert b"zqsaid49 of" not in left
        assert re.findall(rb"zqword\d+", left) == []


def test_every_word_for_what_was_left_has_a_sentence() -> None:
    assert {*transfer_command.LEFT} == {*map(str, Left)}


def test_the_command_rehearses_says_and_leaves_erasures(
    cli: CommandLine, tmp_path: Path, new: Callable[[str], Store]
) -> None:
    source = new("source")
    source.add(TEXT, subject="door")
    source.add("the lamp is on", subject="lamp")

    def exported() -> Path:
        file = tmp_path / "export.jsonl"
        file.write_text("\n".join(source.transfer.export()))
        return file

    assert cli("import", exported()).code == 0
    source.erase(1)
    source.pin(2)
    file = exported()
    rehearsed = cli("import", file, "--dry-run")
    assert "1 of them now erased" in rehearsed.out
    assert "1 of them now changed" in rehearsed.out
    kept = cli("import", file, "--no-erasures")
    assert "kept here as you asked" in kept.err
    assert cli.json("get", 1)["content"] == TEXT
    assert "1 of them now erased" in cli("import", file).out
    assert cli("get", 1).code != 0
