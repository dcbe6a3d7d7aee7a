"""Compare the built-in model with the package its table was made from.

    python -m venv /tmp/wordllama && /tmp/wordllama/bin/pip install "wordllama==0.2.2.post0" numpy
    /tmp/wordllama/bin/pip install .
    /tmp/wordllama/bin/python benches/built_in_model.py DATA_FOLDER

Token ids have to be those of the ``tokenizers`` package, and vectors those of the table in float16
but for what rounding to int8 costs. The texts are those of the data sets (see ``finding/sets.py``)
and as many again that are made to be hard: all scripts, control characters, long runs.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from memstore._kernel.model import BuiltInModel

REAL = 10_000
HOSTILE = 10_000
SINGLE = 1_000


class Original:
    """The package's table and tokenizer, pooled with numpy."""

    def __init__(self) -> None:
        spec = find_spec("wordllama")
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        vocabulary = folder / "tokenizers/l2_supercat_tokenizer_config.json"
        self.tokenizer = Tokenizer.from_str(vocabulary.read_text(encoding="utf-8"))
        self.tokenizer.encode_special_tokens = True
        (self.table,) = load((folder / "weights/l2_supercat_256.safetensors").read_bytes()).values()

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text."""
        encodings = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 256]``."""
        rows = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for row, ids in zip(rows, self.token_ids(texts), strict=True):
            if ids:
                np.add.reduce(self.table[ids], axis=0, dtype=np.float32, out=row)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0)


def real(data: Path) -> list[str]:
    """Return texts and questions of the data sets, mixed."""
    texts = [
        line[key]
        for file in sorted(data.glob("*/*.jsonl"))
        for line in map(json.loads, file.open(encoding="utf-8"))
        for key in ("text", "query")
        if key in line
    ]
    random.Random(7).shuffle(texts)
    return texts[:REAL]


def hostile(seed: int = 7) -> list[str]:
    """Return texts of every script, control characters, long runs, and spellings of pieces."""
    rng = random.Random(seed)
    ranges = [
        (0, 0x20),
        (0x20, 0x7F),
        (0x80, 0x250),
        (0x250, 0x530),
        (0x530, 0x1000),
        (0x1000, 0x2000),
        (0x2000, 0x3000),
        (0x3040, 0x3100),
        (0x4E00, 0x9FFF),
        (0xAC00, 0xD7A4),
        (0xE000, 0x10000),
        (0x10000, 0x20000),
        (0x1F300, 0x1FAFF),
        (0x20000, 0x110000),
    ]
    parts: list[Callable[[], str]] = [
        lambda: "".join(
            chr(rng.randrange(*one)) for one in [rng.choice(ranges)] * rng.randrange(1, 40)
        ),
        lambda: chr(rng.randrange(*rng.choice(ranges))) * rng.randrange(1, 200),
        lambda: " " * rng.randrange(1, 40),
        lambda: rng.choice(["<s>", "</s>", "<unk>", "<0x41>", "<0x0A>", "▁", "▁▁the", "\r\n"]),
        lambda: rng.choice(["the", "Alice", "tea", "://", "e\u0301", "👩‍👩‍👧", "1,000.50"]),
        lambda: "".join(rng.choices("abcdefghij /.-_=", k=rng.randrange(1, 80))),
    ]
    return [
        "".join(rng.choice(parts)() for _ in range(rng.randrange(1, 12))) for _ in range(HOSTILE)
    ]


def microseconds(embed: Callable[[Sequence[str]], object], batches: Sequence[list[str]]) -> float:
    """Return the time per text, the best of five runs."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for batch in batches:
            embed(batch)
        times.append(time.perf_counter() - start)
    return min(times) / sum(map(len, batches)) * 1e6


def main() -> int:
    """Print how many ids differ, how far vectors are apart, and the time per text."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    start = time.perf_counter()
    model = BuiltInModel()
    model.embed_bytes(["tea"])
    print(f"open and first text: {(time.perf_counter() - start) * 1e3:.2f} ms")
    original = Original()
    differing = 0
    for name, texts in (("real", real(Path(sys.argv[1]))), ("hostile", hostile())):
        own = [memoryview(ids).cast("H").tolist() for ids in model.token_ids(texts)]
        differing += sum(a != b for a, b in zip(own, original.token_ids(texts), strict=True))
        products = np.einsum("ij,ij->i", model.embed(texts), original.embed(texts))
        cosines = products[[bool(text) for text in texts]]
        print(
            f"{name}: {len(texts):,} texts, {sum(map(len, own)):,} pieces, "
            f"{differing} with other ids; "
            f"cosine to the float16 vectors: least {cosines.min():.6f}, mean {cosines.mean():.6f}"
        )
        alone = texts[:SINGLE]
        for what, embed in (("own", model.embed), ("package", original.embed)):
            one = microseconds(embed, [[text] for text in alone])
            batch = microseconds(embed, [texts])
            print(f"  {what:8} {one:7.1f} µs alone, {batch:7.1f} µs in one batch")
    for letters in (1 << 17, 1 << 20):
        long = ["a" * letters]
        print(f"{letters:,} x 'a': {microseconds(model.embed, [long]) / 1e3:.1f} ms")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
