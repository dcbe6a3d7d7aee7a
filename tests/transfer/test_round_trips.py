"""Everything that the library accepts survives an export and an import into a new file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
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
PLACES = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, -1, 99, 2**63])
"""Of a fact, an episode or a proposal, counted back from the newest; or what is no id of any."""
METADATA = st.dictionaries(TEXTS, st.none() | st.booleans() | st.integers() | TEXTS, max_size=2)
SEQS = st.none() | st.sampled_from([0, 3, 2**53, -1])
TIMES = st.sampled_from([None, ..., "2020-05-01", "2120-05-01T10:00:00Z", "tomorrow"])
NAMESPACES = ("default", "other")
REFUSED = (memstore.MemstoreError, memstore.InvalidArgument, memstore.InvalidArgumentType)


class RoundTrips(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.file = memstore.open(Path(self.folder.name) / "a.db", embedder=None)
        self.store = self.file

    def do(self, method: str, *args: Any, owners: Scope | None = None, **given: Any) -> None:
        call: Any = self.store if owners is None else self.store.of(owners)
        for name in method.split("."):
            call = getattr(call, name)
        try:
            call(*args, **given)
        except REFUSED:
            return

    def fact(self, place: int | None) -> Any:
        return _at(place, self.store.of("all").list(active_only=False, include_deleted=True))

    def episode(self, place: int | None) -> Any:
        return _at(place, self.store.of("all").episodes.list(include_expired=True))

    @rule(namespace=st.sampled_from(("default", *NAMESPACES)))
    def go_on_in(self, namespace: str) -> None:
        self.store = self.file.within(namespace)

    @rule(content=TEXTS, subject=NAMES, metadata=METADATA, user=OWNERS, old=st.none() | PLACES,
          any_subject=st.booleans(), episode=st.none() | PLACES, key=st.none() | TEXTS,
          thread=st.none() | NAMES, seq=SEQS)  # fmt: skip
    def add(self, content: str, subject: str, metadata: Any, user: Any, old: Any, any_subject: bool,
            episode: Any, key: Any, thread: Any, seq: Any) -> None:  # fmt: skip
        self.do("add", content, subject=subject, metadata=metadata, user_id=user,
                supersedes=self.fact(old), any_subject=any_subject,
                episode_id=self.episode(episode), idempotency_key=key,
                thread=thread, seq=seq)  # fmt: skip

    @rule(verb=st.sampled_from(["confirm", "delete", "restore", "reinstate"]), place=PLACES)
    def change(self, verb: str, place: int) -> None:
        self.do(verb, self.fact(place))

    @rule(old=PLACES, new=PLACES, any_subject=st.booleans())
    def supersede(self, old: int, new: int, any_subject: bool) -> None:
        self.do("supersede", self.fact(old), self.fact(new), any_subject=any_subject)

    @rule(place=PLACES, patch=METADATA)
    def patch(self, place: int, patch: Any) -> None:
        self.do("update_metadata", self.fact(place), patch)

    @rule(content=TEXTS, due=st.none() | TEXTS, user=OWNERS)
    def create_task(self, content: str, due: Any, user: Any) -> None:
        self.do("tasks.create", content, due=due, owners=Scope(user_id=user))

    @rule(task=PLACES, status=st.sampled_from(["pending", "completed", "cancelled"]))
    def move_task(self, task: int, status: str) -> None:
        self.do("tasks.update", self.fact(task), status)

    @rule(content=TEXTS, tags=st.lists(TEXTS, max_size=2), metadata=METADATA, user=OWNERS,
          thread=st.none() | NAMES, seq=SEQS, speaker=st.none() | NAMES)  # fmt: skip
    def say(self, content: str, tags: Any, metadata: Any, user: Any, thread: Any, seq: Any,
            speaker: Any) -> None:  # fmt: skip
        self.do("episodes.add", content, source="chat", tags=tags, metadata=metadata,
                thread=thread, seq=seq, speaker=speaker, owners=Scope(user_id=user))  # fmt: skip

    @rule(place=PLACES, content=TEXTS, subject=NAMES, user=OWNERS)
    def propose(self, place: int, content: str, subject: str, user: Any) -> None:
        new = NewFact(content=content, subject=subject)
        old = self.fact(place)
        changes = [AddFact(fact=new, precedence=MayReplace(old, 0.5)), KeepFact(fact_id=old)]
        self.do("ledger.apply", changes, owners=Scope(user_id=user))

    @rule(place=PLACES, accepted=st.booleans())
    def decide(self, place: int, accepted: bool) -> None:
        proposal = _at(place, self.store.of("all").proposals.list(None))
        self.do("proposals.accept" if accepted else "proposals.reject", proposal)

    @rule(place=PLACES, name=st.sampled_from(["why", "episode", "consolidates", "reinstates"]),
          told=TEXTS | st.integers(0, 3) | st.lists(TEXTS, max_size=2))  # fmt: skip
    def withdraw(self, place: int, name: str, told: Any) -> None:
        self.do("ledger.apply", [DeleteFact(fact_id=self.fact(place), evidence={name: told})])

    @rule(texts=st.lists(TEXTS, min_size=2, max_size=4), subject=NAMES, undone=st.booleans())
    def consolidate(self, texts: list[str], subject: str, undone: bool) -> None:
        """Consolidate facts, and undo it."""
        ids = []
        for text in texts:
            self.do("add", text, subject=subject)
            ids.append(self.fact(0))
        self.do("proposals.put_forward", ids, " ".join(texts), {"model": "m"})
        self.decide(0, accepted=True)
        if undone:
            self.do("reinstate", ids[0])

    @rule(place=PLACES, tags=st.just(...) | st.lists(TEXTS, max_size=2),
          metadata=st.just(...) | METADATA, expired=TIMES)  # fmt: skip
    def update_episode(self, place: int, tags: Any, metadata: Any, expired: Any) -> None:
        self.do("episodes.update", self.episode(place), tags=tags, metadata=metadata,
                expired_at=expired)  # fmt: skip

    @rule(place=PLACES)
    def erase(self, place: int) -> None:
        self.do("erase", self.fact(place))

    @rule(place=PLACES)
    def erase_episode(self, place: int) -> None:
        self.do("episodes.erase", self.episode(place))

    @rule(seldom=st.integers(0, 9))
    def clear(self, seldom: int) -> None:
        if seldom == 7:
            self.do("clear")

    @rule(verb=st.sampled_from(["merge", "keep_apart", "forget"]), left=NAMES, right=NAMES)
    def decide_about_names(self, verb: str, left: str, right: str) -> None:
        self.do(f"graph.{verb}", left, right)

    @rule(places=st.lists(PLACES, max_size=3))
    def use(self, places: list[int]) -> None:
        self.do("searches.note_use", [self.fact(place) for place in places])

    @rule(content=TEXTS, user=OWNERS, place=PLACES)
    def remember(self, content: str, user: Any, place: int) -> None:
        memory = memstore.Memory(self.store)
        with suppress(*REFUSED):
            memory.add([{"role": "user", "content": content}], user_id=user)
            memory.update(self.fact(place), content + "!", {"n": 1}, user_id=user)

    @rule(old=PLACES, place=PLACES, content=TEXTS, subject=NAMES)
    def learn(self, old: int, place: int, content: str, subject: str) -> None:
        episode = self.episode(place)
        new = NewFact(content=content, subject=subject, supersedes=self.fact(old), any_subject=True,
                      episode_id=episode)  # fmt: skip
        evidence = {"said": content, "episode": episode}
        self.do("ledger.apply", [AddFact(fact=new, unless_known=True, evidence=evidence)])

    def teardown(self) -> None:
        with self.file as store, memstore.open(":memory:", embedder=None) as target:
            elsewhere = target.within("elsewhere")  # so that ids are others there
            for n in range(3):
                elsewhere.add("theirs", subject="a", episode_id=elsewhere.episodes.add(
                    f"said {n}", source="chat").id)  # fmt: skip
            expected = told(store)
            until = changed_at(store)
            lines = [*store.file.export()]
            for _ in range(2):
                target.file.import_(lines)
                assert target.file.doctor(deep=True) == []
                assert told(target, until) == expected
        self.folder.cleanup()


def _at(place: int | None, held: Sequence[Any]) -> int | None:
    """Return the id at a place; of a place where nothing is, the place."""
    return held[-1 - place].id if place is not None and 0 <= place < len(held) else place


def changed_at(store: memstore.Store) -> str:
    """When the newest line of the journal was written; "" if there is none."""
    return json.loads(next(iter(store.file.export())))["changed_at"] or ""


REFERENCES = {
    "superseded_by": "fact", "episode_id": "episode", "fact": "fact", "episode": "episode",
    "old": "fact", "new": "fact", "reinstates": "fact", "consolidates": "fact", "sources": "fact",
    "proposal": "proposal",
}  # fmt: skip
"""What ids are of, by the names they have in an export."""


def about(proposal: dict[str, Any], uuids: dict[tuple[str, int], str]) -> str:
    """The facts of a proposal, which are those of no other."""
    facts = proposal.get("sources") or [proposal["old"], proposal["new"]]
    return " ".join(sorted(uuids["fact", one] for one in facts))


def told(store: memstore.Store, until: str = "~") -> list[Any]:
    """The contents of an export, with UUIDs for ids, and the journal up to a time."""

    lines = [json.loads(line) for line in store.file.export(NAMESPACES)][1:]
    uuids = {(kind, one[kind]["id"]): one[kind]["uuid"]
             for one in lines for kind in ("fact", "episode") if kind in one}  # fmt: skip
    uuids |= {("proposal", one["proposal"]["id"]): about(one["proposal"], uuids)
              for one in lines if "proposal" in one}  # fmt: skip

    def named(values: dict[str, Any]) -> None:
        for name, kind in REFERENCES.items():
            held = values.get(name)
            if isinstance(held, list):
                values[name] = [uuids.get((kind, one), one) for one in held]
            elif isinstance(held, int):
                values[name] = uuids.get((kind, held))

    found = []
    for line in lines:
        ((kind, values),) = line.items()
        if kind == "operation":
            if values["at"] > until:
                continue
            for name in ("before", "after", "evidence"):
                named(values.get(name, {}))
        named(values)
        named(values.get("evidence", {}))
        values.pop("id", None)
        found.append(json.dumps(line, sort_keys=True))
    return sorted(found)


TestRoundTrips = RoundTrips.TestCase
TestRoundTrips.settings = settings(deadline=None, max_examples=examples(20), stateful_step_count=20)
TestRoundTrips = pytest.mark.slow(TestRoundTrips)
