"""Reading a model's reply: strict JSON, documented fallbacks, and no guessing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.errors import GeneratorError, ReplyError
from memstore.prompting.reply import CUT, parse_array, parse_list, parse_object

FACTS = [
    {"content": "Uses [brackets] and {braces}", "subject": "ann", "tags": ["a", ["b"]]},
    {"content": 'Says "```" and "]"', "subject": "ben", "tags": []},
]
ARRAY = json.dumps(FACTS)
OBJECT = json.dumps({"facts": FACTS, "note": "a ] and a } inside"})
FENCED = f"```json\n{ARRAY}\n```"

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "reply",
    [
        ARRAY,
        f"  \n{ARRAY}\n",
        f"\ufeff{ARRAY}",
        json.dumps(FACTS, indent=2),
        FENCED,
        f"```\n{ARRAY}\n```",
        f"Sure! Here are the facts:\n\n{FENCED}\n\nAnything else?",
        f"Here you are: {ARRAY} I hope it helps.",
        f"```json\n{ARRAY}",
        f"```python\nprint(1)\n```\nand\n{FENCED}",
        f"{FENCED}\nAgain, the same:\n{FENCED}",
        f"The facts [as you asked], with their {{subjects}}: {ARRAY}",
        f"From messages [1] and [2, 3]: {ARRAY} [end]",
        f"{ARRAY} I left out [see above] the rest.",
        f"{ARRAY} Again: {ARRAY}",
        f"<think>Perhaps [] or {{}}? No: [{{</think>\n\n{ARRAY}",
        f"<think>One.</think><thinking>[2]</thinking>Here [they] are: {ARRAY}",
        f"<think>\n```json\n[]\n```\n</think>\n{FENCED}",
        f"The template opened the thoughts: []\n</think>\n{ARRAY}",
    ],
)
def test_an_array_is_read_from_every_documented_form(reply: str) -> None:
    assert parse_array(reply) == FACTS


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "As you wish: {} Done."])
def test_an_object_is_read_from_every_documented_form(form: str) -> None:
    assert parse_object(form.replace("{}", OBJECT)) == json.loads(OBJECT)


@given(st.lists(JSON_VALUES), st.booleans())
def test_any_serialized_json_is_read_back(value: list[object], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_array(text) == value
    assert parse_array(f"```json\n{text}\n```") == value


@pytest.mark.parametrize(
    ("parse", "reply", "whole"),
    [
        (parse_array, ARRAY, FACTS),
        (parse_array, FENCED, FACTS),
        (parse_array, f"Here: {ARRAY}\nThat was all.", FACTS),
        (parse_array, f"See [1] and [this]: {ARRAY}\nThat [2] was all.", FACTS),
        (parse_array, f"<think>[{{}}] or {OBJECT}?</think>\n{ARRAY}", FACTS),
        (parse_object, OBJECT, json.loads(OBJECT)),
        (parse_object, f"```json\n{OBJECT}\n```", json.loads(OBJECT)),
        (parse_object, f"Here: {OBJECT}\nThat was all.", json.loads(OBJECT)),
    ],
)
def test_truncated_reply_is_complete_or_an_error(
    parse: Callable[[str], object], reply: str, whole: object
) -> None:
    data = reply.encode()
    for end in range(len(data)):
        try:
            found = parse(data[:end].decode(errors="ignore"))
        except ReplyError:
            continue
        assert found == whole


WHOLE = json.dumps({"facts": [{"n": 1, "is": True}, {"n": 22, "t": 'a "b" é \\'}, {"n": [3]}]})


@pytest.mark.parametrize(
    "before", ["", "Here [1] you are:\n", "<think>[{]</think>\n", "```json\n", "So [sic] {x}: "]
)
def test_list_that_breaks_off_is_read_up_to_its_last_whole_entry(before: str) -> None:
    entries = json.loads(WHOLE)["facts"]
    for length in range(len(WHOLE)):
        cut = before + WHOLE[:length]
        with pytest.raises(ReplyError):
            parse_list(cut, "facts")
        try:
            found = parse_list(cut, "facts", may_break_off=True)
        except ReplyError:
            assert '"n": 1, "is": true}' not in cut
            continue
        whole = found[:-1] if found[-1] == CUT else found
        assert whole == entries[: len(whole)]
        assert found[-1] == CUT or length == len(WHOLE) - 1
    assert len(whole) == 3


@pytest.mark.parametrize(
    "reply",
    [
        '{"facts": [',
        '{"facts": [{"a": 1',
        '{"facts": [{"a": 1}, {"b": 2}; {"c"',
        '{"facts": [{"a": 1}, 5, {"b"',
        '{"facts": [{"a": 1} {"b": ',
        '{"facts": [{"a": NaN}, {"b": ',
        '{"facts": [{"a": 1, "a": 2}, {"b": ',
        '{"facts": [{"a": 1}], "more": [',
        '{"note": 1, "facts": [{"a": 1}, {"b',
        '[{"a": 1}] {"facts": [{"a": 1}, {"b',
        '{"facts": [{"a": 1}, {"b": 2}]} {"facts": [{"a": 1}, {"b',
        '<think>{"facts": [{"a": 1}, {"b": 2',
        '{"other": [{"a": 1}, {"b',
        '{"facts": [{"a": 1}, {"b": x, "c": 3',
        "",
    ],
)
def test_list_that_is_broken_otherwise_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError):
        parse_list(reply, "facts", may_break_off=True)


@pytest.mark.parametrize(
    "thoughts",
    [
        "<think>[{</think>",
        "Okay.\n<think>[{</think>\n",
        "<THINK>[{</THINK>\n",
        "<reasoning>[]\n[1, 2] {\n</reasoning>\n",
        "[thinking] so [{ [/thinking]\n",
        "<think>one [</think> <thought>two {</thought>\n",
    ],
)
def test_thoughts_in_tags_or_brackets_are_left_out(thoughts: str) -> None:
    assert parse_array(thoughts + ARRAY) == FACTS
    assert parse_array(f"{thoughts}```json\n{ARRAY}\n```") == FACTS


def test_thoughts_quoted_in_a_text_stay() -> None:
    value = [{"content": "<think>x</think> and [think]y[/think]"}]
    assert parse_array(json.dumps(value)) == value
    assert parse_array("Here: " + json.dumps(value)) == value
    assert parse_array("Here:\n" + json.dumps(value, indent=1)) == value


def test_array_inside_a_truncated_object_is_not_used() -> None:
    with pytest.raises(ReplyError, match="ends before"):
        parse_array('{"facts": [{"content": "x"}]')


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("I found nothing worth keeping.", "no usable JSON array"),
        ("{}", "JSON object"),
        ('{"error": "overloaded", "facts": []}', "JSON object"),
        ('"[1]"', "JSON text"),
        ("null", "JSON null"),
        ("true", "JSON boolean"),
        ("3.5", "JSON number"),
        ("[1] or [2]", "no usable"),
        ("```\n[1]\n```\n```\n[2]\n```", "2 that differ"),
        ("[1, 2,]", "no usable"),
        ("['a']", "no usable"),
        ('[{"a": 1}] // comment', None),
        ("As [1] says,", "no usable"),
        ('{"facts": []} and [{"a": 1}]', "no usable"),
        ('[] or [{"a": 1}]', "2 that differ"),
        ("[see {'facts': [{\"a\": 1}]}", "no usable"),
        ("{'facts': [{\"a\": 1}]}", "no usable"),
        ('[{"a": 1}] and then [{"b": ', "no usable"),
        ('<think>Perhaps [{"a": 1}]', "no usable"),
        ('<think>Perhaps [{"a": 1}]</think>', "no usable"),
        ("[NaN]", "NaN"),
        ("[Infinity, 1]", "Infinity"),
        ("[-Infinity]", "Infinity"),
        ("[1e999]", "too large"),
        ('[{"a": 1, "a": 2}]', "'a' is given twice"),
        ("[" * 100_000, "too deeply"),
        ("[" * 100_000 + "]" * 100_000, "too deeply"),
        ("[" + "9" * 5000 + "]", "digits"),
        ('["line\nbreak"]', "no usable"),
    ],
)
def test_other_text_is_an_error_with_a_reason(reply: str, why: str | None) -> None:
    if why is None:  # prose around brackets, as documented
        assert parse_array(reply) == [{"a": 1}]
        return
    with pytest.raises(ReplyError, match=why):
        parse_array(reply)


def test_the_error_shows_the_beginning_made_printable() -> None:
    with pytest.raises(ReplyError) as caught:
        parse_object("\x1b[31mred\u202e\ud800\n" + "x" * 10_000)
    message = str(caught.value)
    assert message.isprintable()
    assert "\\x1b[31mred\\u202e\\ud800\\n" in message
    assert len(message) < 500
    assert isinstance(caught.value, GeneratorError)


def test_line_separators_inside_a_fenced_text_are_kept() -> None:
    assert parse_array('```json\n["a\u2028b\x85c"]\n```') == ["a\u2028b\x85c"]


def test_a_huge_reply_is_read() -> None:
    value = [{"content": "x" * 100, "n": n} for n in range(50_000)]
    assert parse_array("Here it is:\n```json\n" + json.dumps(value) + "\n```\n") == value


PROSE = st.lists(
    st.sampled_from(["see", "[1]", "[2, 3]", "[as I]", "{sic}", "(x)", "[a {b} c]", '"', ":", "\n"])
).map(" ".join)
OBJECTS = st.lists(
    st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=2), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


@given(OBJECTS, PROSE, PROSE, st.sampled_from(["", "<think>", "<think>[{</think>"]), st.data())
def test_an_array_between_prose_is_read_whole_or_refused(
    value: list[object], before: str, after: str, thoughts: str, data: st.DataObject
) -> None:
    if thoughts == "<think>":
        thoughts = f"<think>{before} {json.dumps(value[:-1])}</think>"
    reply = f"{thoughts}So {before} {json.dumps(value)} {after}"
    assert parse_array(reply) == value
    with contextlib.suppress(ReplyError):
        assert parse_array(reply[: data.draw(st.integers(0, len(reply)))]) == value


@given(st.text(alphabet=st.sampled_from('[]{}",:`\n 1aN\\')))
def test_hostile_text_is_read_or_refused(text: str) -> None:
    for parse, kind in ((parse_array, list), (parse_object, dict)):
        with contextlib.suppress(ReplyError):
            assert isinstance(parse(text), kind)


@pytest.mark.parametrize("reply", [None, b"[]", 5, ["facts"]])
def test_reply_that_is_not_text_is_a_generator_error(reply: Any) -> None:
    with pytest.raises(ReplyError, match=f"returned {type(reply).__name__}, not text"):
        parse_array(reply)
