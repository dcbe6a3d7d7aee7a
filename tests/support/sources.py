"""The source of the tested package, parsed once for all tests."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import memstore

SOURCE = Path(memstore.__file__).parent


@cache
def parsed() -> dict[Path, list[ast.AST]]:
    """Return every node of every file, by the file's path in the package."""
    return {
        file.relative_to(SOURCE): list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        for file in sorted(SOURCE.rglob("*.py"))
    }
