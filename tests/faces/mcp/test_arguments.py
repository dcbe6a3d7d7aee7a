"""Arguments of tools: the schema of each type, and the accepted values."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field as PydanticField
from pydantic import TypeAdapter, ValidationError

from memstore.faces.mcp.arguments import (
    BeforeValidator,
    Field,
    WithJsonSchema,
    argument,
    from_json,
)

SMALL = Field(ge=0, le=9)


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int | None, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[Any], {"type": "array"}),
        (dict[str, Any], {"type": "object"}),
        (str | list[Any], {"anyOf": [{"type": "string"}, {"type": "array"}]}),
        (Annotated[float, SMALL], {"type": "number", "minimum": 0, "maximum": 9}),
        (
            Annotated[Annotated[str, Field(max_length=3)] | None, Field(description="a name")],
            {"type": "string", "maxLength": 3, "description": "a name"},
        ),
        (
            Annotated[str, WithJsonSchema({"enum": ["a"]}), Field(description="b")],
            {"enum": ["a"], "description": "b"},
        ),
    ],
)
def test_types_map_to_their_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert argument(annotation).schema == schema
    assert argument(annotation, 1).schema == schema | {"default": 1}
    assert argument(annotation, None).schema == schema
    assert (argument(annotation).required, argument(annotation, None).required) == (True, False)


VALUES = [
    *("", "abc", "12", " 7 ", "1.0", "1.5", "x" * 40, "true", "No", "null", "[1]", "NaN"),
    *(0, 1, 9, 10, -1, 2**70, 1.5, float("inf"), float("nan"), None),
    *([], ["a"], ["a", 1], {}, {"a": [1]}),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (str, str),
        (int, int),
        (Annotated[int, SMALL], Annotated[int, PydanticField(ge=0, le=9)]),
        (Annotated[float, SMALL], Annotated[float, PydanticField(ge=0, le=9)]),
        (Annotated[str, Field(max_length=3)], Annotated[str, PydanticField(max_length=3)]),
        (bool, bool),
        (list[str], list[str]),
        (dict[str, Any], dict[str, Any]),
        (str | None, str | None),
        (int | str, int | str),
        (str | list[Any], str | list[Any]),
    ],
    ids=str,
)
def test_values_are_read_as_pydantic_reads_them(ours: Any, theirs: Any, value: Any) -> None:
    try:
        expected = TypeAdapter(theirs).validate_python(value)
    except ValidationError:
        with pytest.raises(ValueError, match=r"^must "):
            argument(ours).read(value)
    else:
        read = argument(ours).read(value)
        assert (read, type(read)) == (expected, type(expected))


@pytest.mark.parametrize("annotation", [int, float, Annotated[int, SMALL], int | None, str])
@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_not_accepted_as_a_number_or_text(annotation: Any, value: bool) -> None:
    with pytest.raises(ValueError, match=r"^must be (a whole number|a number|text)$"):
        argument(annotation).read(value)


def test_a_value_beyond_a_limit_is_refused_naming_the_limit() -> None:
    for given, said in ((10, "less than or equal to 9"), ("-1", "greater than or equal to 0")):
        with pytest.raises(ValueError, match=rf"^must be {said}$"):
            argument(Annotated[int, SMALL]).read(given)
    with pytest.raises(ValueError, match=r"^must have at most 2 characters$"):
        argument(Annotated[str, Field(max_length=2)] | None).read("abc")


def test_values_are_converted_before_their_type_is_checked() -> None:
    kind = Annotated[list[str], BeforeValidator(from_json)]
    assert argument(kind).read('["a"]') == ["a"]
    assert argument(kind).read(["a"]) == ["a"]
    for broken in ("[", "[" * 100_000, "1"):
        with pytest.raises(ValueError, match=r"^must be a list$"):
            argument(kind).read(broken)
