"""Edits of JSON with comments: only the given member changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.faces.hosts import jsonc, toml

SETTINGS = """\
{
  // mine
  "theme": "dark", // nice
  "mcpServers": {
    "other": {"command": "x"} /* why */
  },
  "list": [1, 2 /* two */, 3],
}
"""


def test_a_member_is_added_next_to_its_siblings() -> None:
    assert jsonc.put(SETTINGS, ["mcpServers", "ours"], {"a": [1]}) == SETTINGS.replace(
        '"other": {"command": "x"} /* why */\n',
        '"other": {"command": "x"}, /* why */\n'
        '    "ours": {\n      "a": [\n        1\n      ]\n    }\n',
    )
    assert jsonc.put(SETTINGS, ["new"], None) == SETTINGS.replace("3],\n", '3],\n  "new": null,\n')


def test_a_member_is_replaced_and_removed() -> None:
    assert jsonc.put(SETTINGS, ["theme"], "light") == SETTINGS.replace('"dark"', '"light"')
    assert jsonc.cut(SETTINGS, ["theme"]) == SETTINGS.replace('  "theme": "dark",', "").replace(
        "// mine\n // nice", "// mine // nice"
    )
    assert jsonc.cut(SETTINGS, ["list", 2]) == SETTINGS.replace("/* two */, 3", "/* two */ ")
    assert jsonc.cut(SETTINGS, ["mcpServers", "other"]) == SETTINGS.replace(
        '{\n    "other": {"command": "x"} /* why */', "{ /* why */"
    )


def test_line_endings_and_indentation_of_the_file_are_kept() -> None:
    given = '{\r\n\t"a": 1\r\n}\r\n'
    added = jsonc.put(given, ["b"], {"c": 2})
    assert added == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'
    assert jsonc.cut(added, ["b"]) == given


def test_an_empty_file_becomes_an_object() -> None:
    assert jsonc.put("", ["a", "b"], 1) == '{\n  "a": {\n    "b": 1\n  }\n}\n'
    assert jsonc.append("\n", ["a"], 1).split() == ["{", '"a":', "[", "1", "]", "}"]


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"a": 1', 1), ('{\n"a" 1}', 2), ('{"a": nothing}', 1), ("{}\n{}", 2), ('{"a": "x\n"}', 1)],
)
def test_unreadable_text_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"at line {line}"):
        jsonc.put(text, ["b"], 1)


def test_existing_value_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="theme is not an object"):
        jsonc.put(SETTINGS, ["theme", "a"], 1)
    with pytest.raises(ValueError, match="theme is not an array"):
        jsonc.append(SETTINGS, ["theme"], 1)


KEYS = st.text(min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(OBJECTS, KEYS, KEYS, VALUES, st.sampled_from([None, 2, "\t"]))
def test_edited_text_equals_the_edited_value(
    held: dict[str, Any], first: str, second: str, value: Any, indent: int | str | None
) -> None:
    text = json.dumps(held, indent=indent)
    held = {**held, first: {} if not isinstance(held.get(first), dict) else held[first]}
    text = jsonc.put(text, [first], held[first])
    added = jsonc.put(text, [first, second], value)
    assert json.loads(added) == {**held, first: {**held[first], second: value}}
    assert json.loads(jsonc.cut(added, [first])) == {
        key: inner for key, inner in held.items() if key != first
    }
    if second not in held[first]:
        assert json.loads(jsonc.cut(added, [first, second])) == held


@given(OBJECTS, KEYS, st.lists(VALUES, max_size=3), VALUES, st.sampled_from([None, 2]))
def test_an_array_grows_and_shrinks(
    held: dict[str, Any], key: str, items: list[Any], value: Any, indent: int | None
) -> None:
    text = json.dumps({**held, key: items}, indent=indent)
    grown = jsonc.append(text, [key], value)
    assert json.loads(grown)[key] == [*items, value]
    for place in range(len(items) + 1):
        shrunk = json.loads(jsonc.cut(grown, [key, place]))
        assert shrunk[key] == [
            *items[:place],
            *items[place + 1 :],
            *([value] * (place < len(items))),
        ]


def test_toml_keeps_comments_and_order() -> None:
    text = '# mine\nmodel = "x" # nice\n\n[servers.other]\na = 1\n\n[tui]\nb = 2\n'
    added = toml.put(text, ["servers", "ours"], {"command": "c", "args": ["d"]})
    assert toml.value_at(added, ["servers", "ours"]) == {"command": "c", "args": ["d"]}
    assert added.replace('[servers.ours]\ncommand = "c"\nargs = ["d"]\n\n', "") == text
    assert toml.cut(added, ["servers", "ours"]) == text
    assert toml.put(added, ["model"], "y") == added.replace('"x"', '"y"')
    with pytest.raises(ValueError, match="cannot be read"):
        toml.put("a = ", ["b"], 1)
