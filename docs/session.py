"""Draws ``session.svg``, the picture in the README, from a real session: python docs/session.py."""

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


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "MEMSTORE_DB": str(Path(folder, "memory.db")),
            "FORCE_COLOR": "1",
            "COLUMNS": str(WIDTH),
        }
        for line in SESSION:
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
    Path(__file__).with_name("session.svg").write_text(own_fonts, encoding="utf-8")


if __name__ == "__main__":
    main()
