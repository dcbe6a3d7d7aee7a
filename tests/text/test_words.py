"""Words: any text is a query, and a word is found in any spelling."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import Store
from memstore.text import words

Open = Callable[..., Store]


@pytest.fixture
def words_only(open_store: Open) -> Store:
    return open_store(embedder=None)


def found(store: Store, query: str) -> list[str]:
    return [hit.fact.content for hit in store.search(query)]


# -- no query can do harm --------------------------------------------------------------------

FACTS = [
    'Alice said "never" and left the room (twice)',
    "NEAR the station AND NOT far OR so",
    "content: subject: category: segments:",
    "东京塔 is in 東京 and 서울 is not",
    "party 🎉 at user@example.com",
    "ü naïve café",
]


@pytest.fixture(scope="module")
def well_read() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as store:
        for text in FACTS:
            store.add(text, subject="x")
        yield store


SYNTAX = [
    *string.punctuation,
    *('""', '"""', "al*", '"al"*', "^alice", "-alice", "a + b", "()", "((alice)", "--", "/*"),
    *("NEAR", "NEAR(", "NEAR(a b, 5)", "NEAR/3", "AND", "OR", "NOT", "AND AND", "OR OR OR"),
    *("alice AND", "NOT alice", "alice NOT", "content:", "content:alice", "content : alice"),
    *("{content subject}: alice", "- content : alice", "nosuchcolumn:alice", "rank:", "rowid:1"),
    *("memstore_facts_fts", "; DROP TABLE memstore_facts", '\\"', "::", "?1", ":a"),
    *("\x00", "a\x00b", "\x00\x00", "\x01\x02\x1f\x7f", "\u200b", "\ufeff", "\u202e"),
    *("\ud800", "\udfff", "a\ud83db", "🎉", "👩‍👩‍👧‍👦", "\ue000", "\U000f0000", "\U0010ffff", "𞤀"),
    *("\u0301", "\u0301\u0301", "e\u0301", "ๅ", "์", "\u3099", "\u1b00"),
]

LONG = [
    *("x" * 20_000, '"' * 20_000, "(" * 20_000, "NOT " * 5_000, "alice " * 3_300),
    *("東京" * 10_000, "🎉" * 20_000, " ".join(f"w{i}" for i in range(3_300))),
]


@pytest.mark.parametrize("query", SYNTAX + LONG, ids=lambda text: ascii(text[:16]))
def test_no_fts5_syntax_in_a_query_raises(well_read: Store, query: str) -> None:
    assert isinstance(well_read.search(query), memstore.SearchHits)


@settings(deadline=None, max_examples=examples(300))
@given(
    query=st.one_of(
        st.text(st.characters(), max_size=60),  # including lone surrogates
        st.lists(st.sampled_from([*SYNTAX, "alice", " "]), max_size=8).map("".join),
        st.lists(st.sampled_from([*SYNTAX, "alice"]), max_size=8).map(" ".join),
    )
)
@example(query="\ud800")
def test_no_query_raises(well_read: Store, query: str) -> None:
    for more in ({}, {"subject": "x"}, {"active_only": False}):
        for hit in well_read.search(query, **more):  # type: ignore[arg-type]
            assert hit.score > 0


@settings(deadline=None, max_examples=examples(200))
@given(
    text=st.text(
        # The index recognises the letters of Unicode 6; newer ones separate words there.
        st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\0").filter(
            lambda c: unicodedata.ucd_3_2_0.category(c) != "Cn"
        ),
        min_size=1,
    ).filter(str.strip)
)
@example(text="¸")
@example(text="\u0301")
@example(text="\u0301 a\u0301")
@example(text="\ue000")
def test_a_fact_is_found_by_its_own_text(fresh: Callable[[], Store], text: str) -> None:
    store = fresh()
    store.add(text, subject="x")
    assert found(store, text) == [text]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("room NOT twice", "room, twice"),
        ("room AND missing", "room, twice"),
        ("NEAR(room twice, 1)", "room, twice"),
        ("content:room", "room, twice"),
        ('"twice room"', "room, twice"),
        ("room*", "room, twice"),
        ("roo*", None),
        ("^twice", "room, twice"),
        ("-twice", "room, twice"),
        ("{content}: twice", "room, twice"),
    ],
)
def test_operators_are_literals(words_only: Store, query: str, expected: str | None) -> None:
    words_only.add("room, twice", subject="x")
    assert found(words_only, query) == ([] if expected is None else [expected])


@pytest.mark.parametrize("word", ["NEAR", "AND", "OR", "NOT", "content", "subject", "rank"])
def test_operators_match_as_plain_words(words_only: Store, word: str) -> None:
    words_only.add(f"the {word} gate", subject="x")
    assert found(words_only, word) == [f"the {word} gate"]


# -- scripts without spaces ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("我喜欢在北京大学学习数学", "北京"),
        ("我喜欢在北京大学学习数学", "大学"),
        ("我喜欢在北京大学学习数学", "数学"),
        ("我喜欢在北京大学学习数学", "北京大学在哪里?"),
        ("我喜欢在北京大学学习数学", "学"),
        ("我喜欢在北京大学学习数学", "他们住北京吗"),
        ("昨日、東京タワーに行きました", "東京"),
        ("昨日、東京タワーに行きました", "タワー"),
        ("昨日、東京タワーに行きました", "行き"),
        ("きのう カタカナ を ならった", "カタカナ"),
        ("ｶﾀｶﾅで書く", "カタカナ"),
        ("人々が集まる", "人々"),
        ("김치를 좋아합니다", "김치"),
        ("서울에서 만났다", "서울"),
        ("어제 학교에서는 시험을 봤다", "시험"),
        (unicodedata.normalize("NFD", "서울에서 만났다"), "서울"),
        ("서울에서 만났다", unicodedata.normalize("NFD", "서울")),
        ("ฉันชอบกินข้าวผัดทุกวัน", "ข้าวผัด"),
        ("ฉันชอบกินข้าวผัดทุกวัน", "กิน"),
        ("ខ្ញុំចូលចិត្តបាយ", "បាយ"),
        ("ຂ້ອຍມັກກິນເຂົ້າ", "ກິນ"),
        ("𠮷野家で食べる", "𠮷野家"),
        ("用Python写的程序", "python"),
        ("用Python写的程序", "程序"),
        ("買ったiPhone15は黒い", "iphone15"),
        ("Alice住在北京, Bob lives in Lyon", "北京"),
        ("Alice住在北京, Bob lives in Lyon", "lyon"),
    ],
)
def test_a_word_inside_a_run_is_found(words_only: Store, content: str, query: str) -> None:
    words_only.add("nothing of the kind, 其他 別の 다른", subject="x")
    words_only.add(content, subject="x")
    assert found(words_only, query)[:1] == [content]


@pytest.mark.parametrize(("content", "query"), [("北方的京城", "北京"), ("東の京", "東京")])
def test_two_characters_must_be_adjacent(words_only: Store, content: str, query: str) -> None:
    words_only.add(content, subject="x")
    assert found(words_only, query) == []


def test_a_chinese_subject_is_searched_too(words_only: Store) -> None:
    words_only.add("likes tea", subject="王小明先生")
    assert found(words_only, "小明") == ["likes tea"]


# -- one word, many forms --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("the café on the corner", "cafe"),
        ("the cafe on the corner", "café"),
        ("the café on the corner", "cafe\u0301"),
        ("the cafe\u0301 on the corner", "café"),
        ("the cafe\u0301 on the corner", "cafe"),
        ("Ångström units", "angstrom"),
        ("naïve", "NAIVE"),
        ("Việt Nam", "viet"),
        ("Müller", "muller"),
        ("Łódź", "łódź"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("МОСКВА", "москва"),
        ("she painted the door", "painting"),
        ("she is painting the door", "painted"),
        ("they run daily", "running"),
        ("two bicycles", "bicycle"),
        ("HOME-SERVER", "home server"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("Ｐｙｔｈｏｎで書く", "Ｐｙｔｈｏｎ"),
        ("the ﬁle of 1ˢᵗ May", "file"),
        ("ab\ue000cd", "ab\ue000cd"),
    ],
)
def test_a_word_is_found_in_another_form(words_only: Store, content: str, query: str) -> None:
    words_only.add(content, subject="x")
    assert found(words_only, query) == [content]


@pytest.mark.parametrize(
    "identifier",
    [
        "v1.2.3",
        "home-server",
        "user@example.com",
        "C++",
        "snake_case",
        "192.168.1.17",
        "/etc/hosts",
        "https://example.com/a?b=c",
        "$HOME",
        "#42",
        "3.14",
        "O'Brien",
        "a_b",
        "AC/DC",
        "__init__",
        "->",
        "🎉",
        "©",
    ],
)
def test_an_identifier_is_ranked_first(words_only: Store, identifier: str) -> None:
    words_only.add("version 1 of the example, 17 servers at home, case closed", subject="x")
    content = f"we spoke about {identifier} yesterday"
    words_only.add(content, subject="x")
    assert found(words_only, identifier)[:1] == [content]


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("who are you", "you asked who they are"),
        ("what is it?", "it is what it is"),
        ("The Who", "the who played in 1969"),
        ("to be or not to be", "whether to be or not"),
        ("Will", "Will Smith called"),
    ],
)
def test_query_of_only_stop_words_finds_facts(words_only: Store, query: str, content: str) -> None:
    words_only.add(content, subject="x")
    assert found(words_only, query) == [content]


@pytest.mark.parametrize("question", ["What's a dog?", "what’s the dog", "WHAT'S with dogs"])
def test_s_of_a_contraction_is_not_a_search_term(words_only: Store, question: str) -> None:
    words_only.add("Bob's car is red", subject="x")
    words_only.add("Rufus is a dog", subject="x")
    assert found(words_only, question) == ["Rufus is a dog"]
    assert found(words_only, "bob's") == ["Bob's car is red"]
    assert found(words_only, "Bob’s") == ["Bob's car is red"]


def test_a_single_letter_is_a_word(words_only: Store) -> None:
    for letter in "CD":
        words_only.add(f"takes vitamin {letter}", subject="x")
    assert found(words_only, "vitamin D")[0] == "takes vitamin D"


def test_stop_words_alone_match_nothing_in_a_longer_query(words_only: Store) -> None:
    words_only.add("this is what you would have", subject="x")
    words_only.add("violins have strings", subject="x")
    assert found(words_only, "what is a violin, and where would you have it?") == [
        "violins have strings"
    ]


# -- the index is left alone -----------------------------------------------------------------


def index_pages(path: Path) -> list[Any]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute("SELECT id, block FROM memstore_facts_fts_data").fetchall()
    finally:
        connection.close()


def quarantine(store: Store, embedder: Any, fact_id: int) -> None:
    embedder.poison = "violin"
    for _ in range(3):
        store.file.embed_pending()


QUIET: dict[str, Callable[[Store, Any, int], Any]] = {
    "update_metadata": lambda store, embedder, fact_id: store.update_metadata(fact_id, {"a": 2}),
    "touch": lambda store, embedder, fact_id: store.searches.note_use([fact_id]),
    "search": lambda store, embedder, fact_id: (store.search("violin"), store.list()),
    "confirm": lambda store, embedder, fact_id: store.confirm(fact_id),
    "delete": lambda store, embedder, fact_id: store.delete(fact_id),
    "delete and restore": lambda store, embedder, fact_id: (
        store.delete(fact_id),
        store.restore(fact_id),
    ),
    "embed": lambda store, embedder, fact_id: store.file.embed_pending(),
    "quarantine": quarantine,
}


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
def test_changes_that_keep_the_words_do_not_reindex(
    open_store: Open, embedder: Any, path: Path, change: Callable[[Store, Any, int], Any]
) -> None:
    fact = open_store(embedder=None).add("she plays the violin", subject="sue", metadata={"a": 1})
    store = open_store()
    store.add("rain", subject="sue")  # so that the file has a model
    facts_before = store.get(fact.id)
    before = index_pages(path)
    change(store, embedder, fact.id)
    assert index_pages(path) == before
    refused = ["the embedder refused facts of generation 1 for good: 1"]
    told = [finding.message for finding in store.file.doctor()]
    assert told == (refused if change is quarantine else [])
    assert (facts_before.content, facts_before.embedded) == ("she plays the violin", False)


def test_adding_and_erasing_change_the_index(store: Store, path: Path) -> None:
    before = index_pages(path)
    fact = store.add("she plays the violin", subject="sue")
    added = index_pages(path)
    assert added != before
    store.erase(fact.id)
    assert index_pages(path) != added
    assert store.search("violin", active_only=False) == []


# -- functions -------------------------------------------------------------------------------

scripts = st.text(
    st.one_of(
        st.characters(codec="ascii", exclude_characters="\0"),
        st.sampled_from("東京タワー北大学서울김치ข้าวผัด𠮷ー々〇"),
        st.characters(exclude_categories=["Cs"]),
    )
)


@settings(deadline=None)
@given(text=st.text(st.characters(codec="ascii")))
def test_plain_text_has_no_segments(text: str) -> None:
    assert words.segments(text) is None


@settings(deadline=None)
@given(texts=st.lists(scripts, min_size=1, max_size=3))
def test_segments_are_single_characters_and_adjoining_words(texts: list[str]) -> None:
    for part in (words.segments(*texts) or "").split():
        assert len(part) == 1 or not re.search(words.UNSPACED_RUN, part)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("tea", None),
        ("café", None),
        ("北京", "北 京"),
        ("in 北京, or 東京!", "北 京 東 京"),
        ("用Python写的", "用 Python 写 的"),
        ("Python, 写", "写"),
        ("ข้าว", "ข า ว"),
        ("ｶﾞ", "ガ"),
        ("Ｐｙｔｈｏｎ and Ruby", "Python"),
        ("Ｐｙｔｈｏｎで", "Python で"),
    ],
)
def test_segments_of_example_texts(text: str, cut: str | None) -> None:
    assert words.segments(text) == cut


@settings(deadline=None)
@given(texts=st.lists(scripts, min_size=1, max_size=3))
def test_segments_of_several_texts_match_those_of_each(texts: list[str]) -> None:
    each = [cut for text in texts if (cut := words.segments(text))]
    assert words.segments(*texts) == (" ".join(each) or None)


@settings(deadline=None)
@given(text=scripts)
def test_segments_are_independent_of_unicode_normalization(text: str) -> None:
    forms = {words.segments(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@settings(deadline=None)
@given(query=scripts)
def test_match_expressions_are_quoted_words_joined_by_or(query: str) -> None:
    expression = words.match_expression(query)
    if expression is None:
        return
    for term in expression.split(" OR "):
        assert term[0] == term[-1] == '"'
        assert '"' not in term[1:-1]
        assert term[1:-1].strip()


def test_match_expressions_are_bounded() -> None:
    query = " ".join(f"word{i}" for i in range(10_000))
    assert (words.match_expression(query) or "").count(" OR ") == words.MAX_TERMS - 1


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Which theme does Alice like?", ["theme", "Alice", "like"]),
        ("Was passierte am Ufer?", ["passierte", "Ufer"]),
        ("¿Cuánto pagamos por la casa?", ["pagamos", "casa"]),
        ("cuanto pagamos por la casa", ["pagamos", "casa"]),
        ("Qui est l'ami d’Anne ?", ["ami", "Anne"]),
        ("Dov'è l'amico della Giulia?", ["amico", "Giulia"]),
        ("O que aconteceu em maio?", ["aconteceu", "maio"]),
        ("Hoeveel betalen we voor het huis?", ["betalen", "huis"]),
    ],
)
def test_stop_words_of_the_questions_language_are_ignored(query: str, terms: list[str]) -> None:
    assert words.terms(query) == terms


def test_terms_are_read_from_the_beginning_of_a_long_text() -> None:
    long = "green tea " * (words.MAX_READ // 10)
    assert words.terms(long) == ["green", "tea"]
    assert words.terms(f"{long}or coffee") == ["green", "tea"]
    assert words.terms(f"{long[:100]}or coffee") == ["green", "tea", "coffee"]
    assert words.terms(f"{'a' * words.MAX_READ}b") == ["a" * words.MAX_READ]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("did the plant die in the sun", ["plant", "die", "sun"]),
        ("die casting", ["die", "casting"]),
        ("Los Angeles", ["Los", "Angeles"]),
        ("was it in", ["was", "it", "in"]),
        ("vitamina A o vitamina E para la piel", ["vitamina", "A", "E", "piel"]),
    ],
)
def test_ambiguous_question_is_english_and_keeps_its_names(query: str, terms: list[str]) -> None:
    assert words.terms(query) == terms


@pytest.mark.parametrize("query", ["tell me about Will", "Where did Will go?", "is Will well"])
def test_names_that_are_also_stop_words_are_searched(store: Store, query: str) -> None:
    will = store.add("Will moved to Lisbon", subject="neighbours")
    assert [hit.fact.id for hit in store.search(query, vector_weight=0)] == [will.id]


# -- letters that stand for two ----------------------------------------------------------------

LIGATED = [
    ("strasse", "Die Straße ist gesperrt"),
    ("STRASSE", "Die Straße ist gesperrt"),
    ("Straßen", "alle Strassen der Stadt"),
    ("ẞ Straẞe", "DIE STRASSE"),
    ("grosse", "GROẞE FREUDE"),
    ("Größe", "Konfektionsgrösse, also die Grösse"),
    ("soeur", "ma sœur habite Lyon"),
    ("cœur", "un COEUR simple"),
    ("aether", "the æther"),
    ("encyclopædia", "an Encyclopaedia"),
    ("messprozess", "der Meßprozeß"),
    ("koln", "Köln am Rhein"),
]


@pytest.mark.parametrize("embedder", [None, "index"])
@pytest.mark.parametrize(("query", "content"), LIGATED)
def test_letters_that_stand_for_two_are_found_in_both_spellings(
    open_store: Open, embedder: str | None, query: str, content: str
) -> None:
    store = open_store(embedder=None)
    store.file.searches.facts.index._unfit = embedder is None  # FTS5 answers, or the index
    store.add("class and passage, nothing else", subject="note")
    store.add(content, subject="note")
    assert found(store, query) == [content]


def test_both_spellings_score_alike_in_the_index_and_in_fts5(open_store: Open) -> None:
    store = open_store(embedder=None)
    for content in ("Straße und Strasse", "die Straße", "eine Strasse", "class of 1910"):
        store.add(content, subject="note")
    scores = []
    for unfit in (False, True):
        store.file.searches.facts.index._unfit = unfit
        store.file.searches.facts.index._current = None
        for query in ("strasse class", "Straße"):
            hits = store.search(query, ranking="classic")
            scores.append([(hit.fact.id, hit.word_score) for hit in hits])
    assert scores[:2] == scores[2:]
    assert [len(one) for one in scores] == [4, 3, 4, 3]


def test_excerpt_is_around_the_other_spelling(open_store: Open) -> None:
    store = open_store(embedder=None)
    filler = "Nothing happened on that day, and nobody wrote anything down. " * 40
    store.episodes.add(f"{filler}Die Mozartstraße war gesperrt. {filler}", source="test")
    [hit] = store.episodes.search("mozartstrasse")
    assert "Mozartstraße" in hit.excerpt
    assert len(hit.excerpt) < len(filler)


@given(st.text(alphabet="asßẞæœeo STRx", max_size=30))
@settings(max_examples=examples(100))
def test_spellings_of_a_term_are_distinct_to_fts5(query: str) -> None:
    for forms in words.spelled(query):
        assert len({form.lower() for form in forms}) == len(forms)
        assert len({plain(form) for form in forms}) == 1


def plain(word: str) -> str:
    return word.casefold().replace("æ", "ae").replace("œ", "oe")


def test_spellings_are_limited() -> None:
    many = " ".join(f"mississippi{place}" for place in range(300))
    assert sum(map(len, words.spelled(many))) <= words.MAX_TERMS


def test_identifiers_of_a_query() -> None:
    query = (
        "see /srv/src/app.py:12, `undo.sh` (v2.3.1) on k8s: parseConfig, max_tokens; port 5499? "
        "x-15 and foo@bar.org #1234"
    )
    told = "srv/src/app.py:12 app.py:12 app.py undo.sh v2.3.1 k8s parseConfig max_tokens 5499 x-15"
    assert words.identifiers(query) == (*told.split(), "foo@bar.org", "1234")


def test_ordinary_words_are_no_identifiers() -> None:
    query = "In 2024 and/or he/she, e.g. the 3rd well-known U.S. firm, at 10am; 42 of 7 C++ 日本"
    assert words.identifiers(query) == ()


# -- the cost of a text is that of its length ----------------------------------------------------

MIXED = st.text(
    st.one_of(
        st.sampled_from(
            "ab Ａß…½²ﬁ東京。 วันนี้ຳ e\u0301\u3099か가\u1161\u11a8\ue000👍🏽\u200d\ufe0fनமீြम_'-"
        ),
        st.characters(exclude_categories=("Cs",)),
    )
)


def naive_split(text: str) -> list[str]:
    cut = "".join(c if words.is_of_word(c) else " " for c in text)
    return [word for word in cut.split() if not all(map(words.is_mark, word))]


def naive_segments(text: str) -> str | None:
    """Return the segments of a text, made character by character."""
    if text.isascii():
        return None
    plain = unicodedata.normalize("NFKC", text)
    bare = re.sub(
        words.UNSPACED_RUN,
        lambda run: "".join(c for c in run[0] if not words.is_mark(c)),
        plain,
    )
    written = set(naive_split(unicodedata.normalize("NFC", text)))
    cut = [
        word
        for word in naive_split(bare)
        if re.search(words.UNSPACED_RUN, word) or word not in written
    ]
    run = f"[{words.UNSPACED}]|[^{words.UNSPACED}]+"
    return " ".join(" ".join(re.findall(run, word)) for word in cut) or None


@given(MIXED)
@example("ြम န")
@example("a—")
@example("用Python写的 ＡＢ ｶﾞ")
def test_segments_are_those_of_the_naive_twin(text: str) -> None:
    assert words.split(text) == naive_split(text)
    assert words.segments(text) == naive_segments(text)


@pytest.mark.parametrize(
    "some", ["a—", "größe ", "порт закрыт ", "鹿特丹港。", "오늘 항구 ", "วันนี้", "👍🏽 ", "ａ b½ "]
)
def test_each_character_is_looked_at_once_however_long_the_text(
    monkeypatch: pytest.MonkeyPatch, some: str
) -> None:
    asked = 0
    is_mark = words.is_mark

    def counted(character: str) -> bool:
        nonlocal asked
        asked += 1
        return is_mark(character)

    monkeypatch.setattr(words, "is_mark", counted)
    counts = []
    for size in (100, 10_000):
        asked = 0
        words.segments(some * size)
        counts.append(asked)
    assert counts[0] == counts[1]
    assert asked <= 10 * len({*unicodedata.normalize("NFKC", some), *some})
