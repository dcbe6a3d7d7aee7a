"""Relations that the rules extract from facts, and those that they do not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from memstore.graph.alike import MAX_WHOLE, likely_pairs
from memstore.graph.rule_extraction import Derived, Text, derive
from memstore.text.names import lowered, name_key, occurs, plain, word_spans


def read(*facts: tuple[str, str], aliases: tuple[str, ...] = ()) -> Derived:
    texts = [Text(number, subject, content) for number, (subject, content) in enumerate(facts, 1)]
    return derive(texts, aliases)


def names(derived: Derived) -> set[str]:
    return {name for _, name in derived.names}


def relations(derived: Derived) -> set[tuple[str, str, str]]:
    return {
        (derived.names[source][1], label, derived.names[target][1])
        for source, target, _, label in derived.relations
    }


@pytest.mark.parametrize(
    ("subject", "content", "expected"),
    [
        ("alice", "Alice works at GitHub", ("Alice", "works at", "GitHub")),
        ("alice", "works at GitHub", ("alice", "works at", "GitHub")),
        ("alice", "Works at GitHub.", ("alice", "works at", "GitHub")),
        ("alice", "She moved from New York City", ("alice", "moved from", "New York City")),
        ("alice", "The user lives in New York City", ("alice", "lives in", "New York City")),
        ("alice", "Alice's brother is Bob Smith", ("Alice", "brother", "Bob Smith")),
        ("alice", "Alice doesn't work at GitHub", ("Alice", "doesn't work at", "GitHub")),
        ("alice", "Alice is the owner of the GitHub", ("Alice", "is the owner of", "GitHub")),
        ("alice", "Bob Smith hired Alice", ("Bob Smith", "hired", "Alice")),
        ("alice", "alice wohnt bei Bob Smith", ("alice", "wohnt bei", "Bob Smith")),
        # A statement about something that belongs to the other is not about the other.
        ("alice", "Alice is Bob Smith's manager", ("Alice", "mentions", "Bob Smith")),
        ("alice", "Is Bob Smith’s manager", ("alice", "mentions", "Bob Smith")),
        ("alice", "Alice has a GitHub account", ("Alice", "mentions", "GitHub")),
        ("alice", '"Let us go," said Bob Smith', ("alice", "mentions", "Bob Smith")),
        ("alice", "The tea she likes (made by Bob Smith)", ("alice", "mentions", "Bob Smith")),
        # No words relate these two, or it is unclear which of them they describe.
        ("alice", "Alice and Bob Smith met", ("Alice", "mentions", "Bob Smith")),
        ("alice", "Alice, friend of Bob Smith, left", ("Alice", "mentions", "Bob Smith")),
        ("alice", "Alice in New York City", ("Alice", "mentions", "New York City")),
        ("alice", "Somebody hired Bob Smith", ("alice", "mentions", "Bob Smith")),
        ("alice", "Dinner with Bob Smith", ("alice", "mentions", "Bob Smith")),
        ("alice", "Alice thinks that the sun is shining on Bob Smith", None),
        ("todo", "Ask Bob Smith about New York City", ("Bob Smith", "mentions", "New York City")),
    ],
)
def test_a_relation_is_labelled_with_the_words_between_its_names(
    subject: str, content: str, expected: tuple[str, str, str] | None
) -> None:
    found = relations(read((subject, content)))
    assert found == ({("Alice", "mentions", "Bob Smith")} if expected is None else {expected})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Lives near the lake", set()),
        ("Yesterday the weather was fine", set()),
        ("Uses PostgreSQL, GitHub and IBM Cloud", {"PostgreSQL", "GitHub", "IBM Cloud"}),
        ("The team met Dr. Smith and J. R. Miller", {"Dr. Smith", "J. R. Miller"}),
        ("It was sold to the Bank of America in May", {"Bank of America"}),
        ("It was bought by Al Smith of Initech", {"Al Smith", "Initech"}),
        ("It is closed on Tuesdays", set()),
        ("On Monday I met the CEO of Initech", {"Initech"}),
        ("Bob likes tea", {"Bob"}),
        ("Meeting Notes For The Team", set()),
        ("He prefers C++ over Node.js", {"C++", "Node.js"}),
        # German: a capitalised noun is not a name, but several in a row are one.
        ("Das Auto steht nicht in der Garage", set()),
        ("Anna arbeitet bei der Deutschen Bahn", {"Anna", "Deutschen Bahn"}),
        ("Она живёт в Москве", {"Москве"}),
    ],
)
def test_capitals_mark_a_name_only_where_they_are_significant(
    content: str, expected: set[str]
) -> None:
    assert names(read(("x1", content))) - {"x1"} == expected


def test_a_word_more_often_in_lower_case_is_not_a_name() -> None:
    facts = [("x1", "We have an apple tree"), ("x2", "An apple a day"), ("x3", "Now at Apple")]
    assert "Apple" not in names(read(*facts))
    assert "Apple" in names(read(*facts[1:], ("x4", "She left Apple")))


def test_a_name_known_from_one_fact_is_found_in_another_in_lower_case() -> None:
    derived = read(("alice", "She likes Rust"), ("x2", "why rust and not trust, alice asked"))
    assert relations(derived) == {
        ("Alice" if "Alice" in names(derived) else "alice", "likes", "Rust"),
        ("x2", "mentions", "Rust"),
        ("x2", "mentions", "alice"),
    }


def test_the_longest_name_is_found() -> None:
    derived = read(("new york", "A city"), ("new york city", "Another"), ("x3", "in new york city"))
    assert relations(derived) == {("x3", "mentions", "new york city")}


def test_a_name_is_found_as_whole_words_only() -> None:
    derived = read(("ann", "First"), ("x2", "Annual planning, an annex, and mann"))
    assert relations(derived) == set()


@pytest.mark.parametrize("subject", ["it", "the", "a", "will", "2024", "...", ".net"])
def test_a_subject_that_is_a_common_word_is_not_matched(subject: str) -> None:
    derived = read((subject, "First"), ("x2", f"it will be the net a {subject} in 2024"))
    assert relations(derived) == set()
    assert name_key(subject) in dict(derived.names)


def test_known_names_are_found_in_scripts_without_spaces() -> None:
    derived = read(("東京", "首都です"), ("爱丽丝", "爱丽丝住在東京"), ("กรุงเทพ", "เมืองหลวง"))
    assert relations(derived) == {("爱丽丝", "mentions", "東京")}


def test_names_are_compared_ignoring_width_case_and_spaces() -> None:
    derived = read(
        ("Alice  Smith", "First"), ("alice smith", "Second"), ("ＡＬＩＣＥ Smith", "Third")
    )
    assert derived.names == [("alice smith", "ALICE Smith")]
    assert derived.mentions == [(0, 1), (0, 2), (0, 3)]


def test_an_alias_becomes_an_entity_only_if_it_occurs() -> None:
    derived = read(("x1", "we met the boss"), aliases=("the boss", "nobody here"))
    assert names(derived) == {"x1", "the boss"}


def test_todo_is_not_an_entity_but_names_in_tasks_are() -> None:
    derived = read(("todo", "Buy milk"), ("todo", "Call Bob Smith"))
    assert derived.names == [("bob smith", "Bob Smith")]
    assert derived.mentions == [(0, 2)]


LETTERS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00") | st.sampled_from("aA .'’.\n東ßİΣ"),
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from(
        "Alice alice Bob Smith works at in the The and Berlin, Globex. 's is not 東京 of".split()
    ),
    max_size=12,
).map(" ".join)
FACTS = st.lists(st.tuples(LETTERS | WORDS, LETTERS | WORDS), max_size=6)


@settings(max_examples=examples(150), deadline=None)
@given(FACTS)
def test_graph_of_any_facts_is_consistent(facts: list[tuple[str, str]]) -> None:
    facts = [(subject, content) for subject, content in facts if subject.split()]
    derived = read(*facts)
    assert derived == read(*facts)
    assert [key for key, _ in derived.names] == [name_key(name) for _, name in derived.names]
    assert len({key for key, _ in derived.names}) == len(derived.names)
    mentioned = set(derived.mentions)
    assert len(mentioned) == len(derived.mentions)
    assert {name for name, _ in mentioned} == set(range(len(derived.names)))
    for name, fact_id in mentioned:
        subject, content = facts[fact_id - 1]
        assert name_key(subject) == derived.names[name][0] or occurs(
            derived.names[name][1].rstrip("."), content
        )
    assert len(set(derived.relations)) == len(derived.relations)
    for source, target, fact_id, label in derived.relations:
        assert source != target
        assert label == label.strip() != ""
        assert {(source, fact_id), (target, fact_id)} <= mentioned


@given(LETTERS)
def test_lowercasing_keeps_character_positions(text: str) -> None:
    assert len(lowered(text)) == len(text)
    assert name_key(name_key(text)) == name_key(text)


@given(LETTERS)
def test_words_are_in_order_and_contain_no_blank(text: str) -> None:
    text = plain(text)
    end = 0
    for start, stop in word_spans(text):
        assert end <= start < stop <= len(text)
        assert not any(letter.isspace() for letter in text[start:stop])
        end = stop


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("alice", "Alice's", True),
        ("ann", "Joann, Anna", False),
        ("anna", "Ann, (ANNA)", True),
        ("東京", "在東京的", True),
        ("é", "e\u0301", True),
        ("हिन", "हिन्दी", False),
        ("new york", "New\nYork", True),
        ("", "anything", False),
    ],
)
def test_a_name_occurs_as_whole_words(name: str, text: str, expected: bool) -> None:
    assert occurs(name, text) is expected


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("globex inc", "globex inc.", "the same letters"),
        ("muller", "müller", "the same letters"),
        ("node.js", "nodejs", "the same letters"),
        ("new york city", "nyc", "an abbreviation"),
        ("the bank of england", "be", "an abbreviation"),
        ("u.s", "united states", "an abbreviation"),
        ("a. smith", "alice smith", "an initial"),
        ("alice", "alice smith", "a part of the name"),
        ("dr. smith", "smith", "a part of the name"),
        ("globex", "globex corporation", "a part of the name"),
    ],
)
def test_likely_same_names_are_listed(left: str, right: str, reason: str) -> None:
    for keys in ([left, right], [right, left]):
        (pair,) = likely_pairs([*keys, "something else entirely"])
        assert ({pair.left, pair.right}, pair.reason) == ({left, right}, reason)


@pytest.mark.parametrize("short", ["project", "pa", "p. alpha"])
def test_abbreviation_of_many_names_is_not_paired(short: str) -> None:
    first = "project paul petra pia pit pam".split() if short != "project" else ["project"] * 6
    second = "alpha" if short == "p. alpha" else "a{}"
    names = [f"{one} {second}".format(number) for number, one in enumerate(first)]
    assert likely_pairs([short, *names]) == []
    assert len(likely_pairs([short, *names[:5]])) == 5


WORDS = st.sampled_from("new york city of the alice a b s smith dr. n.y.c nyc u.s us é e".split())


@given(st.sets(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=25))
def test_likely_pairs_are_those_of_every_pair(keys: set[str]) -> None:
    found = {frozenset((one.left, one.right)) for one in likely_pairs(keys)}
    assert found == {frozenset(pair) for pair in _compared(sorted(keys))}


def _compared(keys: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that may mean one entity, each compared with every other one."""
    words = {key: [key[start:end] for start, end in word_spans(key)] for key in keys}
    alike: dict[str, str] = {}
    for key in keys:
        bare = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", key).casefold()))
        if bare and alike.setdefault(bare, key) != key:
            yield alike[bare], key
    for key, own in words.items():
        longer = {other: parts for other, parts in words.items() if len(parts) > 1}
        letters, place = key.replace(".", ""), len(own)
        ways: list[list[str]] = [
            [o for o, parts in longer.items() if place == 1 and letters in _initials_of(parts)],
            [
                other
                for other, (first, *_, last) in longer.items()
                if place > 1 and len(own[0]) == 1 < len(first)
                if (first[0], last) == (own[0], own[-1])
            ],
            [
                other
                for other, parts in longer.items()
                if other != key
                if (parts[:place] == own and place < len(parts)) or parts[-1:] == own
            ],
        ]
        for found in ways:
            yield from ((key, other) for other in found if len(found) <= MAX_WHOLE)


def _initials_of(parts: list[str]) -> set[str]:
    small = {"of", "the", "and", "for"}
    told = {
        "".join(part[0] for part in parts),
        "".join(part[0] for part in parts if part not in small),
    }
    return {initials for initials in told if len(initials) > 1}
