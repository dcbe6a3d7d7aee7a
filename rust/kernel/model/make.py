"""Make the table of the built-in model, and the golden answers that its tests compare with.

    python -m venv /tmp/wordllama && /tmp/wordllama/bin/pip install "wordllama==0.2.2.post0" numpy
    /tmp/wordllama/bin/python rust/kernel/model/make.py

Reads the vectors and the vocabulary out of the installed ``wordllama``, whose content is checked,
and writes ``l2-supercat-256-int8.bin``; ``rust/kernel/src/model/file.rs`` describes its layout.
The golden token ids come from the ``tokenizers`` package, and the golden beginnings of vectors from
the vectors as ``wordllama`` has them, not from this project's own code.
"""

from __future__ import annotations

import hashlib
import json
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
TABLE = HERE / "l2-supercat-256-int8.bin"
GOLDEN = HERE.parents[2] / "tests/kernel/golden_tokens.json"

WEIGHTS = "weights/l2_supercat_256.safetensors"
VOCABULARY = "tokenizers/l2_supercat_tokenizer_config.json"
SOURCE = "66d5a93ec5d940d86a64a6b04c97e99962b6c3bda3cca964f2e5aa4f1cd44cdb"
"""SHA-256 over both files, line ends aside; releases of wordllama differ in nothing else."""

BUCKETS = 1 << 16
SPACE = "▁"
FIRST_BYTE = "<0x00>"

HOSTILE = [
    "",
    " ",
    "     ",
    " tea",
    "tea ",
    "two  spaces   three",
    "Alice drinks green tea in the morning",
    "the rain in Paris",
    "naïve café, cafe\u0301",
    "<s>",
    "</s><unk><pad> <s> tea",
    "<0x41>",
    "▁tea▁ ▁▁",
    "v1.2.3-rc.1+build.77 https://example.org/a?b=c&d=%20#e",
    "def f(x):\n\treturn {'a': [x ** 2, None]}\r\n",
    "\x00\x01\x02\x1b[31m\x7f\x80\x9f",
    "\ufeff\u200b\u200d\u2028\u2029\u00a0\u3000",
    "東京タワーは高いです。",
    "我们去年搬到了柏林",
    "한국어 문장과 ㅎㅏㄴ",
    "Привет, как дела? Ёлка",
    "مرحبا بالعالم ١٢٣",
    "שלום עולם",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "ᚠᛇᚻ ᛒᛦᚦ 𐍈𐌰𐌹 𒀀𒁀 𓀀",
    "🎉👩‍👩‍👧‍👦🇩🇪👍🏽 ok",
    "\U0010ffff\ue000\ufffd",
    "a" * 300,
    "ab" * 150,
    "=" * 77 + "-" * 33 + "\n" * 9 + "\t" * 5,
    "9" * 40 + " 3.14159 1,000,000 ٣ Ⅷ ½",
    "ẞßﬀǅ ĳ Å\u212b K\u212a",
    "The quick brown fox. " * 20,
]


def main() -> None:
    """Write both files and say what they are."""
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    weights, vocabulary = (
        (Path(spec.origin).parent / name).read_bytes() for name in (WEIGHTS, VOCABULARY)
    )
    assert digest(weights, vocabulary) == SOURCE, "another release with other content"
    (vectors,) = load(weights).values()
    table = table_file(json.loads(vocabulary)["model"], vectors.astype(np.float32))
    TABLE.write_bytes(table)
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    # A literal "<s>" in a text is text.
    tokenizer.encode_special_tokens = True
    golden = []
    for text in HOSTILE:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        vector = vectors[ids].astype(np.float64).sum(axis=0)
        start = vector[:8] / (np.linalg.norm(vector) or 1)
        golden.append({"text": text, "ids": ids, "start": start.round(4).tolist()})
    lines = ",\n".join(map(json.dumps, golden))
    GOLDEN.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{TABLE.name}: {len(table):,} bytes, SHA-256 {hashlib.sha256(table).hexdigest()}")


def digest(weights: bytes, vocabulary: bytes) -> str:
    """Return the SHA-256 over both files of the package."""
    text = vocabulary.replace(b"\r\n", b"\n").strip()
    parts = hashlib.sha256(weights).digest() + hashlib.sha256(text).digest()
    return hashlib.sha256(parts).hexdigest()


def table_file(model: dict[str, Any], vectors: NDArray[np.float32]) -> bytes:
    """Return the file: a header and six sections, all numbers little-endian."""
    tokens: dict[str, int] = model["vocab"]
    pairs = [tuple(merge.split(" ")) for merge in model["merges"]]
    check_assumptions(tokens, pairs)
    characters = sorted((ord(token), id) for token, id in tokens.items() if len(token) == 1)
    merges = [
        (tokens[left], tokens[right], rank, tokens[left + right])
        for rank, (left, right) in enumerate(pairs)
    ]
    merges.sort(key=lambda merge: (bucket(merge[0], merge[1]), merge[2]))
    counts = np.bincount([bucket(left, right) for left, right, *_ in merges], minlength=BUCKETS)
    scales = (np.abs(vectors).max(axis=1) / 127).astype("<f4")
    header = struct.pack(
        "<16s6I",
        b"memstore static\0",
        vectors.shape[1],
        len(tokens),
        tokens[FIRST_BYTE],
        len(characters),
        len(merges),
        BUCKETS,
    )
    sections = [
        header,
        np.array([codepoint for codepoint, _ in characters], "<u4").tobytes(),
        np.array([id for _, id in characters], "<u2").tobytes(),
        np.concatenate(([0], counts.cumsum())).astype("<u2").tobytes(),
        np.array(merges, "<u2").tobytes(),
        scales.tobytes(),
        np.rint(vectors / scales[:, None]).astype("i1").tobytes(),
    ]
    return b"".join(section + bytes(-len(section) % 64) for section in sections)


def bucket(left: int, right: int) -> int:
    """Return where a pair is looked for."""
    return ((left << 16 | right) * 0x9E3779B1 & 0xFFFFFFFF) >> 16


def check_assumptions(tokens: dict[str, int], pairs: list[tuple[str, ...]]) -> None:
    """Check what the tokenizer in Rust builds on, and no general tokenizer could."""
    assert len(set(pairs)) == len(pairs) < 1 << 16, "a pair has one rank, of 16 bits"
    assert all(len(pair) == 2 for pair in pairs)
    assert sorted(tokens.values()) == list(range(len(tokens)))
    for token in tokens:
        inside = token.lstrip(SPACE)
        assert SPACE not in inside, "words can be cut before each space and merged one by one"
    first = tokens[FIRST_BYTE]
    for byte in range(256):
        assert tokens[f"<0x{byte:02X}>"] == first + byte
    used = {token for pair in pairs for token in (*pair, "".join(pair))}
    assert not any(token.startswith("<0x") for token in used), "bytes are never merged"


if __name__ == "__main__":
    main()
