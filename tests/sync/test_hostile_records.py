"""Files whose records nobody wrote: each is refused with a sentence, or does no harm."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.syncing import Shelf, sync

from memstore import Store
from memstore.domain.records import NewFact
from memstore.errors import MemstoreError
from memstore.facts.batch import AddFact, MayReplace
from memstore.sync import segments
from memstore.sync.places import names


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


DEEP = "in its place stands a list in a list in a list"

HOSTILE = (
    *("", "x" * 2_000_000, "\0", "\ud800", "a\nb\x1b[31m", "../..", "*", "9999-99-99T00:00:00Z"),
    *("0001-01-01T00:00:00.000000Z", -1, 0, 2**53, 2**62, 1.5, float("nan"), None, True, [], {}),
    *([[]], {"a": {}}, ["x"] * 5000, {"k" * 300: 1}, nested(500), DEEP),
)


def of_every_kind(store: Store) -> None:
    """Make changes of every kind that travels."""
    fact = store.add("tea", subject="a", metadata={"k": 1}, external_key="x", idempotency_key="y")
    store.pin(fact.id)
    store.unpin(fact.id)
    store.update_metadata(fact.id, {"z": [1, {"q": 2}]})
    store.confirm(fact.id)
    newer = store.add("rum", subject="a")
    store.supersede(fact.id, newer.id)
    store.delete(newer.id)
    store.restore(newer.id)
    store.set_expiry(newer.id, datetime(2030, 1, 1, tzinfo=UTC))
    said = store.episodes.add("said", source="chat", thread="t", tags=["p"])
    store.episodes.update(said.id, tags=["q"])
    store.add("drawn", subject="s", episode_id=said.id)
    old = store.add("third", subject="t")
    rival = NewFact(content="rival", subject="t")
    store.ledger.apply([AddFact(fact=rival, precedence=MayReplace(old.id, 0.5))])
    store.tasks.update(store.tasks.create("do it").id, "completed")
    store.erase(store.add("gone", subject="z").id)


def mutated(rnd: random.Random, value: Any) -> Any:
    """Return JSON in which something, somewhere, is hostile."""
    if isinstance(value, dict) and value and rnd.random() < 0.75:
        name = rnd.choice([*value])
        if rnd.random() < 0.1:
            return {key: one for key, one in value.items() if key != name}
        return value | {name: mutated(rnd, value[name])}
    if isinstance(value, list) and value and rnd.random() < 0.6:
        place = rnd.randrange(len(value))
        return [*value[:place], mutated(rnd, value[place]), *value[place + 1 :]]
    return rnd.choice(HOSTILE)


@pytest.mark.parametrize("seed", range(40))
def test_a_hostile_record_does_no_harm(
    seed: int, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    rnd = random.Random(seed)
    source, target, third = (
        open_store(tmp_path / f"{name}.db", embedder=None) for name in ("source", "target", "third")
    )
    of_every_kind(source)
    shelf = Shelf()
    sync(source, shelf.view())
    [name] = [one for one in shelf.files if ".lines" in one]
    head, _, body = shelf.files[name].partition(b"\n")
    rows = [json.loads(line) for line in zlib.decompress(body).splitlines()]
    place = rnd.randrange(len(rows))
    rows[place] = mutated(rnd, rows[place])
    deep = "[" * 100_000 + "]" * 100_000
    written = [json.dumps(row).replace(f'"{DEEP}"', deep).encode() + b"\n" for row in rows]
    hostile = Shelf()
    hostile.put(name, head + b"\n" + zlib.compress(b"".join(written)))

    target.add("mine", subject="mine")
    done = sync(target, hostile.view())
    assert all(len(sentence) < 300 for sentence in done.ignored)
    assert "mine" in {fact.content for fact in target.list()}
    assert target.ledger.verify() == []
    assert target.file.doctor() == []
    third.transfer.import_([*target.file.export()])
    shelf.put(name, shelf.versions[name][0])
    sync(target, shelf.view())


def test_a_file_that_grows_without_end_is_not_read_to_the_end() -> None:
    named = names.Named("a" * 16, "a" * 16, 1, 2)
    header = segments.Header("a" * 16, 1, 2, "", "", 1)
    told = {"memstore": "lines", "format": 1, **header._asdict()}
    packer = zlib.compressobj()
    body = b"".join(packer.compress(b" " * 2**20) for _ in range(100)) + packer.flush()
    with pytest.raises(MemstoreError, match="more than a file may hold"):
        segments.read(json.dumps(told).encode() + b"\n" + body, named)


def test_a_file_under_the_name_of_another_device_is_not_read(
    open_store: Callable[..., Store], tmp_path: Path
) -> None:
    source, target = (open_store(tmp_path / f"{name}.db", embedder=None) for name in "ab")
    source.add("tea", subject="alice")
    shelf, other = Shelf(), Shelf()
    sync(source, shelf.view())
    [name] = [one for one in shelf.files if ".lines" in one]
    moved = f"{'z' * 16}/{name.partition('/')[2]}"
    other.put(moved, shelf.files[name])
    done = sync(target, other.view())
    assert done.ignored == (f"{moved}: it is damaged: it holds other lines than its name says",)
    assert target.list() == []
