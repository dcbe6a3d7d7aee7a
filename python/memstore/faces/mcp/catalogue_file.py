"""Writes ``catalogue.json``, as ``python -m memstore.faces.mcp.catalogue_file``."""

from __future__ import annotations

import json
from pathlib import Path

from memstore.faces.mcp import tools
from memstore.faces.mcp.catalogue import FILE


def text() -> str:
    """Return the contents of the file: one line per tool, so that diffs are readable."""
    made = tools.declared()
    sets = ",\n".join(
        f"{json.dumps(name)}: [\n" + ",\n".join(map(_line, declared)) + "\n]"
        for name, declared in made["sets"].items()
    )
    teaching = ",\n".join(map(_line, made["teaching"]))
    return f'{{"teaching": [\n{teaching}\n],\n"sets": {{\n{sets}\n}}}}\n'


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    Path(FILE).write_text(text(), encoding="utf-8")
