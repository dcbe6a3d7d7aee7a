"""Explanations: what speaks for a fact, what changed it and why, and nothing hidden or erased."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.facts.test_query_plans import Explained

import memstore
from memstore import (
    AddFact,
    AsyncStore,
    DeleteFact,
    KeepFact,
    MayReplace,
    NewFact,
    NotFound,
    Scope,
    Store,
)
from memstore.database import journal
from memstore.frozen import replace

OpenStore = Callable[..., Store]

ANA, BEN = Scope(user_id="ana"), Scope(user_id="ben")


def kinds(store: Store, fact_id: int, **asked: Any) -> list[str]:
    return [entry.kind for entry in store.ledger.explain(fact_id, **asked).entries]


@pytest.fixture
def heard(store: Store) -> Store:
    """Fact 2: read in episode 1, replaced fact 1, confirmed twice, and denied by fact 3."""
    store.add("Ana likes coffee.", subject="ana")
    said = store.episodes.add("Well. Ana likes tea. Bye.", source="chat", speaker="user")
    new = NewFact(content="Ana likes tea.", subject="ana", episode_id=said.id, supersedes=1)
    why = {"said": "ana likes tea", "model": "m", "episode": said.id}
    store.ledger.apply([AddFact(fact=new, evidence=why)])
    store.confirm(2)
    second = store.episodes.record("So Ana likes tea.", source="letters")
    store.ledger.apply(
        [KeepFact(fact_id=2, evidence={"said": "Ana likes tea.", "episode": second.id})]
    )
    third = store.episodes.record("Ana hates tea.", source="radio")
    other = NewFact(content="Ana hates tea.", subject="ana", episode_id=third.id)
    because = {"episode": third.id, "similarity": 0.914, "changes": [["likes", "hates"]]}
    store.ledger.apply([AddFact(fact=other, precedence=MayReplace(2), evidence=because)])
    return store


def test_explanation_has_its_verdict_and_what_happened_in_order(heard: Store) -> None:
    day = f"{heard.get(2).created_at:%Y-%m-%d}"
    assert str(heard.ledger.explain(2)).splitlines() == [
        "fact 2 is active; a person said it; 1 proposal against it",
        f'said by user in episode 1 (chat) on {day}: "Ana likes tea."',
        f"→ replaced fact 1 by user through library on {day}, because m read in episode 1"
        ' "ana likes tea": "Ana likes coffee."',
        f"→ confirmed twice, last by user in episode 2 (letters) on {day}",
        f"→ proposal 1 open against it on {day}: fact 3 would replace it, because they are alike"
        ' (0.91) and differ in "likes" and "hates": "Ana hates tea."',
    ]


def test_entries_name_line_time_author_episode_and_words(heard: Store) -> None:
    first, replaced, *_, denied = heard.ledger.explain(2).entries
    line = heard.ledger.journal(2)[0]
    assert (first.kind, first.actor, first.through, first.source) == (
        "said",
        "user",
        "library",
        "chat",
    )
    assert (first.episode_id, first.words) == (1, "Ana likes tea.")
    assert first.at in [line.at for line in heard.ledger.journal(2)]
    assert (replaced.fact_id, replaced.words) == (1, "Ana likes coffee.")
    assert replaced.line == next(
        line.id for line in heard.ledger.journal(1) if line.kind == "supersede"
    )
    assert (denied.proposal_id, denied.fact_id, denied.episode_id) == (1, 3, 3)
    assert denied.evidence is not None
    assert denied.evidence["similarity"] == 0.914
    assert line.fact_id == 1


def test_superseded_fact_names_what_superseded_it(heard: Store) -> None:
    explanation = heard.ledger.explain(1)
    assert explanation.verdict.startswith("fact 1 was superseded by fact 2 on ")
    assert kinds(heard, 1) == ["said", "superseded"]
    assert explanation.entries[1].words == "Ana likes tea."
    assert explanation.status == "superseded"


def test_only_what_superseded_a_fact_last_replaced_it(store: Store) -> None:
    store.add("Ana likes coffee.", subject="ana")
    store.add("Ana likes tea.", subject="ana")
    store.supersede(1, 2)
    line = next(line.id for line in store.ledger.journal(1) if line.kind == "supersede")
    store.ledger.revert(lines=[line]).apply()
    store.add("Ana likes water.", subject="ana")
    store.supersede(1, 3)
    assert kinds(store, 2) == ["said"]
    assert kinds(store, 3) == ["said", "replaced"]
    assert kinds(store, 1) == ["said", "superseded", "revived", "superseded"]


def test_fact_that_was_only_proposed_says_so(heard: Store) -> None:
    *_, entry = heard.ledger.explain(3).entries
    assert (entry.kind, entry.fact_id, entry.proposal_id) == ("proposed", 2, 1)


def test_decided_proposals_are_told_with_their_decision(heard: Store) -> None:
    heard.proposals.reject(1)
    assert kinds(heard, 2)[-2:] == ["denied", "rejected"]
    assert "against it" not in heard.ledger.explain(2).verdict
    assert "which was rejected" in str(heard.ledger.explain(2))


def test_accepted_proposal_is_the_reason(heard: Store) -> None:
    heard.proposals.accept(1)
    *_, entry = heard.ledger.explain(2).entries
    assert entry.kind == "superseded"
    assert "because proposal 1 was accepted" in entry.text
    assert "replaced fact 2" in str(heard.ledger.explain(3))


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda store: store.delete(2), "deleted", "deleted by user"),
        (lambda store: store.pin(2), "pinned", "pinned by user"),
        (lambda store: store.update_metadata(2, {"a": 1}), "metadata", "given other metadata"),
    ],
)
def test_each_change_is_an_entry(
    heard: Store, change: Callable[[Store], object], kind: str, words: str
) -> None:
    change(heard)
    *_, entry = heard.ledger.explain(2).entries
    assert entry.kind == kind
    assert entry.text.startswith(words)


def test_deletion_by_a_model_says_what_it_read(store: Store) -> None:
    store.add("Ana has a dog.", subject="ana")
    said = store.episodes.record("The dog died.")
    why = {"said": "The dog died.", "episode": said.id, "model": "llm"}
    store.ledger.apply([DeleteFact(fact_id=1, evidence=why)])
    *_, entry = store.ledger.explain(1).entries
    assert 'because llm read in episode 1 "The dog died."' in entry.text
    store.episodes.erase(said.id)
    assert "died" not in str(store.ledger.explain(1))


def test_what_was_taken_back_names_the_lines(heard: Store) -> None:
    lines = [line.id for line in heard.ledger.journal(2) if line.kind == "confirm"]
    done = heard.ledger.revert(lines=lines).apply()
    entry = next(one for one in heard.ledger.explain(2).entries if one.line in done.lines)
    assert entry.kind == "unconfirmed"
    assert f"because it takes back lines {lines[0]}, {lines[1]}" in entry.text


def test_confirmation_that_was_taken_back_is_told_so(store: Store) -> None:
    store.add("Ana likes tea.", subject="ana")
    store.confirm(1)
    store.confirm(1)
    (line,) = [line.id for line in store.ledger.journal(1) if line.kind == "confirm"][1:]
    done = store.ledger.revert(lines=[line]).apply()
    assert kinds(store, 1) == ["said", "confirmed", "taken back", "unconfirmed"]
    assert "which was taken back" in store.ledger.explain(1).entries[2].text
    assert "confirmed twice" not in str(store.ledger.explain(1))
    store.ledger.revert(lines=done.lines).apply()
    assert kinds(store, 1)[:3] == ["said", "confirmed", "confirmed"]
    assert "because it takes back line" in store.ledger.explain(1).entries[-1].text


def test_expiry_is_told_before_and_after(store: Store) -> None:
    store.add("The offer holds.", subject="shop", expired_at="2020-01-01")
    store.add("The other offer holds.", subject="shop", expired_at="2999-01-01")
    assert store.ledger.explain(1).verdict.startswith("fact 1 expired on 2020-01-01")
    assert kinds(store, 1)[-1] == "expired"
    assert store.ledger.explain(2).entries[-1].text == "expires on 2999-01-01"


def test_text_of_others_is_told_with_its_source(store: Store) -> None:
    page = store.episodes.record("Ana lives in Oslo.", source="web:a.org")
    store.within(source="x").add("Ana lives in Oslo.", subject="ana", episode_id=page.id)
    explanation = store.ledger.explain(1)
    assert (explanation.trust, explanation.source) == ("external", "web:a.org")
    assert explanation.verdict.endswith("it is from a text by others (web:a.org)")


def test_fact_that_counts_more_says_why_it_was_kept(store: Store) -> None:
    mine = store.add("Ana lives in Rome", subject="ana")
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/ana")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id, supersedes=mine.id)
    assert "because what speaks against it counts less" in str(store.ledger.explain(mine.id))


def test_hidden_fact_names_the_source_and_who_distrusted_it(store: Store) -> None:
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/ana")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id)
    store.add("Ana lives in Rome", subject="ana")
    store.sources.distrust("web:a.org")
    explanation = store.ledger.explain(1)
    assert explanation.verdict == (
        'fact 1 is hidden; it rests on "web:a.org/ana" alone, which is not trusted'
    )
    assert (explanation.status, explanation.trust) == ("distrusted", "distrusted")
    *_, entry = explanation.entries
    assert (entry.kind, entry.source, entry.actor) == ("distrusted", "web:a.org", "user")
    assert entry.text.startswith("web:a.org was distrusted by user through library on ")
    store.sources.trust("web:a.org")
    assert kinds(store, 1) == ["said", "distrusted", "trusted"]
    assert store.ledger.explain(1).verdict.startswith("fact 1 is active")
    assert kinds(store, 2) == ["said"]


def test_fact_that_stays_hidden_after_erasing_says_why(store: Store) -> None:
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/secret")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id)
    store.sources.distrust("web:a.org")
    store.episodes.erase(page.id)
    explanation = store.ledger.explain(1)
    assert explanation.verdict.startswith("fact 1 is hidden; it rests on")
    *_, entry = explanation.entries
    assert entry.kind == "distrusted"
    assert entry.text.startswith("still hidden by user")
    assert "secret" not in str(explanation) + json.dumps(explanation.to_dict())


def test_source_distrusted_before_counts_as_long_as_it_is(store: Store) -> None:
    store.sources.distrust("web:a.org")
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/ana")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id)
    assert kinds(store, 1) == ["distrusted", "said"]
    store.sources.trust("web:a.org")
    assert kinds(store, 1) == ["said", "trusted"]


def test_confined_store_does_not_say_who_distrusted_a_source(store: Store) -> None:
    page = store.episodes.record("Ana lives in Oslo", source="web:a.org/ana")
    store.add("Ana lives in Oslo", subject="ana", episode_id=page.id)
    store.within("other", source="elsewhere").sources.distrust("web:a.org")
    *_, entry = store.within(confined=True).ledger.explain(1).entries
    assert (entry.kind, entry.actor, entry.through, entry.line) == ("distrusted", None, None, None)
    assert "elsewhere" not in str(store.within(confined=True).ledger.explain(1))


# -- what is erased --------------------------------------------------------------------------------


def test_erased_fact_has_its_changes_without_a_word(heard: Store) -> None:
    heard.erase(2)
    explanation = heard.ledger.explain(2)
    assert explanation.verdict.startswith("fact 2 was erased on ")
    assert (explanation.trust, explanation.status) == (None, "erased")
    assert [entry.kind for entry in explanation.entries][-1] == "erased"
    shown = json.dumps([heard.ledger.explain(id_).to_dict() for id_ in (1, 2, 3)]).casefold()
    assert "likes tea" not in shown
    assert "which was erased" in str(heard.ledger.explain(1))


def test_erased_fact_has_no_owners_any_more(store: Store) -> None:
    store.add("Ana likes tea.", subject="ana", user_id="ana")
    store.erase(1)
    assert store.ledger.explain(1).status == "erased"
    assert store.of("all").ledger.explain(1).status == "erased"
    assert store.of().ledger.explain(1).status == "erased"
    for scope in (ANA, BEN):
        with pytest.raises(NotFound):
            store.of(scope).ledger.explain(1)


@pytest.mark.parametrize("episode_id", [1, 2, 3])
def test_support_of_an_erased_episode_is_told_as_erased(heard: Store, episode_id: int) -> None:
    source = {1: "chat", 2: "letters", 3: "radio"}[episode_id]
    heard.episodes.erase(episode_id)
    shown = json.dumps(heard.ledger.explain(2).to_dict())
    assert source not in shown
    assert ("erased" in kinds(heard, 2)) == (episode_id != 3)
    if episode_id == 1:
        assert 'episode 1, which was erased: "Ana likes tea."' in str(heard.ledger.explain(2))


def test_fact_without_any_support_says_so(store: Store) -> None:
    said = store.episodes.record("Ana likes tea.")
    store.add("Ana likes tea.", subject="ana", episode_id=said.id)
    store.episodes.erase(said.id)
    assert store.ledger.explain(1).verdict.endswith("nothing that it rests on is left")


ACTS = st.lists(
    st.tuples(
        st.sampled_from("add replace deny keep delete confirm accept reject restore".split()),
        st.integers(0, 5),
        st.sampled_from([ANA, BEN]),
        st.sampled_from([ANA, BEN]),
    ),
    min_size=1,
    max_size=10,
)
"""What is done, to which of the active facts, and the owners of the fact and of the episode."""


class Played:
    """Facts and episodes, each with a word that no other has, and what was done to them."""

    def __init__(self, store: Store, *, owned: bool) -> None:
        self.store = store
        self._owned = owned
        self.facts: dict[int, str] = {}
        self.said: dict[int, str] = {}
        self.owners: dict[str, Scope] = {}
        """Of each word."""

    def play(self, number: int, act: str, place: int, owner: Scope, speaker: Scope) -> None:
        store, word, other = self.store, f"word{number}zzyx", f"turn{number}zzyx"
        if not self._owned:
            owner = speaker = Scope()
        said = store.of(speaker).episodes.add(f"{word} {other}", source=other)
        self.said[said.id] = other
        self.owners |= {word: owner, other: speaker}
        active = [fact.id for fact in store.of("all").list(tasks=False)]
        old = active[place % len(active)] if active else None
        why = {"said": other, "episode": said.id, "changes": [["a", other]], "similarity": 0.9}
        new = NewFact(content=word, subject="s", episode_id=said.id, **owner.ids)
        if act == "add" or old is None:
            self._stored(AddFact(fact=new), word)
        elif act == "replace":
            self._stored(AddFact(fact=replace(new, supersedes=old), evidence=why), word)
        elif act == "deny":
            self._stored(AddFact(fact=new, precedence=MayReplace(old), evidence=why), word)
        elif act == "keep":
            store.ledger.apply(
                [KeepFact(fact_id=old, evidence={"said": other, "episode": said.id})]
            )
        elif act == "delete":
            store.ledger.apply(
                [DeleteFact(fact_id=old, evidence={"said": other, "episode": said.id})]
            )
        elif act in ("accept", "reject") and (open_ := store.of("all").proposals.list()):
            getattr(store.proposals, act)(open_[0].id)
        elif act == "restore" and (past := self._past()):
            store.restore(past[place % len(past)])
        else:
            store.confirm(old)

    def _stored(self, change: AddFact, word: str) -> None:
        (done,) = self.store.ledger.apply([change])
        self.facts[done.fact.id] = word

    def _past(self) -> list[int]:
        past = self.store.of("all").list(active_only=False, include_deleted=True)
        return [fact.id for fact in past if fact.status == "deleted"]

    def shown(self, fact_id: int, owners: Scope | None = None) -> str:
        seen = self.store if owners is None else self.store.of(owners)
        explanation = seen.ledger.explain(fact_id)
        return str(explanation) + json.dumps(explanation.to_dict())


@pytest.mark.hypothesis
@given(
    acts=ACTS,
    erased=st.lists(st.integers(1, 9), max_size=3),
    gone=st.lists(st.integers(1, 9), max_size=3),
)
def test_no_erased_word_is_ever_shown(
    acts: list[tuple[str, int, Scope, Scope]], erased: list[int], gone: list[int]
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        played = Played(store, owned=False)
        for number, act in enumerate(acts):
            played.play(number, *act)
        every = {*played.facts}
        lost = {played.facts.pop(id_) for id_ in {*erased} & {*played.facts}}
        lost |= {played.said.pop(id_) for id_ in {*gone} & {*played.said}}
        for id_ in {*erased} & every:
            store.erase(id_)
        for id_ in gone:
            with contextlib.suppress(NotFound):
                store.episodes.erase(id_)
        hidden = lost - {*played.facts.values()}
        turns = [turn.content for turn in store.episodes.list()]
        hidden = {word for word in hidden if not any(word in turn for turn in turns)}
        for fact_id in every:
            shown = played.shown(fact_id)
            assert not [word for word in hidden if word in shown]


@pytest.mark.hypothesis
@given(acts=ACTS)
def test_no_word_of_other_owners_is_ever_shown(
    acts: list[tuple[str, int, Scope, Scope]],
) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        played = Played(store, owned=True)
        for number, act in enumerate(acts):
            played.play(number, *act)
        for fact_id in played.facts:
            owner = store.get(fact_id).scope
            for scope in (None, owner):
                shown = played.shown(fact_id, scope)
                # An episode of the owner's own may have words of another's fact.
                own = [turn.content for turn in store.of(owner).episodes.list()]
                strange = [
                    word
                    for word, whose in played.owners.items()
                    if whose != owner and not any(word in turn for turn in own)
                ]
                assert not [word for word in strange if word in shown]
            assert str(store.of("all").ledger.explain(fact_id))


# -- who may see what ------------------------------------------------------------------------------


@pytest.fixture
def shared(store: Store) -> Store:
    """Ana's fact 1, superseded by Ben's fact 2, and confirmed by what Ben said."""
    store.add("Ana likes tea.", subject="ana", user_id="ana")
    said = store.of(BEN).episodes.add("Ana likes tea. Ben's secret.", source="bens")
    store.ledger.apply(
        [KeepFact(fact_id=1, evidence={"said": "Ana likes tea.", "episode": said.id})]
    )
    other = NewFact(content="Ana likes Ben's tea.", subject="ana", supersedes=1, user_id="ben")
    why = {"said": "secret words", "episode": said.id, "changes": [["tea", "Ben's tea"]]}
    store.ledger.apply([AddFact(fact=other, evidence=why)])
    return store


@pytest.mark.parametrize("scope", [None, ANA])
def test_other_owners_fact_and_episode_are_mentioned_but_not_named(
    shared: Store, scope: Scope | None
) -> None:
    explanation = (shared if scope is None else shared.of(scope)).ledger.explain(1)
    shown = str(explanation) + json.dumps(explanation.to_dict())
    assert "Ben" not in shown
    assert "secret" not in shown
    assert "bens" not in shown
    assert "superseded by another fact" in explanation.verdict
    assert "confirmed by user in another episode" in shown
    *_, heard, last = explanation.entries
    assert (heard.kind, heard.episode_id, heard.source) == ("restated", None, None)
    assert (last.fact_id, last.words, last.evidence) == (None, None, None)


def test_everybodys_facts_are_named_if_asked_for(shared: Store) -> None:
    *_, last = shared.of("all").ledger.explain(1).entries
    assert (last.fact_id, last.words) == (2, "Ana likes Ben's tea.")


def test_replaced_fact_of_other_owners_is_not_named(shared: Store) -> None:
    explanation = shared.of(BEN).ledger.explain(2)
    assert "replaced another fact" in str(explanation)
    assert "likes tea" not in str(explanation)


@pytest.mark.parametrize("scope", [BEN, Scope()])
def test_other_owners_explanation_is_not_found(shared: Store, scope: Scope) -> None:
    with pytest.raises(NotFound):
        shared.of(scope).ledger.explain(1)


@pytest.mark.parametrize("confined", [False, True])
def test_another_namespace_explains_nothing_of_it(heard: Store, confined: bool) -> None:
    for state in (1, 2):
        with pytest.raises(NotFound):
            heard.within("other", confined=confined).ledger.explain(state)
    heard.erase(1)
    with pytest.raises(NotFound):
        heard.within("other", confined=confined).ledger.explain(1)


# -- every way in ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "evidence",
    [
        {"said": 5, "episode": "x", "similarity": "high", "changes": "none"},
        {"changes": [1, ["a"], [None, "b"], ["c", {}]], "reverts": 7, "proposal": "1"},
        {"said": "", "consolidates": [None], "model": ["m"], "found": {}, "outranked": "yes"},
    ],
)
def test_evidence_of_callers_may_be_anything(store: Store, evidence: dict[str, Any]) -> None:
    store.add("Ana likes tea.", subject="ana")
    store.ledger.apply([KeepFact(fact_id=1, evidence=evidence)])
    *_, entry = store.ledger.explain(1).entries
    assert entry.kind == "kept"
    assert entry.evidence == evidence


def test_texts_are_cut_and_cannot_break_lines(store: Store) -> None:
    store.add("one\ntwo\x1b[31m\u202e " + "x" * 900, subject="s")
    text = str(store.ledger.explain(1))
    assert len(text.splitlines()) == 2
    assert text.isprintable() or "\n" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 500


def test_imported_fact_has_the_same_explanation(
    heard: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    heard.proposals.accept(1)
    copy = open_store(tmp_path / "copy.db")
    copy.transfer.import_(heard.transfer.export())
    for fact_id in (1, 2, 3):
        assert kinds(copy, fact_id) == kinds(heard, fact_id)
        assert copy.ledger.explain(fact_id).verdict == heard.ledger.explain(fact_id).verdict


def test_async_store_explains_too(heard: Store) -> None:
    explanation = asyncio.run(AsyncStore(heard).ledger.explain(2))
    assert explanation == heard.ledger.explain(2)


def test_unknown_fact_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.ledger.explain(1)


def test_what_changed_the_trust_of_sources_is_found_by_an_index(store: Store) -> None:
    store.sources.distrust("web:a.org")
    for number in range(50):
        store.add(f"fact {number}", subject="s")
    with store.file.engine.read() as transaction:
        explained: Any = Explained(transaction)
        assert [line.kind for line in journal.of_sources(explained, 10**9)] == ["distrust"]
    (plan,) = explained.plans
    assert "idx_memstore_journal_sources" in plan
    assert "SCAN" not in plan
