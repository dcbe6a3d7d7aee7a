"""The errors: one tree, as the docstring draws it, and remedies that are sentences."""

from __future__ import annotations

import re

import memstore
from memstore import errors
from memstore.errors import Explained, Remedy


def drawn() -> dict[str, str]:
    """Return the classes that the docstring draws, each with the one above it."""
    above: dict[int, str] = {}
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│ ]*(?:[├└]── )?)([A-Z]\w+)(?: |$)", line)
        if match is None or match[2] not in vars(errors):
            continue
        depth = len(match[1]) // 4
        above[depth] = match[2]
        found[match[2]] = above[depth - 1] if depth else ""
    return found


def test_the_tree_is_drawn_as_it_is() -> None:
    classes = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert drawn() == {
        name: next((base.__name__ for base in kind.__bases__ if base.__name__ in classes), "")
        for name, kind in classes.items()
    }
    assert all(issubclass(kind, Explained) for kind in classes.values())
    assert {*classes} <= {*memstore.__all__} | {"ReplyError"}


def test_a_remedy_is_its_sentence() -> None:
    assert str(Remedy.RETRY) == f"{Remedy.RETRY}" == Remedy.RETRY.value
    assert all(re.search(r"[.]$", str(one)) for one in Remedy)
