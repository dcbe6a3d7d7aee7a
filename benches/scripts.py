"""What a text costs by its script, beside the same number of bytes of ASCII.

    python -m benches.scripts [WORD …]

Processor time of each step and of a whole `episodes.add` and `add`, as ratios to ASCII, and how
long the write lock was held, in milliseconds. "four times" is how much longer it takes to cut and
to embed four times the text: 4 if the cost is linear. With words: only the texts named by one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median

import memstore
from benches.write_locks import held_locks
from memstore.text import chunks, words

BYTES = 900_000
ROUNDS = 3

TEXTS = {
    "ASCII": "the harbour of Rotterdam is closed today ",
    "ASCII, one dash at its end": "the harbour of Rotterdam is closed today ",
    "Latin with accents": "größe élève déjà vu à Malmö señor ",
    "Cyrillic": "порт Роттердама сегодня закрыт и вот ",
    "Arabic": "الميناء مغلق اليوم ",
    "Chinese and Japanese": "今日は港が閉まっています。鹿特丹港今天关闭",
    "Korean": "오늘 항구가 닫혔습니다 ",
    "Thai": "วันนี้ท่าเรือปิด",
    "emoji": "👨\u200d👩\u200d👧 🎉👍🏽 ❤️ ",
    "Devanagari": "रॉटरडैम का बंदरगाह आज बंद है ",
    "Hebrew with points": "הַנָּמֵל סָגוּר הַיּוֹם ",
    "Khmer": "កំពង់ផែត្រូវបានបិទនៅថ្ងៃនេះ",
    "old scripts": "𐎠𐎡𐎢 𓀀𓀁𓀂 𝔥𝔞𝔯𝔟𝔬𝔲𝔯 ",
    "one letter and its marks": "a\u0301\u0323\u0308",
    "one word": "harbour",
    "digits": "31415926535897932384626433832795",
    "almost white space": " \u3000\t\n" * 200 + "x",
    "Korean, decomposed": unicodedata.normalize("NFD", "오늘 항구가 닫혔습니다 "),
    "Vietnamese, decomposed": unicodedata.normalize("NFD", "cảng hôm nay đóng cửa rồi "),
    "punctuation": "…—»!?«·",
    "a mixture": "港 порт 31 größe الميناء 🎉 port ",
}


def text_of(name: str) -> str:
    some = TEXTS[name]
    text = (some * (BYTES // len(some.encode()) + 1)).encode()[:BYTES].decode(errors="ignore")
    return text[:-1] + "—" if "dash" in name else text


def four_times(text: str) -> float:
    """Return how much longer cutting and embedding take for a text than for a quarter of it."""
    embedder, quarter = memstore.LocalEmbedder(), text[: len(text) // 4]

    def work(some: str) -> Callable[[], object]:
        return lambda: embedder.embed([some[start:stop] for start, stop in chunks.of_episode(some)])

    pairs = [(seconds(work(text)), seconds(work(quarter))) for _ in range(ROUNDS)]
    return median(whole / part for whole, part in pairs)


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measured(text: str, folder: Path, numbers: count[int]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    held: list[float] = []
    for _ in range(ROUNDS):
        given = {
            "segments": lambda: words._segments(text),
            "pieces": lambda: chunks.of_episode(text),
        }
        for name, work in given.items():
            found.setdefault(name, []).append(seconds(work))
        with memstore.open(folder / f"{next(numbers)}.db") as store:
            store.episodes.add("warm", source="bench")
            words._long_segments.cache_clear()
            with held_locks() as locks:
                found.setdefault("episodes.add", []).append(
                    seconds(lambda: store.episodes.add(text, source="bench"))
                )
                words._long_segments.cache_clear()
                found.setdefault("add", []).append(seconds(lambda: store.add(text, subject="s")))
            held.append(1e3 * max(locks))
            found.setdefault("embed_pending", []).append(seconds(store.file.embed_pending))
    return {name: median(each) for name, each in found.items()} | {"lock ms": median(held)}


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args(given).words
    numbers, shown = count(), ("episodes.add", "add", "embed_pending")
    print(f"{'':28}{'segments ms':>13}{'pieces ms':>11}", *(f"{one:>15}" for one in shown), end="")
    print("  lock ms  four times")
    with tempfile.TemporaryDirectory() as folder:
        first = measured(text_of("ASCII"), Path(folder), numbers)
        for name in TEXTS:
            if asked and not any(word in name for word in asked):
                continue
            row = measured(text_of(name), Path(folder), numbers)
            ratios = (f"{row[one] / first[one]:15.2f}" for one in shown)
            steps = f"{1e3 * row['segments']:13.1f}{1e3 * row['pieces']:11.1f}"
            ends = f"{row['lock ms']:9.1f}{four_times(text_of(name)):12.2f}"
            print(f"{name:28}{steps}", *ratios, ends, flush=True)
    print("seconds of ASCII:", {one: round(first[one], 3) for one in shown})


if __name__ == "__main__":
    main()
