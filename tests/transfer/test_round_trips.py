"""Whatever the library accepts can be exported, imported into a fresh file, and compares equal."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tests.support.examples import examples

import memstore
from memstore import NewFact, Scope
from memstore.facts.batch import AddFact, DeleteFact, KeepFact, MayReplace

TEXTS = st.text(min_size=1, max_size=12)
NAMES = st.sampled_from(["ana", "ANA", "todo", "é", "e\u0301", "日本"])
OWNERS = st.one_of(st.none(), st.sampled_from(["ana", "ben"]))
IDS = st.integers(-2, 12) | st.just(2**63)
METADATA = st.dictionaries(TEXTS, st.none() | st.booleans() | st.integers() | TEXTS, max_size=2)
REFUSED = (memstore.MemstoreError, memstore.InvalidArgument, memstore.InvalidArgumentType)


class RoundTrips(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = memstore.open(Path(self.folder.name) / "a.db", embedder=None)

    def do(self, method: str, *args: Any, **given: Any) -> None:
        call: Any = self.store
        for name in method.split("."):
            call = getattr(call, name)
        try:
            call(*args, **given)
        except REFUSED:
            return

    @rule(content=TEXTS, subject=NAMES, metadata=METADATA, user=OWNERS, old=st.none() | IDS,
          across=st.booleans(), episode=st.none() | IDS, key=st.none() | TEXTS)  # fmt: skip
    def add(self, content: str, subject: str, metadata: Any, user: Any, old: Any, across: bool,
            episode: Any, key: Any) -> None:  # fmt: skip
        self.do("add", content, subject=subject, metadata=metadata, user_id=user, supersedes=old,
                across=across, episode_id=episode, idempotency_key=key)  # fmt: skip

    @rule(verb=st.sampled_from(["confirm", "delete", "restore", "reinstate"]), fact_id=IDS)
    def change(self, verb: str, fact_id: int) -> None:
        self.do(verb, fact_id)

    @rule(old=IDS, new=IDS, across=st.booleans())
    def supersede(self, old: int, new: int, across: bool) -> None:
        self.do("supersede", old, new, across=across)

    @rule(fact_id=IDS, patch=METADATA)
    def patch(self, fact_id: int, patch: Any) -> None:
        self.do("update_metadata", fact_id, patch)

    @rule(content=TEXTS, due=st.none() | TEXTS, user=OWNERS)
    def create_task(self, content: str, due: Any, user: Any) -> None:
        self.do("tasks.create", content, due=due, owners=Scope(user_id=user))

    @rule(task=IDS, status=st.sampled_from(["pending", "completed", "cancelled"]))
    def move_task(self, task: int, status: str) -> None:
        self.do("tasks.update", task, status)

    @rule(content=TEXTS, tags=st.lists(TEXTS, max_size=2), metadata=METADATA, user=OWNERS)
    def say(self, content: str, tags: Any, metadata: Any, user: Any) -> None:
        self.do("episodes.add", content, source="chat", tags=tags, metadata=metadata,
                scope=Scope(user_id=user))  # fmt: skip

    @rule(fact_id=IDS, content=TEXTS, subject=NAMES)
    def propose(self, fact_id: int, content: str, subject: str) -> None:
        new = NewFact(content=content, subject=subject)
        self.do("apply", [AddFact(fact=new, beside=MayReplace(fact_id, 0.5)), KeepFact(fact_id=1)])

    @rule(proposal=IDS, accepted=st.booleans())
    def decide(self, proposal: int, accepted: bool) -> None:
        self.do("proposals.accept" if accepted else "proposals.reject", proposal)

    @rule(fact_id=IDS)
    def withdraw(self, fact_id: int) -> None:
        self.do("apply", [DeleteFact(fact_id=fact_id, evidence={"why": "wrong"})])

    def teardown(self) -> None:
        with self.store as store, memstore.open(":memory:", embedder=None) as target:
            target.import_(store.export())
            assert target.examine() == []
            assert told(target, until=changed_at(store)) == told(store)
        self.folder.cleanup()


def changed_at(store: memstore.Store) -> str:
    """When the newest line of the journal was written; "" if there is none."""
    return json.loads(next(iter(store.export())))["changed_at"] or ""


def told(store: memstore.Store, until: str = "~") -> list[Any]:
    """All that an export says, with UUIDs for ids; of the journal what was written until then."""

    lines = [json.loads(line) for line in store.export()][1:]
    uuids = {(kind, one[kind]["id"]): one[kind]["uuid"]
             for one in lines for kind in ("fact", "episode") if kind in one}  # fmt: skip
    found = []
    for line in lines:
        ((kind, values),) = line.items()
        if kind == "operation" and values["at"] > until:
            continue
        for name, about in (("id", kind), ("superseded_by", "fact"), ("episode_id", "episode"),
                            ("fact", "fact"), ("episode", "episode"), ("old", "fact"),
                            ("new", "fact")):  # fmt: skip
            if name in values:
                values[name] = uuids.get((about, values[name]))
        values.pop("after", None) if kind == "operation" else None
        found.append(json.dumps(line, sort_keys=True))
    return sorted(found)


TestRoundTrips = RoundTrips.TestCase
TestRoundTrips.settings = settings(deadline=None, max_examples=examples(20), stateful_step_count=15)
TestRoundTrips = pytest.mark.slow(TestRoundTrips)
