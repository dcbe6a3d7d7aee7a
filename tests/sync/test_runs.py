"""One run of sync: what travels, what waits, what is erased, and what a spoilt place does."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.syncing import (
    Shelf,
    Ticking,
    all_facts,
    device_of,
    differences,
    state,
    sync,
)

import memstore
from memstore import Store, StoreBusy
from memstore.database.tables import leases
from memstore.domain import clock
from memstore.sync import segments, status
from memstore.sync.chain_check import ChainCheck
from memstore.sync.known_devices import KnownDevices
from memstore.sync.places import names
from memstore.sync.places.folder import FolderPlace
from memstore.sync.relaying import Relaying

SECRET = "the safe opens with 8431"


@pytest.fixture
def devices(open_store: Callable[..., Store], tmp_path: Path) -> list[Store]:
    return [open_store(tmp_path / f"{name}.db", embedder=None) for name in "abc"]


def meet(shelf: Shelf, *stores: Store) -> None:
    for store in stores:
        sync(store, shelf.view().own(device_of(store)))


def test_what_one_device_learned_another_one_knows(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    fact = a.add("Alice works at Globex", subject="alice", metadata={"team": "red"})
    a.pin(fact.id)
    meet(shelf, a, b)
    [known] = b.list()
    assert (known.content, known.metadata, known.uuid) == (fact.content, fact.metadata, fact.uuid)
    assert known.pinned_at is not None
    assert b.ledger.journal(known.id)[0].actor == a.ledger.journal(fact.id)[0].actor


def test_a_run_without_news_writes_nothing(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.add("tea", subject="alice")
    meet(shelf, a, b, a, b)
    before = {name: len(held) for name, held in shelf.versions.items()}
    meet(shelf, a, b)
    assert {name: len(held) for name, held in shelf.versions.items()} == before


def test_what_is_deleted_on_one_device_and_confirmed_later_on_another_stays(
    devices: list[Store],
) -> None:
    a, b, _ = devices
    shelf = Shelf()
    fact = a.add("tea", subject="alice")
    meet(shelf, a, b)
    a.delete(fact.id)
    b.confirm(b.list()[0].id)
    meet(shelf, a, b, a)
    assert [store.list()[0].confirmed_count for store in (a, b)] == [1, 1]


@pytest.mark.parametrize("is_deleted", [False, True])
def test_what_is_erased_on_one_device_is_nowhere_after_all_have_met(
    devices: list[Store], is_deleted: bool
) -> None:
    a, b, c = devices
    shelf = Shelf()
    fact = a.add(SECRET, subject="safe")
    episode = a.episodes.add(f"said: {SECRET}", source="chat")
    meet(shelf, a, b, c)
    a.add("the safe was sold", subject="safe", supersedes=fact.id)
    if is_deleted:
        b.delete(next(one.id for one in all_facts(b) if one.content == SECRET))
        meet(shelf, b, c)
    a.erase(fact.id)
    a.episodes.erase(episode.id)
    meet(shelf, a, b, c, a, b, c)
    for store in devices:
        assert [one.status for one in all_facts(store) if one.uuid == fact.uuid] == ["erased"]
        data = b"".join(one.read_bytes() for one in Path(store.path).parent.glob("*.db*"))
        assert SECRET.encode() not in data
    for name, data in shelf.files.items():
        named = names.read(name)
        assert named is not None
        if not named.is_state:
            said = repr(segments.read(data, named))
            assert SECRET not in said


def test_only_chosen_namespaces_travel_also_if_the_choice_changes_later(
    devices: list[Store],
) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")

    def run(store: Store, *chosen: str) -> None:
        sync(store, shelf.view().own(device_of(store)), namespaces=chosen)

    run(a, "work")
    run(b, "work", "home")
    assert set(b.namespaces()) == {"work"}
    run(a, "work", "home")
    run(b, "work", "home")
    assert set(b.namespaces()) == {"home", "work"}
    assert [fact.content for fact in b.within("work").list()] == ["the port is 5"]


def test_what_another_device_had_sent_comes_when_its_namespace_is_chosen_later(
    devices: list[Store],
) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")
    meet(shelf, a)
    for chosen in (["work"], ["work", "home"]):
        sync(b, shelf.view().own(device_of(b)), namespaces=chosen)
        assert sorted(b.namespaces()) == sorted(chosen)
    assert len(all_facts(b)) == 2


def namespaces_in(shelf: Shelf) -> set[str]:
    """Return the namespaces of which the files of a place say anything."""
    found = set()
    for name, data in shelf.files.items():
        named = names.read(name)
        assert named is not None
        if not named.is_state:
            acts = segments.read(data, named).acts
            found |= {record.about.namespace for act in acts for record in act.records}
    return found


def test_what_was_sent_under_a_former_id_follows_a_later_choice(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")
    meet(shelf, a)
    status.leave(a.file.engine)
    meet(shelf, a)
    for chosen in ({"work"}, {"home"}, {"work", "home"}):
        sync(a, shelf.view().own(device_of(a)), namespaces=chosen)
        assert namespaces_in(shelf) == chosen
        meet(shelf, b)
    assert sorted(b.namespaces()) == ["home", "work"]


def test_who_joins_again_takes_what_had_not_been_chosen_before(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")
    meet(shelf, a)
    sync(b, shelf.view().own(device_of(b)), namespaces=["work"])
    status.leave(b.file.engine)
    meet(shelf, b)
    assert sorted(b.namespaces()) == ["home", "work"]


def test_what_was_relayed_by_one_who_shares_less_comes_from_its_device(
    devices: list[Store],
) -> None:
    a, b, c = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")
    meet(shelf, a, c)
    a.within("work").add("the port is 6", subject="port")
    a.within("home").add("the cat is Max", subject="cat")
    meet(shelf, a)
    sync(b, shelf.view(), namespaces=["work"])
    shelf.versions.clear()
    sync(b, shelf.view().own(device_of(b)), namespaces=["work"])
    meet(shelf, c)
    assert len(all_facts(c)) == 3
    meet(shelf, a, c)
    assert len(all_facts(c)) == 4


def test_an_episode_of_copies_is_relayed_with_its_text(
    devices: list[Store], tmp_path: Path
) -> None:
    a, b, c = devices
    if a.file.engine.is_remote:
        pytest.skip("a database of a server is not copied as a file")
    shelf = Shelf()
    a.episodes.add("We moved to Naxos.", source="chat")
    b = restored(b, snapshot(a, tmp_path / "copy.db"))
    a = memstore.open(a.path, embedder=None)
    meet(shelf, a, b)
    status.dismiss(b.file.engine, device_of(a))
    meet(shelf, b)
    view = shelf.view()
    for name in [*view.seen]:
        if ".lines" in name and name.count(".") == 1:
            del view.seen[name]
    sync(c, view)
    assert [one.content for one in c.episodes.list()] == ["We moved to Naxos."]
    a.close()
    b.close()


def test_who_shares_less_leaves_the_files_of_one_that_is_gone(devices: list[Store]) -> None:
    a, b, c = devices
    shelf = Shelf()
    a.within("work").add("the port is 5", subject="port")
    a.within("home").add("the cat is Tom", subject="cat")
    meet(shelf, a)
    sync(b, shelf.view(), namespaces=["work"])
    status.dismiss(b.file.engine, device_of(a))
    sync(b, shelf.view().own(device_of(b)), namespaces=["work"])
    assert names.of_state(device_of(a)) in shelf.files
    meet(shelf, c)
    assert sorted(c.namespaces()) == ["home", "work"]
    meet(shelf, b)
    assert {name.partition("/")[0] for name in shelf.files} == {device_of(b), device_of(c)}
    assert sorted(b.namespaces()) == ["home", "work"]


@pytest.mark.parametrize("anew", [False, True])
def test_what_is_chosen_later_is_taken_although_its_file_comes_after_the_state(
    devices: list[Store], *, anew: bool
) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.within("home").add("the cat is Tom", subject="cat")
    a.within("work").add("the port is 5", subject="port")
    sync(a, shelf.view(), namespaces=["work"])
    meet(shelf, b)
    sync(a, shelf.view().own(device_of(a)), anew=anew)
    late = shelf.view()
    for name, versions in shelf.versions.items():
        if name.endswith(".lines") and versions[0] is not None:
            late.seen[name] = versions[0]
    sync(b, late.own(device_of(b)))
    assert set(b.namespaces()) == {"work"}
    assert sync(b, shelf.view().own(device_of(b))).ignored == ()
    assert sorted(b.namespaces()) == ["home", "work"]


def test_files_of_an_earlier_choice_are_taken_if_their_writer_is_gone(
    devices: list[Store],
) -> None:
    a, b, c = devices
    shelf = Shelf()
    a.within("home").add("the cat is Tom", subject="cat")
    a.within("work").add("the port is 5", subject="port")
    sync(a, shelf.view(), namespaces=["work"])
    sync(a, shelf.view().own(device_of(a)))
    for name, versions in [*shelf.versions.items()]:
        if name.endswith(".lines"):  # the writer is lost before its new files arrive
            shelf.put(name, versions[0])
    for _ in range(2):
        [notice] = sync(b, shelf.view().own(device_of(b))).ignored
        assert "changed which namespaces it shares; its new files have not arrived yet" in notice
        assert not b.namespaces()
    status.dismiss(b.file.engine, device_of(a))
    for store in (b, c, b):
        assert sync(store, shelf.view().own(device_of(store))).ignored == ()
    for store in (b, c):
        assert [fact.content for fact in store.within("work").list()] == ["the port is 5"]


def test_a_place_forgets_what_was_erased_from_relayed_files_of_a_device_that_is_back(
    devices: list[Store],
) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.add(SECRET, subject="safe")
    meet(shelf, a, b)
    for name in shelf.files:
        if name.startswith(f"{device_of(a)}/"):
            shelf.put(name, None)
    meet(shelf, b)
    [relayed] = [name for name in shelf.files if (one := names.read(name)) and one.is_relayed]
    meet(shelf, a)
    b.erase(b.list(subject="safe")[0].id)
    view = shelf.view().own(device_of(b))
    sync(b, view)
    assert relayed not in shelf.files
    assert view.is_anew


def test_a_dry_run_says_what_would_come_and_go_and_writes_nothing(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.add("tea", subject="alice")
    meet(shelf, a)
    b.add("rum", subject="ben")
    files = shelf.files
    done = sync(b, shelf.view(), dry_run=True)
    assert (done.came, done.went) == ({"default": 1}, {"default": 1})
    assert shelf.files == files
    assert [fact.content for fact in b.list()] == ["rum"]
    assert not device_of(b)


KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3oR6"


def test_a_secret_stays_on_the_device_that_stored_it(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    fact = a.add(f"The token is {KEY}", subject="token", metadata={"api_key": KEY, "n": 1})
    a.update_metadata(fact.id, {"more": KEY})
    a.episodes.add(f"use {KEY}", source="chat")
    a.add("tea", subject="alice")
    told = sync(a, shelf.view(), dry_run=True)
    assert (told.went, told.redacted) == ({"default": 4}, {"default": 3})
    done = sync(a, shelf.view())
    assert (done.went, done.redacted) == (told.went, told.redacted)
    meet(shelf, b, a)
    for name, data in shelf.files.items():
        named = names.read(name)
        assert named is not None
        assert named.is_state or KEY not in repr(segments.read(data, named))
    [known] = b.list(subject="token")
    assert known.content == "The token is [redacted github-pat]"
    assert known.metadata["n"] == 1
    assert b.episodes.list()[0].content == "use [redacted github-pat]"
    assert a.get(fact.id).content == f"The token is {KEY}"


@pytest.mark.parametrize(
    "spoilt",
    [
        b"",
        b"{}\n",
        b'{"memstore": "lines", "format": 1}\n',
        b"\0" * 1000,
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_named_and_everything_else_goes_on(
    devices: list[Store], spoilt: bytes
) -> None:
    a, b, c = devices
    shelf = Shelf()
    a.add("tea", subject="alice")
    c.add("rum", subject="ben")
    meet(shelf, a, c)
    [name] = [one for one in shelf.files if one.startswith(device_of(a)) and ".lines" in one]
    whole = shelf.files[name]
    shelf.put(name, spoilt)
    done = sync(b, shelf.view())
    assert [one for one in done.ignored if one.startswith(name)] == [done.ignored[0]]
    assert [fact.content for fact in b.list()] == ["rum"]
    shelf.put(name, whole)
    meet(shelf, b)
    assert {fact.content for fact in b.list()} == {"rum", "tea"}


@pytest.mark.parametrize("kind", ["lines", "state"])
def test_a_newer_format_is_taken_up_to_there_and_named_once(
    devices: list[Store], tmp_path: Path, kind: str
) -> None:
    a, b, _ = devices
    if b.file.engine.is_remote:
        pytest.skip("this machine keeps no folder for a database of a server")
    shelf = Shelf()
    a.add("tea", subject="alice")
    meet(shelf, a)
    a.add("rum", subject="ben")
    meet(shelf, a)
    name = f"{device_of(a)}/{'2-2.lines' if kind == 'lines' else 'state'}"
    whole = shelf.files[name]
    shelf.put(name, whole.replace(b'"format": 1', b'"format": 2'))
    said = []
    for _ in range(3):
        done = sync(b, shelf.view().own(device_of(b)), state=tmp_path / "state")
        said += done.ignored
    assert len(said) == 1
    assert "has a newer version of memstore" in said[0]
    assert {one.content for one in b.list()} == ({"tea"} if kind == "lines" else {"tea", "rum"})
    shelf.put(name, whole)
    meet(shelf, b, a)
    assert {one.content for one in b.list()} == {"tea", "rum"}


def test_foreign_files_are_named_once(devices: list[Store], tmp_path: Path) -> None:
    a, _, _ = devices
    if a.file.engine.is_remote:
        pytest.skip("this machine keeps no folder for a database of a server")
    place = tmp_path / "place"
    place.mkdir()
    (place / "notes (conflict copy).txt").write_text("x")
    a.add("tea", subject="alice")

    def run() -> tuple[str, ...]:
        return sync(a, FolderPlace(place), state=tmp_path / "state").ignored

    assert "notes (conflict copy).txt" in run()[0]
    assert run() == ()
    (place / "another").write_text("x")
    assert "another" in run()[0]


def test_a_record_over_a_limit_is_refused_and_local_memory_untouched(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.add("tea", subject="alice")
    meet(shelf, a)
    [name] = [one for one in shelf.files if ".lines" in one]
    named = names.read(name)
    assert named is not None
    found = segments.read(shelf.files[name], named)
    [act] = found.acts
    record = act.records[0]
    huge = record._replace(value={**(record.value or {}), "content": "s" * 1_000_001})
    data, _ = segments.write(found.header, [act._replace(records=(huge,))])
    shelf.put(name, data)
    b.add("rum", subject="ben")
    before = state(b)
    done = sync(b, shelf.view())
    assert "cannot be taken" in done.ignored[0]
    assert (done.waits, done.went) == ({device_of(a): 1}, {"default": 1})
    assert state(b) == before


def own_lines(shelf: Shelf, store: Store) -> dict[str, int]:
    """Return the sizes of the files of a device's own lines."""
    device = device_of(store)
    return {
        name: len(data)
        for name, data in shelf.files.items()
        if (named := names.read(name)) and named.of == named.device == device and named.first
    }


def test_files_are_merged_before_they_are_many(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    most = 0
    for number in range(150):
        a.add(f"fact {number} {'said at length ' * (number % 40)}", subject="s")
        meet(shelf, a)
        most = max(most, len(own_lines(shelf, a)))
        if number % 20 == 0:
            meet(shelf, b)
    assert most <= 16
    rewritten = 0
    for name, versions in shelf.versions.items():
        named = names.read(name)
        if named is not None and named.of == device_of(a) and named.last - named.first >= 8:
            rewritten += sum(len(data) for data in versions if data is not None)
    assert rewritten < 7 * sum(own_lines(shelf, a).values())
    meet(shelf, b)
    assert len(b.list(limit=None)) == 150


def test_merged_files_that_a_carrier_brings_back_are_removed(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    files: dict[str, bytes] = {}
    for number in range(30):
        a.add(f"fact {number}", subject="s")
        meet(shelf, a)
        files |= shelf.files
    merged = own_lines(shelf, a)
    for name, data in files.items():
        if name not in shelf.files:
            shelf.put(name, data)
    assert own_lines(shelf, a) != merged
    meet(shelf, b, a, b)
    assert own_lines(shelf, a) == merged
    assert [*differences([a, b])] == []


def test_files_are_of_a_moderate_size(
    devices: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c = devices
    shelf = Shelf()
    monkeypatch.setattr(segments, "FULL_BYTES", 2000)
    monkeypatch.setattr(segments, "FULL_LINES", 20)
    rnd = random.Random(1)
    for number in range(60):
        b.add(f"{number} {rnd.randbytes(200).hex()}", subject="b")
    meet(shelf, b)
    assert max(map(len, shelf.files.values())) <= 2000
    meet(shelf, a)
    a.add("last", subject="a")
    shelf.versions.clear()
    meet(shelf, a, b, a)
    status.dismiss(a.file.engine, device_of(b))
    meet(shelf, a, c)
    relayed = [name for name in shelf.files if f"/{device_of(b)}." in name]
    assert len(relayed) == 3
    assert {fact.uuid for fact in c.list(limit=None)} == {fact.uuid for fact in a.list(limit=None)}


def test_an_import_erases_what_was_heard_twice_once(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    for store in (a, b):
        store.add("tea", subject="alice")
    meet(shelf, a, b, a, b)
    [kept] = a.list()
    a.erase(kept.id)
    b.transfer.import_([*a.transfer.export()])
    for store in (a, b):
        assert [store.list(active_only=False), store.ledger.verify()] == [[], []]
        with store.file.engine.read() as transaction:
            ended = transaction.ints(
                "SELECT fact_id FROM memstore_journal WHERE kind = 'erase' ORDER BY fact_id"
            )
        assert ended == [1, 2]
    meet(shelf, a, b, a, b)
    assert [*differences([a, b])] == []


def test_a_fact_that_stays_when_what_says_the_same_is_erased_stays_everywhere(
    devices: list[Store],
) -> None:
    a, b, c = devices
    shelf = Shelf()
    said = a.episodes.add("Ana likes tea, says the mail.", source="mail", idempotency_key="m")
    first = a.add("Ana likes tea", subject="ana", episode_id=said.id)
    same = b.episodes.add("Ana likes tea, says the mail.", source="mail", idempotency_key="m")
    later = b.add("Ana likes tea", subject="ana", episode_id=same.id)
    b.confirm(later.id)
    meet(shelf, a, b, c, a, b, c)
    assert [one.uuid for one in c.list()] == [first.uuid]
    plan = a.ledger.erasure(episode=said.id)
    [stays] = plan.stays
    [kept] = [one for one in a.list(active_only=False) if one.uuid == later.uuid]
    assert (stays.text, stays.id) == ("stays, and is active again", kept.id)
    assert not any("nothing of its chain" in step.text for step in plan.steps)
    plan.apply()
    meet(shelf, a, b, c, a, b, c)
    for store in (a, b, c):
        assert [one.uuid for one in store.list(active_only=False)] == [later.uuid]
        assert store.ledger.verify() == []
    assert [*differences([a, b, c])] == []


def test_lines_whose_texts_were_erased_are_relayed(devices: list[Store]) -> None:
    a, b, c = devices
    shelf = Shelf()
    fact = a.add(SECRET, subject="safe")
    for number in range(3):
        a.update_metadata(fact.id, {"n": number})
    said = a.episodes.add("said", source="chat")
    for tag in "xyz":
        a.episodes.update(said.id, tags=[tag])
    a.add("tea", subject="alice")
    meet(shelf, a, b)
    b.erase(b.list(subject="safe")[0].id)
    b.episodes.erase(b.episodes.list()[0].id)
    status.dismiss(b.file.engine, device_of(a))
    meet(shelf, b)
    done = sync(c, shelf.view())
    assert done.ignored == ()
    assert done.waits == {}
    assert [one.content for one in c.list()] == ["tea"]
    assert [*differences([b, c])] == []


def test_a_dismissed_device_is_replaced_and_comes_back_as_another_one(
    devices: list[Store],
) -> None:
    a, b, c = devices
    shelf = Shelf()
    for store, text in zip(devices, ("tea", "rum", "gin"), strict=True):
        store.add(text, subject=text)
    meet(shelf, a, b, c, a, b, c)
    gone = device_of(c)
    status.dismiss(a.file.engine, gone)
    meet(shelf, a, b)
    assert not [name for name in shelf.files if name.startswith(f"{gone}/")]
    c.add("ale", subject="ale")
    meet(shelf, c, a, b)
    assert device_of(c) != gone
    for store in (a, b):
        assert {one.content for one in store.list()} == {"tea", "rum", "gin", "ale"}


def test_a_device_that_was_away_for_a_year_catches_up(devices: list[Store]) -> None:
    a, b, c = devices
    shelf, tick = Shelf(), Ticking()
    with clock.use(tick):
        a.add("old", subject="old")
        meet(shelf, a, b, c, a, b, c)
        for day in range(60):
            tick.now += timedelta(days=6)
            a.add(f"day {day}", subject="days")
            b.confirm(b.list(subject="old")[0].id)
            meet(shelf, a, b)
        c.add("offline", subject="c")
        meet(shelf, c, a, b, c)
        assert [*differences(devices)] == []
        assert a.list(subject="old")[0].confirmed_count == 60
        assert len(c.list(limit=None)) == 62


def test_status_says_who_has_not_taken_what(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    fact = a.add(SECRET, subject="safe")
    meet(shelf, a, b, a)
    status.rename(a.file.engine, "laptop")
    a.erase(fact.id)
    meet(shelf, a)
    here, other = status.status(a.file.engine)
    assert (here.name, here.is_here, here.unsent) == ("laptop", True, 0)
    assert (other.taken, other.remains) == (0, True)
    assert other.behind[here.id] > 0
    meet(shelf, b, a)
    _, other = status.status(a.file.engine)
    assert (other.behind, other.remains) == ({}, False)


def test_a_copy_of_a_file_goes_on_as_another_device(
    devices: list[Store], open_store: Callable[..., Store], tmp_path: Path
) -> None:
    a, b, _ = devices
    if a.file.engine.is_remote:
        pytest.skip("a database of a server is not copied as a file")
    shelf = Shelf()
    a.add("tea", subject="alice")

    def run(store: Store) -> str:
        state = tmp_path / f"state of {Path(store.path).name}"
        sync(store, shelf.view().own(device_of(store)), state=state)
        return device_of(store)

    first = run(a)
    assert run(a) == first
    a.file.backup(tmp_path / "copy.db")
    copy = open_store(tmp_path / "copy.db", embedder=None)
    copy.add("rum", subject="ben")
    a.add("gin", subject="cy")
    assert run(copy) != first
    assert run(a) != first  # its copy has said that it goes on under another id
    for store in (a, b, copy):
        run(store)
    for store in (a, b, copy):
        run(store)
        assert {one.content for one in store.list()} == {"tea", "rum", "gin"}


def test_a_backup_carries_no_id(devices: list[Store], tmp_path: Path) -> None:
    a, b, _ = devices
    shelf = Shelf()
    a.add("tea", subject="alice")
    meet(shelf, a, b)
    if a.file.engine.is_remote:
        pytest.skip("a database of a server has no backups here")
    a.file.backup(tmp_path / "backup.db")
    memstore.recover(tmp_path / "backup.db", tmp_path / "again.db")
    was = device_of(a)
    for name in ("backup", "again"):
        with memstore.open(tmp_path / f"{name}.db", embedder=None) as copy:
            assert not device_of(copy)
            assert copy.ledger.verify() == []
            copy.add(name, subject=name)
            meet(shelf, copy)
            assert device_of(copy) != was
    meet(shelf, a, b, a, b)
    for store in (a, b):
        assert {one.content for one in store.list()} == {"tea", "backup", "again"}


def restored(store: Store, backup: Path) -> Store:
    """Put a backup in the place of a file that is open, as it was, with its id."""
    path = Path(store.path)
    store.close()
    for old in path.parent.glob(f"{path.name}*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copy(backup, path)
    return memstore.open(path, embedder=None)


def snapshot(store: Store, to: Path) -> Path:
    """Return a copy of a file as it lies on the disk."""
    path = Path(store.path)
    store.close()
    shutil.copy(path, to)
    return to


@pytest.mark.parametrize("chosen", [None, ["default"]])
@pytest.mark.parametrize("written", [1, 2, 3])
def test_what_a_restored_device_had_sent_stays_although_the_place_is_lost(
    devices: list[Store], tmp_path: Path, written: int, chosen: list[str] | None
) -> None:
    a, b, c = devices
    if a.file.engine.is_remote:
        pytest.skip("a database of a server is not copied as a file")
    shelf = Shelf()
    a.add("one", subject="one")
    meet(shelf, a)
    backup = snapshot(a, tmp_path / "backup.db")
    a = memstore.open(a.path, embedder=None)
    a.add("two", subject="two")
    a.add("three", subject="three")
    meet(shelf, a, b)
    a = restored(a, backup)
    shelf.versions.clear()
    new = {f"new {number}" for number in range(written)}
    for text in sorted(new):
        a.add(text, subject=text)
    meet(shelf, a, c)
    sync(b, shelf.view().own(device_of(b)), namespaces=chosen)  # as before, or reads all again
    meet(shelf, a, c, b, a, c, b)
    for store in (a, b, c):
        assert {fact.content for fact in store.list()} == {"one", "two", "three", *new}
    a.close()


def test_an_erasure_reaches_the_files_of_the_id_that_a_restored_device_had(
    devices: list[Store], tmp_path: Path
) -> None:
    a, b, _ = devices
    if a.file.engine.is_remote:
        pytest.skip("a database of a server is not copied as a file")
    shelf = Shelf()
    fact = a.add(SECRET, subject="safe")
    meet(shelf, a, b)
    backup = snapshot(a, tmp_path / "backup.db")
    a = memstore.open(a.path, embedder=None)
    a.add("two", subject="two")
    meet(shelf, a)
    was = device_of(a)
    a = restored(a, backup)
    meet(shelf, a, b, a)
    assert device_of(a) != was
    b.erase(b.list(subject="safe")[0].id)
    meet(shelf, b, a, b, a)
    for name, data in shelf.files.items():
        named = names.read(name)
        assert named is not None
        if not named.is_state:
            assert SECRET not in repr(segments.read(data, named)), name
    assert [one.status for one in all_facts(a) if one.uuid == fact.uuid] == ["erased"]
    assert not [name for name in shelf.files if name.startswith(was)]
    former = {one.id: one for one in status.status(b.file.engine)}[was]
    assert (former.is_retired, former.remains, former.behind) == (True, False, {})
    a.close()


@pytest.mark.parametrize("is_alive", [False, True])
@pytest.mark.parametrize("written", [(1, 1), (2, 1), (1, 2), (0, 2), (2, 0)])
def test_of_a_device_that_went_on_twice_both_chains_are_taken(
    devices: list[Store],
    open_store: Callable[..., Store],
    tmp_path: Path,
    written: tuple[int, int],
    is_alive: bool,
) -> None:
    a, b, c = devices
    if a.file.engine.is_remote:
        pytest.skip("a database of a server is not copied as a file")
    first, second, both = Shelf(), Shelf(), Shelf()
    kept = a.add("tea", subject="tea")
    meet(first, a)
    copy = snapshot(a, tmp_path / "copy.db")
    twins = [open_store(path, embedder=None) for path in (a.path, copy)]
    texts = {"tea"}
    for number, (twin, shelf, other) in enumerate(zip(twins, (first, second), (b, c), strict=True)):
        lasting = twin.add(f"lasting {number}", subject="s")
        texts.add(lasting.content)
        for _ in range(written[number]):
            twin.update_metadata(kept.id, {f"of {number}": 1})
            twin.confirm(kept.id)
        meet(shelf, twin, other)
    last = [*(twins if is_alive else ()), b, c]
    meet(both, *last, *last, *last, *last)
    assert [*differences(last)] == []
    assert {fact.content for fact in b.list()} == texts
    puts = sum(map(len, both.versions.values()))
    meet(both, *last)
    assert sum(map(len, both.versions.values())) == puts


def test_lines_that_do_not_continue_those_before_are_named_and_wait(devices: list[Store]) -> None:
    a, b, _ = devices
    shelf = Shelf()
    for text in ("tea", "rum", "gin"):
        a.add(text, subject=text)
        meet(shelf, a)
    _, second, _ = sorted(name for name in shelf.files if ".lines" in name)
    data = shelf.files[second]
    named = names.read(second)
    assert named is not None
    found = segments.read(data, named)
    lying = found.header._replace(before="f" * 64)
    shelf.put(second, segments.write(lying, found.acts)[0])
    before = {name: len(versions) for name, versions in shelf.versions.items()}
    for _ in range(3):
        done = sync(b, shelf.view().own(device_of(b)))
        assert done.ignored == (f"{second}: it does not continue the lines before it",)
        assert [fact.content for fact in b.list()] == ["tea"]
    more = {name for name in shelf.versions if name not in before}
    assert more == {names.of_state(device_of(b))}
    shelf.put(second, data)
    meet(shelf, b)
    assert {fact.content for fact in b.list()} == {"tea", "rum", "gin"}


def leave_texts(known: Any, transaction: Any, first: int, last: int) -> set[str]:
    return set()


def relay_nothing(relaying: Any, seen: int, **_options: Any) -> None:
    pass


def never_another(known: Any, transaction: Any, row: Any) -> str:
    return ""


def never_too_old(known: Any, name: str, segment: Any) -> bool:
    return False


def always_continues(check: Any, row: Any, segment: Any, within: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("owner", "name", "without", "test", "further"),
    [
        (
            KnownDevices,
            "stale",
            leave_texts,
            test_what_is_erased_on_one_device_is_nowhere_after_all_have_met,
            {"is_deleted": False},
        ),
        (
            Relaying,
            "relay",
            relay_nothing,
            test_a_dismissed_device_is_replaced_and_comes_back_as_another_one,
            {},
        ),
        (
            KnownDevices,
            "_reason_for_another",
            never_another,
            test_an_erasure_reaches_the_files_of_the_id_that_a_restored_device_had,
            {"tmp_path": None},
        ),
        (
            ChainCheck,
            "continues",
            always_continues,
            test_what_a_restored_device_had_sent_stays_although_the_place_is_lost,
            {"tmp_path": None, "written": 3, "chosen": None},
        ),
        (
            KnownDevices,
            "is_too_old",
            never_too_old,
            test_what_is_chosen_later_is_taken_although_its_file_comes_after_the_state,
            {"anew": False},
        ),
    ],
    ids=["blanking", "relaying", "fork", "chain", "editions"],
)
def test_a_step_that_is_missing_is_noticed(
    owner: type,
    name: str,
    without: Any,
    test: Callable[..., None],
    further: dict[str, Any],
    devices: list[Store],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the tests above find out, with the other rules that tests of the rules leave out."""
    if "tmp_path" in further:
        further = further | {"tmp_path": tmp_path}
    monkeypatch.setattr(owner, name, without)
    with pytest.raises(AssertionError):
        test(devices, **further)


def test_two_runs_at_once_are_refused(devices: list[Store]) -> None:
    a, _, _ = devices
    with a.file.engine.write() as transaction:
        assert leases.take(transaction, "sync", "another", clock.utc_now(), 60.0)
    with pytest.raises(StoreBusy, match="another process is syncing"):
        meet(Shelf(), a)


def test_activity_counts_what_other_devices_did_as_what_it_is(devices: list[Store]) -> None:
    laptop, desktop, _ = devices
    shelf = Shelf()
    old = laptop.add("The port is 80", subject="port")
    laptop.add("The port is 8000", subject="port", supersedes=old.id)
    laptop.episodes.add("We moved to Naxos.", source="chat", thread="talk")
    desktop.add("Bob prefers tea", subject="bob")
    desktop.within("other").add("Ann prefers rum", subject="ann")
    meet(shelf, laptop, desktop)
    status.rename(laptop.file.engine, "laptop")
    meet(shelf, laptop, desktop, laptop)
    theirs = {"add": 2, "episode": 1, "supersede": 1}
    [today] = desktop.of("all").ledger.activity(1)
    assert today.devices == {"laptop": theirs}
    assert today.kinds == theirs | {"add": 3}
    assert sum(today.kinds.values()) == len(desktop.of("all").ledger.changes(limit=None))
    [seen] = laptop.of("all").ledger.activity(1)
    assert ([*seen.devices.values()], seen.kinds) == ([{"add": 1}], theirs | {"add": 3})
    assert desktop.within("other").of("all").ledger.activity(1)[0].devices == {}
    assert desktop.of(user_id="ana").ledger.activity(1)[0].devices == {}
