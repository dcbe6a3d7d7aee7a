"""What a text costs by its script, beside the same number of bytes of ASCII.

    python -m benches.scripts

Processor time of each step and of a whole `episodes.add` and `add`, as ratios to ASCII, and how
long the write lock was held, in milliseconds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
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
}


def text_of(name: str) -> str:
    some = TEXTS[name]
    text = (some * (BYTES // len(some.encode()) + 1)).encode()[:BYTES].decode(errors="ignore")
    return text[:-1] + "—" if "dash" in name else text


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


def main() -> None:
    numbers = count()
    with tempfile.TemporaryDirectory() as folder:
        rows = {name: measured(text_of(name), Path(folder), numbers) for name in TEXTS}
    first = rows["ASCII"]
    shown = ("episodes.add", "add", "embed_pending")
    print(
        f"{'':28}{'segments ms':>13}{'pieces ms':>11}",
        *(f"{one:>15}" for one in shown),
        "  lock ms",
    )
    for name, row in rows.items():
        ratios = (f"{row[one] / first[one]:15.2f}" for one in shown)
        steps = f"{1e3 * row['segments']:13.1f}{1e3 * row['pieces']:11.1f}"
        print(f"{name:28}{steps}", *ratios, f"{row['lock ms']:9.1f}")
    print("seconds of ASCII:", {one: round(first[one], 3) for one in shown})


if __name__ == "__main__":
    main()
