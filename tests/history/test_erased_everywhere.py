"""Secrets in every place that a text can get to: erased by any selection, no byte is left."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples

import memstore
from memstore import (
    AddFact,
    DeleteFact,
    EmbedderRejected,
    ErasurePlan,
    KeepFact,
    MayReplace,
    NewFact,
    Store,
    SupersedeFact,
)
from memstore.database import short_transactions
from memstore.database.engine import Transaction
from memstore.database.tables import graph as graph_table
from memstore.database.tables import replies as reply_table
from memstore.history import erasure
from memstore.prompting.reading_log import ReadingOptions
from memstore.search.index import index as index_module
from memstore.store import store as stores

SOURCES = ("web:a", "chat", None)
SUBJECTS = ("Ana Silva", "Bob Marsh", "Carl Zeiss")
USERS = ("ana", "bob", None)
ACTS = (40, 20, 30, 5)


class Failing(WordEmbedder):
    """Refuses some texts, and quotes them."""

    def embed(self, texts: Any) -> Any:
        if bad := [text for text in texts if "refused" in text]:
            raise EmbedderRejected(f"cannot embed {bad[0]}")
        return super().embed(texts)


class World:
    """Stores facts and episodes at random; knows whose each secret is."""

    def __init__(self, store: Store, chance: random.Random) -> None:
        self.store = store
        self.chance = chance
        self.secrets: dict[str, set[tuple[str, int]]] = {}
        """The rows of each secret; it must be gone if one of them is."""
        self.facts: list[int] = []
        self.episodes: list[int] = []
        self.runs: list[str] = []
        self._numbers = count()

    def secret(self) -> str:
        """Return a word that nothing else has, which the index does not shorten."""
        digits = f"{next(self._numbers):04d}"
        word = "Zq" + "".join("bdfghjkmpv"[int(digit)] for digit in digits) + "zq"
        self.secrets[word] = set()
        return word

    def own(self, kind: str, id_: int, words: list[str]) -> None:
        for word in words:
            self.secrets[word].add((kind, id_))

    def act(self, store: Store) -> None:
        actions = [self.add_episode, self.add_fact, self.add_fact, self.add_fact]
        if len(self.facts) > 2:
            actions += [self.supersede, self.confirm, self.keep, self.propose, self.consolidate]
            actions += [self.change, self.restate, self.delete]
        if self.episodes:
            actions += [self.reply, self.tag]
        with suppress(memstore.Conflict, memstore.NotFound):  # of proposals, and of threads
            self.chance.choice(actions)(store)

    def text(self, words: list[str]) -> str:
        return " ".join(["said", *words, *self.chance.choices(("refused", "plain"), (1, 6))])

    def scope(self) -> dict[str, str]:
        user = self.chance.choice(USERS)
        return {} if user is None else {"user_id": user}

    def add_episode(self, store: Store) -> None:
        words = [self.secret() for _ in range(9)]
        made = store.of(**self.scope()).episodes.add(
            self.text(words[:1]) + "." * self.chance.choice((1, 5000)) + words[8],
            source=self.chance.choice(SOURCES) or "notes",
            name=words[1],
            source_model=words[2],
            source_description=words[3],
            metadata={words[4]: {"a": [words[5]]}},
            tags=[words[6]],
            thread=self.chance.choice(("thread", None)),  # facts drawn from it keep its name
            speaker=words[7],
            idempotency_key=self.chance.choice((words[6], None)),
        )
        self.own("episode", made.id, words)
        self.episodes.append(made.id)

    def new(self) -> tuple[NewFact, list[str]]:
        words = [self.secret() for _ in range(7)]
        subject = self.chance.choice(SUBJECTS)
        fact = NewFact(
            content=f"{subject} met {words[0]} Smith. {self.text(words[1:2])}",
            subject=subject,
            category=words[2],
            metadata={words[3]: words[4]},
            source=self.chance.choice(SOURCES),
            idempotency_key=self.chance.choice((words[5], None)),
            episode_id=self.chance.choice([*self.episodes, None]),
            thread=self.chance.choice((words[6], None)),
            **self.scope(),
        )
        return fact, words

    def add_fact(self, store: Store) -> None:
        new, words = self.new()
        self.kept(store.add_many([new])[0].id, words)

    def kept(self, fact_id: int, words: list[str]) -> None:
        self.own("fact", fact_id, words)
        self.facts.append(fact_id)

    def some(self, store: Store, number: int = 1) -> list[memstore.Fact]:
        """Return so many active facts of one subject and owner."""
        facts = store.of("all").list()
        self.chance.shuffle(facts)
        for fact in facts:
            alike = [f for f in facts if (f.subject, f.scope) == (fact.subject, fact.scope)]
            if len(alike) >= number:
                return alike[:number]
        return []

    def evidence(self, *facts: int) -> dict[str, Any]:
        """Return evidence that quotes an episode, and words of the facts that it compares."""
        word = self.secret()
        for fact in facts:
            self.own("fact", fact, [word])
        found: dict[str, Any] = {"was": [word], "similarity": 0.5}
        if self.episodes:
            episode = self.chance.choice(self.episodes)
            quote = self.secret()
            self.own("episode", episode, [quote])
            found |= {"episode": episode, "said": quote}
        return found

    def supersede(self, store: Store) -> None:
        if len(pair := self.some(store, 2)) == 2:
            old, new = (fact.id for fact in pair)
            evidence = self.evidence(old, new)
            store.ledger.apply([SupersedeFact(old_id=old, new_id=new, evidence=evidence)])

    def confirm(self, store: Store) -> None:
        for fact in self.some(store):
            store.confirm(fact.id)

    def restate(self, store: Store) -> None:
        for fact in self.some(store):
            if fact.category:
                store.add(
                    fact.content,
                    subject=fact.subject,
                    category=fact.category,
                    metadata=dict(fact.metadata),
                    source=self.chance.choice(SOURCES),
                    episode_id=self.chance.choice([*self.episodes, None]),
                    unless_known=True,
                    **{k: v for k, v in fact.scope.ids.items() if v is not None},
                )

    def keep(self, store: Store) -> None:
        for fact in self.some(store):
            store.ledger.apply([KeepFact(fact_id=fact.id, evidence=self.evidence(fact.id))])

    def delete(self, store: Store) -> None:
        for fact in self.some(store):
            store.ledger.apply([DeleteFact(fact_id=fact.id, evidence=self.evidence(fact.id))])

    def propose(self, store: Store) -> None:
        for old in self.some(store):
            new, words = self.new()
            new = memstore.frozen.replace(
                new, subject=old.subject, **dict.fromkeys(("user_id",), old.user_id)
            )
            evidence = self.evidence(old.id)
            change = AddFact(
                fact=new, precedence=MayReplace(fact_id=old.id, similarity=0.5), evidence=evidence
            )
            [done] = store.ledger.apply([change])
            self.kept(done.fact.id, words)
            self.own("fact", done.fact.id, evidence["was"])

    def consolidate(self, store: Store) -> None:
        facts = self.some(store, 2)
        if len(facts) == 2:
            word = self.secret()
            ids = [fact.id for fact in facts]
            evidence = self.evidence(*ids)
            evidence.pop("said", None)
            store.of(facts[0].scope).proposals.put_forward(ids, f"both {word}", evidence)
            for id_ in ids:
                self.own("fact", id_, [word])

    def change(self, store: Store) -> None:
        for fact in self.some(store):
            words = [self.secret(), self.secret()]
            store.update_metadata(fact.id, {words[0]: words[1]})
            self.own("fact", fact.id, words)
            if self.chance.random() < 0.5:
                store.update_metadata(fact.id, {words[0]: None})

    def tag(self, store: Store) -> None:
        episode, word = self.chance.choice(self.episodes), self.secret()
        store.episodes.update(episode, tags=[word], metadata={"k": word})
        self.own("episode", episode, [word])

    def reply(self, store: Store) -> None:
        episode, word = self.chance.choice(self.episodes), self.secret()
        self.own("episode", episode, [word])
        quoted = [fact.content for fact in self.some(store)]
        if word := self.chance.choice((word, "")):
            store.readings.begin(episode, ReadingOptions(hint=word, max_characters=100))
        with store.file.engine.write() as transaction:
            reply_table.insert(transaction, episode, self.secret(), "m", {"f": [word, *quoted]})

    def read_by_a_model(self, store: Store) -> None:
        for fact in self.some(store):
            word = self.secret()
            self.own("fact", fact.id, [word])
            with store.file.engine.write() as transaction:
                graph_table.keep_reading(transaction, fact.id, "m", json.dumps([[word, "is", "x"]]))

    def fill(self, path: Path, acts: int) -> None:
        """Act through several programs, some with the file opened anew."""
        for number in range(acts):
            source = self.chance.choice((None, "web:a", "cli"))
            self.act(self.store if source is None else self.store.within(source=source))
            if number % 7 == 6:
                with memstore.open(path, embedder=None) as other:
                    self.act(other)
        self.read_by_a_model(self.store)
        self.store.file.embed_pending()
        self.store.graph.build()
        names = [entity.name for entity in self.store.of("all").graph.entities(limit=1000)]
        secret = [name for name in names if "zq" in name.lower()]
        for left, right in zip(secret[::2], secret[1::2], strict=False):
            decide = self.chance.choice((self.store.graph.keep_apart, self.store.graph.merge))
            with suppress(memstore.Conflict):
                decide(left, right)
        self.store.of("all").search("met")
        self.store.of("all").episodes.search("said")
        self.store.file.save_index()
        for fact_id in self.facts:
            self.runs += [line.run for line in self.store.ledger.journal(fact_id)[:1] if line.run]


@pytest.fixture(scope="module", autouse=True)
def _eager() -> Iterator[None]:
    """Save index files of few rows, and erase each row in a transaction of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index_module, "SAVED_FROM", 1)
        patched.setattr(short_transactions, "SECONDS", 0.0)
        patched.setattr(erasure, "ERASED_AT_ONCE", 2)
        yield


def selections(world: World) -> list[dict[str, Any]]:
    """Return a selection of each kind that the world allows."""
    chance = world.chance
    found: list[dict[str, Any]] = [
        {"subject": chance.choice(SUBJECTS).upper()},
        {"source": chance.choice(("web:a", "chat", "cli"))},
        {"owner": chance.choice(("ana", "bob"))},
    ]
    if world.facts:
        some = chance.sample(world.facts, min(3, len(world.facts)))
        found += [{"facts": some}]
        found += [{"run": chance.choice(world.runs)}]
    if world.episodes:
        episode = chance.choice(world.episodes)
        found += [{"episode": episode}]
        found += [{"episode": episode, "drawn": False}]
    return found


def naive_facts(store: Store, world: World, chosen: dict[str, Any]) -> set[int] | None:
    """Return the facts that go if an episode or a source does, one by one; else ``None``."""
    episode, source = chosen.get("episode"), chosen.get("source")
    if (episode is None and source is None) or not chosen.get("drawn", True):
        return None
    found = set()
    for fact_id in world.facts:
        through = {
            support.episode_id: store.episodes.journal(support.episode_id)[0].source
            for support in store.ledger.support(fact_id)
            if support.episode_id is not None
        }
        supports = [
            support for support in store.ledger.support(fact_id) if support.kind != "denied"
        ]
        own = store.get(fact_id).source

        def goes(support: memstore.Support, own: str | None = own, through: Any = through) -> bool:
            if episode is not None:
                return support.episode_id == episode
            cited = own if support.kind in ("said", "extracted") else None
            return source in (
                support.source,
                support.through,
                cited,
                through.get(support.episode_id),
            )

        if supports and all(map(goes, supports)):
            found.add(fact_id)
    return found


def left(folder: Path, words: list[str]) -> list[tuple[str, str]]:
    """Return the words that are in a byte of a file, in any case."""
    held = {file.name: file.read_bytes().lower() for file in folder.iterdir() if file.is_file()}
    return [(word, name) for word in words for name in held if word.lower().encode() in held[name]]


def check(folder: Path, world: World, plan: ErasurePlan) -> None:
    store = world.store
    erased = {("fact", id_) for id_ in plan.fact_ids}
    erased |= {("episode", id_) for id_ in plan.episode_ids}
    gone = [word for word, rows in world.secrets.items() if rows & erased]
    assert left(folder, gone) == []
    assert store.file.remains([*gone[:5], "no such word"]) == []
    assert store.file.doctor(deep=True) == []
    assert store.ledger.verify() == []


@pytest.mark.hypothesis
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(ACTS), st.sampled_from(range(7)))
def test_no_byte_of_what_a_selection_erased_is_left(seed: int, acts: int, which: int) -> None:
    chance = random.Random(seed)
    with TemporaryDirectory() as name:
        path = Path(name) / "memory.db"
        with memstore.open(path, embedder=Failing()) as store:
            world = World(store, chance)
            world.fill(path, acts)
            everything = selections(world)
            chosen = everything[which % len(everything)]
            facts = {fact.id: fact.to_dict() for fact in rows_of(store)}
            before = {id_: store.ledger.support(id_) for id_ in facts}
            episodes = {one.id: one.to_dict() for one in store.of("all").episodes.list()}
            expected = naive_facts(store, world, chosen)
            try:
                plan = (store if "owner" in chosen else store.of("all")).ledger.erasure(**chosen)
            except memstore.NotFound:
                return
            if expected is not None:
                assert {*plan.fact_ids} == expected
            done = plan.apply()
            assert (done.is_gone, done.left) == (True, ())
            assert done.counts.facts == len(plan.fact_ids)
            assert done.counts.episodes == len(plan.episode_ids)
            check(Path(name), world, plan)
            kept = {fact.id: fact.to_dict() for fact in rows_of(store)}
            for id_ in kept:  # a confirmation by an episode that went is not counted any more
                gone = sum(
                    support.kind == "restated" and support.episode_id in plan.episode_ids
                    for support in before[id_]
                )
                counted = facts[id_]["confirmed_count"] - gone
                assert kept[id_]["confirmed_count"] == counted
                for confirmation in ("confirmed_count", "last_confirmed_at") if gone else ():
                    facts[id_].pop(confirmation, None)
                    if confirmation in kept[id_]:
                        facts[id_][confirmation] = kept[id_][confirmation]
            assert kept == {id_: facts[id_] for id_ in facts if id_ not in plan.fact_ids}
            stay = {one.id: one.to_dict() for one in store.of("all").episodes.list()}
            assert stay == {id_: episodes[id_] for id_ in episodes if id_ not in plan.episode_ids}
        world.store = memstore.open(path, embedder=None)
        with world.store:
            check(Path(name), world, plan)


def rows_of(store: Store) -> list[memstore.Fact]:
    return store.of("all").list(active_only=False, include_deleted=True)


def columns_with(transaction: Transaction, word: str) -> Iterator[str]:
    """Yield the columns of the tables, but not of full-text indexes, that contain a word."""
    for name in [str(row[0]) for row in transaction.rows(transaction.dialect.tables)]:
        if name.startswith("memstore_") and "_fts" not in name:
            for row in [*transaction.rows(f"PRAGMA table_info({name})")]:
                contained = f"instr(CAST({row[1]} AS TEXT), :word) > 0"
                where = f"SELECT count(*) FROM {name} WHERE {contained}"
                if transaction.scalar(where, {"word": word}):
                    yield f"{name.removeprefix('memstore_')}.{row[1]}"


def test_the_world_puts_secrets_into_every_table(tmp_path: Path) -> None:
    """So that the test above can fail: every column of text that can have one has one."""
    path = tmp_path / "memory.db"
    with memstore.open(path, embedder=Failing()) as store:
        world = World(store, random.Random(7))
        world.fill(path, 150)
        with stores.file_of(store).engine.read() as transaction:
            found = {*columns_with(transaction, "Zq")}
    assert found >= {
        "facts.content", "facts.category", "facts.metadata", "facts.idempotency_key",
        "facts.thread", "episodes.content", "episodes.name", "episodes.metadata",
        "episodes.source_model", "episodes.source_description", "episodes.tags",
        "episodes.idempotency_key", "episodes.speaker", "episode_tags.tag",
        "fact_members.key", "fact_members.value", "journal.before", "journal.after",
        "journal.evidence", "proposals.evidence", "proposals.content", "replies.reply",
        "readings.asked", "entity_names.name", "entity_decisions.left_name",
        "fact_readings.triples", "fact_vectors.embed_error", "piece_vectors.embed_error",
    }  # fmt: skip
