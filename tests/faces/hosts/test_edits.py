"""Edits of settings texts: only ours change, and undoing them restores every character."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.faces.hosts import edits, jsonc
from memstore.faces.hosts.edits import ChangedFile, Edit
from memstore.faces.hosts.files import SettingsUnreadable

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
SERVER = {"command": "/x y/m", "args": ["--n", "auto"], "env": {"A B": "é"}, "required": True}
HOOKS = [{"hooks": [{"command": "m", "timeout": 3}]}, {"hooks": [{"command": "n"}]}]
JSON = Path("settings.json")
TOML = Path("config.toml")
PUT_JSON = [
    Edit(("version",), 1, "require"),
    Edit(("mcpServers", "memstore"), SERVER),
    Edit(("hooks", "SessionStart"), HOOKS[0], "append"),
    Edit(("hooks", "SessionEnd"), HOOKS[1], "append"),
]
PUT_TOML = [Edit(("mcp_servers", "memstore"), SERVER)]


def test_a_member_is_added_next_to_its_siblings() -> None:
    text, _ = jsonc.put(SETTINGS, ["mcpServers", "ours"], {"a": [1]})
    assert text == SETTINGS.replace(
        '{"command": "x"} /* why */\n',
        '{"command": "x"}, /* why */\n    "ours": {\n      "a": [\n        1\n      ]\n    }\n',
    )
    assert jsonc.put(SETTINGS, ["new"], None)[0] == SETTINGS.replace("],\n", '],\n  "new": null,\n')
    assert jsonc.put(SETTINGS, ["theme"], "light")[0] == SETTINGS.replace('"dark"', '"light"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"version":1,"a":{}}', '{"version":1,"a":{},"b":{"c":[1]}}'),
        ('{"version": 1 }\n', '{"version": 1, "b": {"c": [1]} }\n'),
        ('{\r\n\t"a": 1\r\n}\r\n', '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": '
         "[\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n"),
        ("", '{\n  "b": {\n    "c": [\n      1\n    ]\n  }\n}\n'),
    ],
)  # fmt: skip
def test_new_members_are_written_like_their_neighbours(before: str, after: str) -> None:
    text, placed = jsonc.put(before, ["b"], {"c": [1]})
    assert text == after
    assert jsonc.without(text, ["b"], {"c": [1]}, placed) == before


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"a": 1', 1), ('{\n"a" 1}', 2), ('{"a": nothing}', 1), ("{}\n{}", 2), ('{"a": "x\n"}', 1)],
)
def test_unreadable_text_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"at line {line}"):
        jsonc.value(text)


def test_deeply_nested_text_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        jsonc.value('{"a":' + "[" * 50_000 + "]" * 50_000 + "}")


def test_value_of_another_kind_is_not_overwritten() -> None:
    with pytest.raises(ValueError, match="theme is not an object"):
        jsonc.put(SETTINGS, ["theme", "a"], 1)
    with pytest.raises(ValueError, match="theme is not an array"):
        jsonc.put(SETTINGS, ["theme"], 1, element=True)


def test_objects_of_the_user_stay_when_empty() -> None:
    text = '{"mcpServers": {}, "hooks": {"SessionStart": []}}'
    new, made = edits.edited(JSON, text, PUT_JSON[1:])
    assert edits.undone(ChangedFile("a.json", [made]), f"// theirs\n{new}") == f"// theirs\n{text}"


def test_required_version_stays_while_others_need_it() -> None:
    new, made = edits.edited(JSON, "", PUT_JSON)
    theirs, _ = jsonc.put(new, ["hooks", "stop"], {"command": "theirs"}, element=True)
    left = edits.undone(ChangedFile("a.json", [made], created=True), theirs)
    assert left is not None
    assert jsonc.value(left) == {"version": 1, "hooks": {"stop": [{"command": "theirs"}]}}
    assert edits.undone(ChangedFile("a.json", [made], created=True), new) is None


def test_table_between_servers_is_no_obstacle() -> None:
    text = '[mcp_servers.a]\ncommand = "x"\n\n[projects."/u"]\nt = 1\n\n[mcp_servers.b]\n'
    new, made = edits.edited(TOML, text, PUT_TOML)
    assert new.startswith(text)
    assert tomllib.loads(new)["mcp_servers"]["memstore"] == SERVER
    theirs = f"{new}\n# above theirs\n[projects.z]\nt = 2\n"
    left = edits.undone(ChangedFile("c.toml", [made]), theirs)
    assert left == f"{text}\n# above theirs\n[projects.z]\nt = 2\n"


def test_table_of_the_same_name_is_replaced_and_returns() -> None:
    text = '[mcp_servers.memstore]\na = 1 # x\n[mcp_servers.memstore.env]\nB = "c"\n\n# up\n[z]\n'
    new, made = edits.edited(TOML, text, PUT_TOML)
    assert new.endswith("\n\n# up\n[z]\n")
    assert edits.undone(ChangedFile("c.toml", [made]), new + "y = 1\n") == text + "y = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        'mcp_servers = "x"',
        "mcp_servers = { a = {} }",
        "[mcp_servers]\nmemstore = { a = 1 }",
    ],
)
def test_toml_that_cannot_take_a_table_is_refused(text: str) -> None:
    with pytest.raises(SettingsUnreadable, match=r"config\.toml"):
        edits.edited(TOML, text, PUT_TOML)


# -- properties ----------------------------------------------------------------------------------

LINE_ENDS = st.sampled_from(["\n", "\r\n"])
NAMES = st.sampled_from(["a", "b c", "mcpServers", "hooks", "SessionStart", "memstore", "version"])
BLANKS = st.sampled_from(["", "", " ", "\n", "\n\n  ", "\t", " // c, }\n", "/* ] */", "\n// [\n  "])
LEAVES = st.sampled_from(["1", "1.50", "true", "null", '"x"', '"// no\\" }"', '"é\\ud800"', "[]"])


@st.composite
def containers(draw: st.DrawFn, inner: st.SearchStrategy[str], kind: str) -> str:
    """Return an object or an array with blanks and comments anywhere."""
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    blank = lambda: draw(BLANKS)  # noqa: E731
    members = [
        blank() + (f'"{name}"{blank()}:{blank()}' if kind == "{" else "") + draw(inner) + blank()
        for name in names
    ]
    comma = "," + blank() if members and draw(st.booleans()) else ""
    return kind + (",".join(members) or blank()) + comma + ("}" if kind == "{" else "]")


JSON_VALUES = st.recursive(
    LEAVES,
    lambda inner: containers(inner, "{") | containers(inner, "["),
    max_leaves=12,
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(BLANKS)
    if draw(st.integers(0, 9)):
        text += draw(containers(JSON_VALUES, "{")) + draw(BLANKS)
    return text.replace("\n", draw(LINE_ENDS))


HEADS = (
    "[mcp_servers]",
    "[mcp_servers.a]",
    "[mcp_servers.b]",
    "[mcp_servers.a.env]",
    "[mcp_servers.memstore]",
    "[mcp_servers.memstore.env]",
    "[[profiles]]",
    "[other.sub]",
    '[mcp_servers."q ]"]',
    "[projects.'/home/u']",
)
LINES = (
    'k{n} = "v" # c',
    "k{n} = {{ a = 1, b = [1, nan] }}",
    "k{n}.s = true",
    "# comment {n}",
    'k{n} = """x\n[y]\n# z\\"""" # c',
    "k{n} = '''[\n'''",
    "k{n} = [ # [\n  1,\n  [2],\n]",
    "",
    "  k{n} = 1979-05-27",
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    lines: list[str] = []
    for head in ["", *draw(st.lists(st.sampled_from(HEADS), unique=True, max_size=6))]:
        lines += draw(st.sampled_from([[], ["# above"], [""], ["", "# above", "# this"]]))
        lines += [draw(st.sampled_from(["", "  "])) + head + draw(st.sampled_from(["", " # b"]))]
        some = draw(st.lists(st.sampled_from(LINES), max_size=3))
        lines += [line.format(n=f"{len(lines)}_{n}") for n, line in enumerate(some)]
    text = draw(st.sampled_from(["", "\ufeff"])) + "\n".join(lines)
    text += draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", draw(LINE_ENDS))


def installed(file: Path, text: str, wanted: list[Edit]) -> tuple[str, ChangedFile] | None:
    """Return a text after two installations, the second with other values; or it is refused."""
    try:
        first, made = edits.edited(file, text, wanted)
    except SettingsUnreadable:
        return None
    base = edits.undone(ChangedFile(str(file), [made]), first)
    assert base == text
    other = [
        Edit(e.path, {**e.value, "x": "y"} if isinstance(e.value, dict) else e.value, e.how)
        for e in wanted
    ]
    second, again = edits.edited(file, base, other)
    # As after a kill: the record has both, and the file is the one or the other.
    changed = ChangedFile(str(file), [again, made])
    assert edits.undone(changed, first) == text
    assert edits.undone(changed, second) == text
    return second, ChangedFile(str(file), [again])


@given(json_texts())
def test_json_is_as_it_was_after_two_installations(text: str) -> None:
    done = installed(JSON, text, PUT_JSON)
    if done is not None and jsonc.value(text) is not None:
        assert edits.undone(done[1], f"{done[0]}\n// theirs") == f"{text}\n// theirs"


@given(json_texts(), st.sampled_from([(), ("mcpServers",), ("hooks",)]))
def test_json_keeps_what_was_added_since(text: str, place: tuple[str, ...]) -> None:
    done = installed(JSON, text, PUT_JSON)
    if done is None:
        return
    theirs, _ = jsonc.put(done[0], [*place, "theirs"], {"of": "them"})
    left = edits.undone(done[1], theirs)
    assert left is not None
    wanted: Any = jsonc.value(jsonc.put(text, [*place, "theirs"], {"of": "them"})[0])
    wanted.setdefault("version", 1)  # theirs may need it
    found: Any = jsonc.value(left)
    found.setdefault("version", 1)
    assert found == wanted
    if jsonc.value(text):
        without_blanks = "".join(left.split())
        assert all("".join(word) in without_blanks for word in text.split() if "//" in word)


@given(toml_texts(), st.sampled_from(["[zz]\nq = 1\n", "# theirs\n", "\n# up\n[zz.y]\nq = 1"]))
def test_toml_is_as_it_was_whatever_was_appended(text: str, theirs: str) -> None:
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return
    done = installed(TOML, text, PUT_TOML)
    if done is None:
        assert "mcp_servers" in text
        return
    assert edits.undone(done[1], done[0]) == text
    if not done[0].endswith("\n"):
        theirs = "\n" + theirs
    left = edits.undone(done[1], done[0] + theirs)
    assert left in (text + theirs, f"{text}\n{theirs}", f"{text}\r\n{theirs}")
