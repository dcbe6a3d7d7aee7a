"""Draws ``session.svg``, the moving picture in the README, from a real session.

Run ``python docs/session.py``. Each command is typed, and its answer appears, by the picture's own
CSS; then it begins again. Where motion is not wanted, all of it is there from the beginning.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 92
ALICE = "--subject alice --category identity"
SESSION = (
    f'memstore add "Alice lives in Berlin" {ALICE}',
    f'memstore add "Alice moved to Lisbon" {ALICE} --supersedes 1',
    "memstore search where does Alice live",
    "memstore history --subject alice",
    "memstore hook SessionStart    # what the agent's next session begins with",
)


TYPING_SECONDS, READING_SECONDS, END_SECONDS = 1.2, 2.4, 6.0
LINE = re.compile(r'<text [^>]*clip-path="url\(#session-line-(\d+)\)">.*?</text>')
BACKGROUND = "#292929"


def main() -> None:
    begins: list[int] = []
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "MEMSTORE_DB": str(Path(folder, "memory.db")),
            "FORCE_COLOR": "1",
            "COLUMNS": str(WIDTH),
        }
        for line in SESSION:
            begins.append(len(console.export_text(clear=False).splitlines()))
            console.print(Text(f"$ {line}", style="bold"))
            done = subprocess.run(  # noqa: S603 - the lines above
                [sys.executable, "-m", *shlex.split(line, comments=True)],
                input="{}",
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=True,
            )
            told = done.stdout
            if " hook " in line:
                told = json.loads(told)["hookSpecificOutput"]["additionalContext"]
            console.print(Text.from_ansi(told.rstrip("\n")))
            console.print()
    drawn = console.export_svg(title="memstore", unique_id="session")
    own_fonts = re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL)
    Path(__file__).with_name("session.svg").write_text(moving(own_fonts, begins), encoding="utf-8")


def moving(drawn: str, begins: list[int]) -> str:
    """Let the lines of a picture appear; each of those in ``begins`` is a command that is typed."""
    step = TYPING_SECONDS + READING_SECONDS
    whole = step * len(begins) + END_SECONDS
    rules = [
        ".cover { visibility: hidden }",
        "@media (prefers-reduced-motion: no-preference) {",
        ".cover { visibility: visible }",
    ]
    for number in range(len(begins)):
        typed, shown = (100 * (step * number + after) / whole for after in (0, TYPING_SECONDS))
        rules += [
            f"@keyframes asked-{number} {{ 0%, {typed:.2f}% {{ opacity: 0 }}"
            f" {typed + 0.01:.2f}%, 100% {{ opacity: 1 }} }}",
            f"@keyframes typed-{number} {{ 0%, {typed:.2f}% {{ transform: none }}"
            f" {shown:.2f}%, 100% {{ transform: translateX(100%) }} }}",
            f"@keyframes answered-{number} {{ 0%, {shown:.2f}% {{ opacity: 0 }}"
            f" {shown + 0.01:.2f}%, 100% {{ opacity: 1 }} }}",
            f".asked-{number} {{ animation: asked-{number} {whole}s linear infinite }}",
            f".typed-{number} {{ animation: typed-{number} {whole}s steps(60) infinite }}",
            f".answered-{number} {{ animation: answered-{number} {whole}s linear infinite }}",
        ]
    drawn = drawn.replace("</style>", "\n".join([*rules, "}\n    </style>"]), 1)
    return LINE.sub(lambda found: _appearing(found, begins), drawn)


def _appearing(found: re.Match[str], begins: list[int]) -> str:
    line = int(found[1])
    number = sum(line >= first for first in begins) - 1
    if line != begins[number]:
        return f'<g class="answered-{number}">{found[0]}</g>'
    cover = (
        f'<g clip-path="url(#session-line-{line})"><rect class="cover typed-{number}" x="0" '
        f'y="{24.4 * line:.1f}" width="1122.4" height="26" fill="{BACKGROUND}"/></g>'
    )
    return f'<g class="asked-{number}">{found[0]}{cover}</g>'


if __name__ == "__main__":
    main()
