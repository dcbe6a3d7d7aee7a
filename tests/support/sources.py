"""The source of the tested package, parsed once for all tests."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import memstore

SOURCE = Path(memstore.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


@cache
def parsed() -> dict[Path, list[ast.AST]]:
    """Return every node of every file, by the file's path in the package."""
    return {
        file.relative_to(SOURCE): list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        for file in sorted(SOURCE.rglob("*.py"))
    }


def rooms() -> list[str]:
    """Return the folders as the architecture page pictures them, from the top down.

    Those that a program enters only for what they are for, its wings, end with a star.
    """
    return _picture("__main__").split()


def inner_orders() -> dict[str, list[str]]:
    """Return the order inside each folder that has folders, from the top down, as it is pictured.

    ``.`` stands for the folder's own modules. Wings end with a star.
    """
    return {folder: order for folder, *order in map(str.split, _picture("faces ").splitlines())}


def wings() -> set[str]:
    """Return the modules that are wings, such as ``memstore.faces.web``."""
    names = [
        *rooms(),
        *(f"{outer}.{name}" for outer, order in inner_orders().items() for name in order),
    ]
    return {f"memstore.{name[:-1]}" for name in names if name.endswith("*")}


def _picture(beginning: str) -> str:
    found = re.search(rf"```\n({beginning}.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]
