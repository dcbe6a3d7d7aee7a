"""What other devices did: each of their acts is one act here, told with the device's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.syncing import Shelf, device_of, sync

from memstore import Store
from memstore.sync import status


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def laptop(open_store: Callable[..., Store], tmp_path: Path) -> Store:
    return open_store(tmp_path / "laptop.db", embedder=None, source="cli")


@pytest.fixture
def desktop(open_store: Callable[..., Store], tmp_path: Path) -> Store:
    return open_store(tmp_path / "desktop.db", embedder=None)


def meet(shelf: Shelf, *stores: Store) -> None:
    for store in stores:
        sync(store, shelf.view().own(device_of(store)))


def named(shelf: Shelf, laptop: Store, desktop: Store) -> None:
    for store, name in ((laptop, "laptop"), (desktop, "desktop")):
        meet(shelf, store)
        status.rename(store.file.engine, name)
    meet(shelf, laptop, desktop)


def test_each_act_of_another_device_is_one_act(shelf: Shelf, laptop: Store, desktop: Store) -> None:
    named(shelf, laptop, desktop)
    desktop.add("desk is white", subject="desk")
    first = laptop.add("tea is green", subject="tea")
    laptop.add_many([{"content": f"cup {n}", "subject": "cups"} for n in range(3)])
    laptop.delete(first.id)
    meet(shelf, laptop, desktop)
    acts = desktop.ledger.log()
    uuids = desktop.transfer.uuids(range(1, 6))
    desk, tea, *cups = (f"{id_} ({uuids[id_][-8:]})" for id_ in sorted(uuids))
    assert [(act.text, act.device) for act in acts] == [
        (f"deleted fact {tea}: tea: tea is green", "laptop"),
        (
            f"added facts {cups[0]}, {cups[1]} and {cups[2]}: cups: cup 0; cups: cup 1; "
            "cups: cup 2",
            "laptop",
        ),
        (f"added fact {tea}: tea: tea is green", "laptop"),
        (f"added fact {desk}: desk: desk is white", None),
    ]
    assert {act.said_at for act in acts if act.device} == {act.at for act in laptop.ledger.log()}
    assert str(acts[0]).split("  ")[2] == "user through cli on laptop"
    assert acts[0].to_dict()["device"] == "laptop"
    assert "device" not in acts[-1].to_dict()
    assert [act.device for act in laptop.ledger.log()] == [None] * 3


def test_pages_end_amid_what_was_taken_together(
    shelf: Shelf, laptop: Store, desktop: Store
) -> None:
    named(shelf, laptop, desktop)
    for n in range(7):
        laptop.add(f"cup {n}", subject="cups")
        if n == 3:
            meet(shelf, laptop, desktop)
            desktop.add("desk is white", subject="desk")
    meet(shelf, laptop, desktop)
    whole = desktop.ledger.log()
    assert len(whole) == 8
    for size in range(1, 9):
        found, before = [], None
        while page := desktop.ledger.log(limit=size, before=before):
            found += page
            before = page[-1].line
        assert found == whole


def test_many_acts_that_were_taken_together_are_told_one_by_one(
    shelf: Shelf, laptop: Store, desktop: Store
) -> None:
    named(shelf, laptop, desktop)
    for n in range(300):
        laptop.add(f"cup {n}", subject="cups")
        laptop.confirm(n + 1)
    laptop.add_many([{"content": f"plate {n}", "subject": "plates"} for n in range(700)])
    meet(shelf, laptop, desktop)
    acts = desktop.ledger.log(limit=None)
    assert len(acts) == 601
    assert sum(act.text.startswith("added 700 facts") for act in acts) == 1
    assert {act.device for act in acts} == {"laptop"}


def test_one_act_of_another_device_is_taken_back_alone(
    shelf: Shelf, laptop: Store, desktop: Store
) -> None:
    named(shelf, laptop, desktop)
    laptop.add("tea is green", subject="tea")
    laptop.add_many([{"content": f"cup {n}", "subject": "cups"} for n in range(3)])
    laptop.add("milk is white", subject="milk")
    meet(shelf, laptop, desktop)
    act = next(one for one in desktop.ledger.log() if "cups" in one.text)
    desktop.ledger.revert(acts=[act.line]).apply()
    assert {fact.subject for fact in desktop.list()} == {"tea", "milk"}
    meet(shelf, desktop, laptop)
    assert {fact.subject for fact in laptop.list()} == {"tea", "milk"}


def test_lines_differences_and_reasons_name_the_device(
    shelf: Shelf, laptop: Store, desktop: Store
) -> None:
    named(shelf, laptop, desktop)
    old = desktop.add("tea is green", subject="tea")
    meet(shelf, desktop, laptop)
    there = laptop.list()[0]
    laptop.add("tea is black", subject="tea", supersedes=there.id)
    laptop.confirm(laptop.list()[0].id)
    meet(shelf, laptop, desktop)
    lines = desktop.ledger.changes(newest_first=False)
    assert [(line.kind, line.device) for line in lines] == [
        ("add", None),
        ("add", "laptop"),
        ("supersede", "laptop"),
        ("confirm", "laptop"),
    ]
    assert str(lines[-1]).split("  ")[2] == "user through cli on laptop"
    explanation = desktop.ledger.explain(old.id)
    assert [entry.device for entry in explanation.entries] == [None, "laptop"]
    assert explanation.entries[1].text.endswith("(on laptop)")
    found = desktop.ledger.diff(f"op:{lines[0].line}")
    assert {one.device for one in found} == {"laptop"}
    assert all("through cli on laptop, line" in str(one) for one in found)


def test_what_an_export_brings_is_imported_as_before(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    source = open_store(tmp_path / "source.db", embedder=None)
    source.add("tea is green", subject="tea")
    target = open_store(tmp_path / "target.db", embedder=None)
    target.file.import_(source.file.export())
    (act,) = target.ledger.log()
    assert (act.text, act.device) == ("imported fact 1: tea: tea is green", None)


def test_what_would_be_done_is_told_by_numbers_alone(
    shelf: Shelf, laptop: Store, desktop: Store
) -> None:
    named(shelf, laptop, desktop)
    fact = desktop.add("tea is green", subject="tea")
    assert desktop.delete(fact.id, dry_run=True).text == "deleted fact 1: tea: tea is green"
