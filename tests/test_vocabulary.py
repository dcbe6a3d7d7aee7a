"""One word for each idea: names do not use the words that others have replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.sources import SOURCE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

INSTEAD = {
    # as a whole name; as part of one, a verb may be right: `is_held`
    "asked": "what was asked for: a request, a question, a call",
    "beside": "what is beside: precedence, shared, hits, neighbours",
    "held": "what is held: stored, known, kept",
    "made": "what was made: an embedder, a row, an edit",
    "told": "what is told: a text, a record, changes",
    "why": "reason; evidence in the journal; words_only for a search",
    # as part of a name
    "_across_": "any_subject",
    "_embedded_model_": "built_in_model",
    "_static_model_": "built_in_model",
    "_satellite_": "dependents",
    "_second_stage_": "contextual",
    "_unlearnt_": "not_learned",
    # as the beginning of a constant
    "LARGEST_": "MAX_",
    "LEAST_": "MIN_",
    "LONGEST_": "MAX_",
    "MOST_": "MAX_",
    "SHORTEST_": "MIN_",
    "SMALLEST_": "MIN_",
}
"""Words that no name uses any more, and what to use instead."""

ALLOWED = {
    ("faces/hosts/edits.py", "beside"): "a member of setup.json",
    ("database/tables/readings.py", "asked"): "a column",
    ("faces/mcp/facts.py", "why"): "an argument of a tool",
}

PARAMETERS = frozenset({"asked"})
"""What a function calls the question that it is to answer."""


class Name(NamedTuple):
    text: str
    line: int


def names_in_python(text: str) -> Iterator[Name]:
    """Yield what a module defines: functions, parameters, classes, constants and attributes."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield Name(node.name, node.lineno)
            case ast.arg() if node.arg not in PARAMETERS:
                yield Name(node.arg, node.lineno)
            case ast.Attribute(ctx=ast.Store()):
                yield Name(node.attr, node.lineno)
    for body in (tree.body, *(n.body for n in ast.walk(tree) if isinstance(n, ast.ClassDef))):
        for node in body:
            match node:
                case ast.Assign():
                    targets = node.targets
                case ast.AnnAssign():
                    targets = [node.target]
                case _:
                    targets = []
            yield from (Name(one.id, node.lineno) for one in targets if isinstance(one, ast.Name))


NO_NAMES = re.compile(r"//[^\n]*|'(?:\\.|[^'\\])'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""Comments, characters and strings of Rust."""

ITEM = re.compile(
    r"\b(?:const|enum|fn|macro_rules!|mod|static|struct|trait|type)\s+(?:mut\s+)?([A-Za-z_]\w*)"
)
FIELD = re.compile(
    r"(?:^|[(,|{])\s*(?:pub(?:\(\w+\))?\s+)?(?:mut\s+)?([a-z_]\w*)\s*:(?!:)", re.MULTILINE
)


def names_in_rust(text: str) -> Iterator[Name]:
    """Yield what a file defines: items, constants, fields and parameters; not every variable."""
    code = NO_NAMES.sub(lambda found: "\n" * found[0].count("\n"), text)
    for pattern in (ITEM, FIELD):
        for found in pattern.finditer(code):
            yield Name(found[1], code.count("\n", 0, found.start(1)) + 1)


READERS: dict[str, tuple[Path, Callable[[str], Iterator[Name]]]] = {
    ".py": (SOURCE, names_in_python),
    ".pyi": (SOURCE, names_in_python),
    ".rs": (ROOT / "rust", names_in_rust),
}
"""Where the files of a suffix are, and how to read their names."""


def dropped(name: str) -> str | None:
    """Return the word of a name that is not used any more."""
    bare = name.strip("_")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
    for word in INSTEAD:
        whole = word == words
        part = word.startswith("_") and word in f"_{words}_"
        begins = word.isupper() and bare.isupper() and f"{bare}_".startswith(word)
        if whole or part or begins:
            return word
    return None


@pytest.mark.parametrize("suffix", READERS)
def test_names_use_the_words_of_the_vocabulary(suffix: str) -> None:
    folder, read = READERS[suffix]
    files = sorted(folder.rglob(f"*{suffix}"))
    assert files
    wrong = {
        f"{place}:{name.line}: {name.text} ({INSTEAD[word]})"
        for file in files
        for place in [file.relative_to(folder).as_posix()]
        for name in (Name(file.stem, 0), *read(file.read_text(encoding="utf-8")))
        if (word := dropped(name.text)) and (place, name.text) not in ALLOWED
    }
    assert sorted(wrong) == []


@pytest.mark.parametrize(
    ("name", "word"),
    {
        "MOST_FILES": "MOST_",
        "_LONGEST": "LONGEST_",
        "EmbeddedModel": "_embedded_model_",
        "_told": "told",
        "unlearnt": "_unlearnt_",
        "is_held": None,
        "most_used": None,
        "ALMOST_FULL": None,
        "acrosstic": None,
    }.items(),
)
def test_a_dropped_word_is_found_in_a_name(name: str, word: str | None) -> None:
    assert dropped(name) == word


def test_the_names_of_a_rust_file_are_read() -> None:
    text = """
        pub(crate) const MOST: usize = 1 << 4; // const COMMENT: u8
        static TABLE: &str = "fn string(x: u8)
            struct line";
        impl<'a> Thing<'a> {
            pub fn walk(&self, held: &'a [u8], (text, bound): (&str, u8)) -> Option<u8> {
                self::other(if held[0] == b'"' { "mod a" } else { "mod b" })
            }
        }
        pub struct Thing<'a> { pub asked: &'a str, rows: u64 }
        mod told;
    """
    names = {name.text: name.line for name in names_in_rust(text)}
    assert names == {
        "MOST": 2, "TABLE": 3, "walk": 6, "held": 6,
        "Thing": 10, "asked": 10, "rows": 10, "told": 11,
    }  # fmt: skip


def test_every_word_of_the_table_is_used() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Vocabulary")[2].partition("\n## ")[0]
    words = re.findall(r"^\| ([\w ]+?) \|", table, re.MULTILINE)[1:]
    assert words
    texts = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert [one for one in words if not re.search(rf"\b{one}", texts, re.IGNORECASE)] == []
    assert [one for one in words if dropped(one.replace(" ", "_"))] == []
