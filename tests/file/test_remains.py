"""Words that are left: found in every file, in every form; and only if they are there."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import wait_until
from tests.support.examples import examples

import memstore
from memstore import AccessDenied, Store
from memstore.database.sqlite import full_text_terms, pages
from memstore.file import remains

WORD = "xylophagous"


def kinds(store: Store, word: str = WORD) -> set[tuple[str, str]]:
    return {(one.kind, one.form) for one in store.file.remains([word])}


def test_a_word_is_found_in_the_file_and_its_log(store: Store) -> None:
    assert store.file.remains([WORD]) == []
    store.add(f"a {WORD} beetle", subject="x")
    assert kinds(store) == {("log", "as it is")}
    one = next(iter(store.file.remains([WORD])))
    raw = Path(one.path).read_bytes()
    assert (raw.count(WORD.encode()), raw.find(WORD.encode())) == (one.number, one.first)
    store.file.engine.compact()
    assert kinds(store) == {("file", "as it is")}
    assert {one.path for one in store.file.remains([WORD])} == {store.path}


@pytest.mark.parametrize(
    ("word", "text", "form"),
    [
        ("Xylophagous", "a xylophagous beetle", "in lower case"),
        ("STRASSE ß", "strasse ss", "in lower case"),
        ("é" + WORD, "e\u0301" + WORD, "in another normal form"),
        ('say "no"', 'say \\"no\\" now', "in JSON"),
        ("größer", "gr\\u00f6\\u00dfer", "in JSON"),
        ("東京都庁", "東 京 都 庁", "cut into characters"),
    ],
)
def test_each_form_of_a_word_is_found(store: Store, word: str, text: str, form: str) -> None:
    Path(f"{store.path}.version-6").write_bytes(b"\x00" + text.encode())
    assert kinds(store, word) == {("copy", form)}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_word_in_utf_16_is_found(store: Store, encoding: str) -> None:
    Path(f"{store.path}.version-6").write_bytes(WORD.encode(encoding))
    assert kinds(store) == {("copy", f"as it is, in {encoding.upper()}")}


def test_files_beside_it_and_known_backups_are_searched(store: Store) -> None:
    folder = Path(f"{store.path}.backups")
    folder.mkdir()
    stem = Path(store.path).stem
    for name in (
        f"{store.path}.version-6-2",
        f"{store.path}.before-recover-20260101T000000Z",
        f"{store.path}.before-recover-20260101T000000Z-2-wal",
        f"{store.path}-wal.former-1",
        folder / f"{stem}-20260101T000000Z.db",
        folder / f"{stem}-20260101T000000Z.db.part",
    ):
        Path(name).write_text(WORD)
    with gzip.open(folder / f"{stem}-20260102T000000Z.db.gz", "wt") as packed:
        packed.write(WORD)
    Path(f"{store.path}.facts-{'0' * 32}.words").write_text(WORD)
    Path(f"{store.path}.notes").write_text(WORD)
    (folder / "another.db").write_text(WORD)  # nobody knows whose it is
    Path(store.path).with_name("another.db").write_text(WORD)
    found = [one.kind for one in store.file.remains([WORD])]
    assert sorted(found) == ["copy"] * 7 + ["file beside it", "index"]
    assert found[-7:] == ["copy"] * 7
    assert len(store.file.copies()) == 7


def test_backups_in_another_folder_are_known_while_they_are_made(
    store: Store, tmp_path: Path
) -> None:
    store.add(f"a {WORD} beetle", subject="x")
    made: list[object] = []
    store.file.backup_in_background(3600, 1, tmp_path / "elsewhere", tell=made.append)
    assert wait_until(lambda: bool(made))
    assert store.file.copies() == (str(made[0]),)
    assert ("copy", "as it is") in kinds(store)


def test_words_across_the_bounds_of_what_is_read_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remains, "READ_BYTES", 7)
    Path(f"{store.path}.version-6").write_text(f"{WORD}--{WORD} {WORD}")
    [one] = store.file.remains([WORD])
    assert (one.number, one.first) == (3, 0)


@pytest.mark.parametrize("length", range(3900, 4200, 7))
def test_a_word_that_crosses_pages_is_found(store: Store, length: int) -> None:
    store.episodes.add("-" * length + WORD + "-" * 9000, source="chat")
    store.file.engine.compact()
    assert ("file", "as it is") in kinds(store)


def test_every_way_to_divide_a_word_is_found() -> None:
    divided = 0
    for place in range(1200):
        database = apsw.Connection(":memory:")
        database.pragma("page_size", 512)
        database.execute("CREATE TABLE t (x)")
        text = "-" * place + WORD + "-" * (2000 - place)
        database.execute("INSERT INTO t VALUES (?)", (text,))
        raw = database.serialize("main")
        database.close()
        found = [text for text, _ in pages.divided(io.BytesIO(raw), [WORD.encode()])]
        assert (WORD.encode() in raw) != bool(found), place
        divided += bool(found)
    assert divided == 2 * (len(WORD) - 1) or divided == 3 * (len(WORD) - 1)


@pytest.mark.hypothesis
@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=3 * 512).map("".join), st.integers(2, 6))
def test_no_word_is_found_in_pages_that_do_not_follow_each_other(text: str, size: int) -> None:
    # The naive twin: each page with the beginning of the one whose number follows the word's part.
    word = b"ab" * size
    header = bytearray(512)
    header[:18] = pages.MAGIC + (512).to_bytes(2)
    body = text.encode().ljust(3 * 512, b"-")
    content = bytes(header) + body
    found = {text for text, _ in pages.divided(io.BytesIO(content), [word])}
    parts = [content[at : at + 512] for at in range(0, len(content), 512)]
    naive = any(
        part.find(word[:cut] + (number + 1).to_bytes(4)) >= 0
        or (part[:4] == (number + 1).to_bytes(4) and part.endswith(word[:cut]))
        for number, other in enumerate(parts)
        for cut in range(1, len(word))
        if other[4:].startswith(word[cut:])
        for part in parts
    )
    assert bool(found) == naive


def test_a_token_that_only_the_word_index_has_is_found(store: Store) -> None:
    store.add(f"a {WORD} beetle and a tree", subject="x")
    fact = store.add("another tree", subject="zqstray")
    index = "memstore_facts_fts"
    with store.file.engine.write() as transaction:
        transaction.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        # As erasing does it, but the index is not merged.
        transaction.execute(f"UPDATE memstore_facts SET subject = 'x' WHERE id = {fact.id}")
    assert ("word index", "as a token") in kinds(store, "zqstray")
    assert ("word index", "as a token") not in kinds(store, "tree")
    with store.file.engine.write() as transaction:
        transaction.full_text.facts.forget_deleted(transaction)
    assert ("word index", "as a token") not in kinds(store, "zqstray")


def test_remains_refuses_bad_words_and_confined_stores(store: Store) -> None:
    for bad in ([], ["ab"], [" "], "word", ["x" * 501]):
        with pytest.raises((ValueError, TypeError), match="words"):
            store.file.remains(bad)
    with pytest.raises(AccessDenied):
        store.within(store.namespace, confined=True).file.remains([WORD])


def test_a_store_in_memory_has_no_bytes_to_search() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        store.add(f"a {WORD} beetle", subject="x")
        assert store.file.remains([WORD]) == []
        assert store.file.copies() == ()


def test_searching_does_not_drop_the_locks_of_the_file(store: Store, path: Path) -> None:
    store.add(f"a {WORD} beetle", subject="x")
    store.file.remains([WORD])
    with memstore.open(path, embedder=None) as other:
        other.add("more", subject="x")
    store.add("and more", subject="x")
    assert store.count() == 3
    assert store.file.doctor(deep=True) == []


def test_all_terms_of_a_large_word_index_are_read(store: Store) -> None:
    words = [f"{'zq' * (n % 40)}{n:05d}" for n in range(3000)]
    store.add_many(
        [{"content": " ".join(words[n : n + 10]), "subject": "x"} for n in range(0, 3000, 10)]
    )
    with store.file.engine.read() as transaction:
        found = {*full_text_terms.terms(transaction, "memstore_facts_fts")}
        vocabulary = {word.encode() for word in words}
    assert found == vocabulary | {b"x", b"note"}
