"""Right and wrong supersessions over the labelled pairs, for each policy and embedder.

    python benches/supersession.py

Policies: ``cosine`` retires whatever is near enough, as first documented; ``auto`` wants the words
to bear it out; ``propose`` retires nothing and asks; ``off`` does neither. Of each kind: right
retirements of those that must happen, wrong ones of those that must not, and (for ``propose``) how
many pairs somebody would be asked about. Restatements may go either way.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memstore import LocalEmbedder
from memstore.learn.supersession import SIMILARITY, Verdict, judge

LABELLED = Path(__file__).parent.parent / "tests" / "learn" / "labelled"

Pair = dict[str, Any]
Policy = Callable[[Pair, float], Verdict]


class BagOfWords:
    """Counts words into hashed places: a baseline without a model."""

    model = "bag-of-words"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 2048]``, rows of unit length."""
        found = np.zeros((len(texts), 2048), dtype=np.float32)
        for row, text in zip(found, texts, strict=True):
            for word in text.casefold().replace(",", " ").split():
                row[zlib.crc32(word.encode()) % 2048] += 1
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))[:, None]
        np.divide(found, lengths, out=found, where=lengths > 0)
        return found


def near(pair: Pair, similarity: float) -> Verdict:
    """Retire by cosine alone."""
    return Verdict.RETIRE if similarity >= SIMILARITY else Verdict.KEEP


def with_evidence(pair: Pair, similarity: float) -> Verdict:
    """Supersede if near and supported by the words."""
    return judge(pair["old"], pair["new"], similarity).verdict


def asking(pair: Pair, similarity: float) -> Verdict:
    """Supersede nothing; propose possible supersessions."""
    verdict = with_evidence(pair, similarity)
    return Verdict.KEEP if verdict is Verdict.KEEP else Verdict.PROPOSE


def nothing(pair: Pair, similarity: float) -> Verdict:
    """Do nothing."""
    return Verdict.KEEP


POLICIES: dict[str, Policy] = {
    "cosine": near,
    "auto": with_evidence,
    "propose": asking,
    "off": nothing,
}


def labelled() -> list[Pair]:
    """Return all labelled pairs."""
    return [
        json.loads(line)
        for file in sorted(LABELLED.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def part_of(pair: Pair) -> str:
    """Return the part of a pair; the fresh ones were written after the rules were finished."""
    if pair.get("fresh"):
        return "fresh"
    return "held out" if pair["held_out"] else "tuned"


def similarities(embedder: Any, pairs: Sequence[Pair]) -> list[float]:
    """Return the cosine of each pair's contents, without subjects."""
    old = embedder.embed([pair["old"] for pair in pairs])
    new = embedder.embed([pair["new"] for pair in pairs])
    return [min(1.0, float(cosine)) for cosine in np.einsum("ij,ij->i", old, new)]


def tally(pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> tuple[int, int, int, int, int]:
    """Return right, of how many; wrong, of how many; proposed."""

    def count(label: str, verdict: Verdict) -> int:
        return sum(
            p["label"] == label and v is verdict for p, v in zip(pairs, verdicts, strict=True)
        )

    labels = [pair["label"] for pair in pairs]
    return (
        count("retire", Verdict.RETIRE),
        labels.count("retire"),
        count("keep", Verdict.RETIRE),
        labels.count("keep"),
        sum(v is Verdict.PROPOSE for v in verdicts),
    )


def rows(pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> list[str]:
    """Return one line per kind and one for all."""
    lines = []
    for kind in [*dict.fromkeys(pair["kind"] for pair in pairs), "all"]:
        chosen = [i for i, pair in enumerate(pairs) if kind in (pair["kind"], "all")]
        right, must, wrong, must_not, asked = tally(
            [pairs[i] for i in chosen], [verdicts[i] for i in chosen]
        )
        share = f"{wrong / must_not:6.1%}" if must_not else "      "
        lines.append(
            f"  {kind:12} right {right:3} of {must:3}   wrong {wrong:3} of {must_not:3} {share}"
            f"   asked {asked:3} of {len(chosen):3}"
        )
    return lines


def main() -> int:
    """Print the tables."""
    pairs = labelled()
    for embedder in (LocalEmbedder(), BagOfWords()):
        cosines = similarities(embedder, pairs)
        for name, policy in POLICIES.items():
            for part in ("tuned", "held out", "fresh"):
                chosen = [i for i, pair in enumerate(pairs) if part_of(pair) == part]
                print(f"{embedder.model} · {name} · {part}")
                verdicts = [policy(pairs[i], cosines[i]) for i in chosen]
                print(*rows([pairs[i] for i in chosen], verdicts), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
