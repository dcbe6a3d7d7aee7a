"""The memory that an import needs: a data export of any size, in one line of JSON.

    python -m benches.imports [MEGABYTES]

Writes an export of ChatGPT of that size (500) as one line, plain and in a ZIP archive, checks it
(``dry_run``) and imports it, each in a process of its own, and prints seconds and the peak of the
resident memory, beside that of a process that imports one conversation.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import memstore

MESSAGES = 40
WORDS = "tea shop lyon price order plan week green invoice train letter house river light".split()


def conversations(megabytes: float) -> Iterator[str]:
    chance, size, number = random.Random(7), 0, 0
    while size < megabytes * 1e6:
        mapping, parent = {}, None
        for place in range(MESSAGES):
            node = f"{number}-{place}"
            said = " ".join(chance.choices(WORDS, k=400)) + f" {chance.random()}"
            role = "user" if place % 2 else "assistant"
            mapping[node] = {
                "parent": parent,
                "message": {
                    "id": node,
                    "author": {"role": role},
                    "create_time": 1.7e9 + number,
                    "content": {"content_type": "text", "parts": [said]},
                },
            }
            parent = node
        conversation = {"conversation_id": str(number), "title": f"chat {number}",
                        "current_node": parent, "mapping": mapping}  # fmt: skip
        text = json.dumps(conversation)
        size += len(text)
        number += 1
        yield text


def write(file: Path, megabytes: float) -> None:
    with file.open("w") as opened:
        opened.write("[")
        for number, text in enumerate(conversations(megabytes)):
            opened.write("," * (number > 0) + text)
        opened.write("]")


def one(file: str, how: str) -> None:
    """Check or import a file; print the seconds, the peak in MB and the episodes."""
    with tempfile.TemporaryDirectory() as folder:
        with memstore.open(Path(folder) / "memory.db", embedder=None) as store:
            started = time.perf_counter()
            report = store.transfer.import_from("chatgpt", file, dry_run=how == "check")
            seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{seconds:8.1f} s  {peak:6.0f} MB  {report.episodes} episodes")


def main(megabytes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.json", Path(folder) / "large.json"
        write(small, 0.1)
        write(large, megabytes)
        packed = Path(folder) / "large.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(large, "conversations.json")
        for file, how in ((small, "import"), (large, "check"), (packed, "check"),
                          (large, "import")):  # fmt: skip
            told = f"{file.name} ({file.stat().st_size / 1e6:.0f} MB), {how}"
            print(f"{told:36}", end="", flush=True)
            command = [sys.executable, "-m", "benches.imports", "--one", str(file), how]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 500)
