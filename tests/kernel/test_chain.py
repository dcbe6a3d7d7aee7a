"""New lines of the journal, compared with their hashes and with what checks them."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore._kernel.chain import breaks, linked
from memstore._kernel.claims import claim_hash
from memstore.text import folding

texts = st.none() | st.text(st.characters(codec="utf-8"))
lines = st.tuples(st.integers(0, 2**62), st.text(st.characters(codec="utf-8")), *[texts] * 3)
BEGINNING = bytes(32)


@given(st.lists(lines), st.binary(min_size=16, max_size=16))
def test_linked_lines_are_unbroken(rows: list[tuple[int, str, str, str, str]], salt: bytes) -> None:
    made = linked(BEGINNING, rows, salt * len(rows))
    assert [line[:5] for line in made] == rows
    for line in made:
        assert line[5] == (None if line[2:5] == (None, None, None) else salt)
    stored = [(*line[:-1], None, line[-1]) for line in made]
    assert breaks(BEGINNING, stored) == []
    for place, line in enumerate(stored):
        changed = [*stored[:place], (None, *line[1:]), *stored[place + 1 :]]
        assert breaks(BEGINNING, changed) == [place]


def test_lines_need_a_salt_each() -> None:
    with pytest.raises(ValueError, match="1 lines have 32 bytes of salts"):
        linked(BEGINNING, [(1, None, None, None)], bytes(32))


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="ascii"), max_size=300))
def test_the_hash_of_a_claim_is_that_of_its_folded_text(key: str, content: str) -> None:
    told = f"{key}\n{folding.folded(content)}".encode()
    digest = hashlib.blake2b(told, digest_size=8).digest()
    assert claim_hash(key, content) == int.from_bytes(digest, signed=True)


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 128, 253, 254, 255, 256, 1000])
def test_claims_of_any_length_have_their_hash(length: int) -> None:
    digest = hashlib.blake2b(b"k\n" + b"a" * length, digest_size=8).digest()
    assert claim_hash("k", "A" * length) == int.from_bytes(digest, signed=True)


def test_the_kernel_folds_ascii_alone() -> None:
    with pytest.raises(ValueError, match="not ASCII"):
        claim_hash("k", "é")
