"""mem0's filters: what the database can check of them, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.metadata import MAX_DEPTH, AnyOf, MetadataFilter, Not
from memstore.domain.records import EVERYBODY, SCOPE_FIELDS, AtLeast
from memstore.errors import InvalidArgument
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memstore.domain.metadata import Condition
    from memstore.domain.records import Fact, OwnersSelection

ANYTHING: Final = "*"
"""As a value: the key has one."""

COMPARED: Final[Mapping[str, str]] = {
    "eq": "=",
    "ne": "!=",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "in": "in",
    "contains": "contains",
}
"""mem0's operators that are one of ours."""

JOINED: Final[Mapping[str, str]] = {"$and": "AND", "$or": "OR", "$not": "NOT"}
"""Other names of what joins conditions."""


@frozen
class Rule:
    """A condition on a memory."""

    passes: Callable[[Mapping[str, Any]], bool]
    """Whether a memory's metadata and owners pass it."""
    conditions: tuple[Condition, ...]
    """Conditions of the database, all of which every memory that passes it passes."""
    is_whole: bool
    """Whether there are conditions enough to decide it."""


@frozen
class Selected:
    """The memories that filters select."""

    scope: OwnersSelection
    rule: Rule

    def passes(self, fact: Fact) -> bool:
        """Return whether a fact that passed the conditions is selected."""
        return self.rule.is_whole or self.rule.passes(payload_of(fact))


def payload_of(fact: Fact) -> dict[str, Any]:
    """Return what filters compare: the metadata and the owners that are set."""
    owners = {name: owner for name, owner in fact.scope.ids.items() if owner is not None}
    return {**fact.metadata, **owners}


def selected(filters: Mapping[str, Any] | None) -> Selected:
    """Read filters; at their top level, they name an owner.

    Raises:
        InvalidArgument: no owner, a blank one, an unknown operator, or nothing to join.
        InvalidArgumentType: a value that has no order or cannot be compared.
    """
    every = dict(filters or {})
    owners = {
        name: owner
        for name in SCOPE_FIELDS
        if name in every and (owner := entity_id(every[name], name)) is not None
    }
    if not owners:
        raise InvalidArgument(
            "must contain at least one of: user_id, agent_id, run_id. "
            "Example: filters={'user_id': 'u1'}",
            argument="filters",
        )
    exact = {name: owner for name, owner in owners.items() if owner != ANYTHING}
    rest = {key: value for key, value in every.items() if key not in exact}
    return Selected(AtLeast(**exact) if exact else EVERYBODY, _rule(rest))


def entity_id(value: object, name: str) -> str | None:
    """Return the id of an owner as mem0 stores it: as text, without spaces around it.

    Raises:
        InvalidArgument: it is blank, or has spaces in it.
    """
    if value is None:
        return None
    trimmed = str(value).strip()
    if not trimmed:
        raise InvalidArgument(
            f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier."
        )
    if any(character.isspace() for character in trimmed):
        raise InvalidArgument(
            f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces."
        )
    return trimmed


def _rule(filters: Mapping[str, Any], depth: int = 0) -> Rule:
    """Return the rule of conditions that must all pass."""
    if depth > MAX_DEPTH:
        raise InvalidArgument(f"are nested deeper than {MAX_DEPTH} levels", argument="filters")
    return _all_of([
        rule
        for key, value in filters.items()
        for rule in _joined_or_compared(JOINED.get(key, key), value, depth)
    ])  # fmt: skip


def _joined_or_compared(key: str, value: object, depth: int) -> Iterable[Rule]:
    if key in JOINED.values():
        rules = [_rule(one, depth + 1) for one in _parts(key, value)]
        yield _all_of(rules) if key == "AND" else (_any_of if key == "OR" else _none_of)(rules)
    elif not isinstance(value, dict):
        op = "in" if isinstance(value, list) else "eq"
        yield _present(key) if value == ANYTHING else _compared(key, op, value)
    elif not value:
        raise InvalidArgument(f"have no operator for {key!r}", argument="filters")
    else:
        for op, compared in value.items():
            yield _compared(key, op, compared)


def _parts(key: str, value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        raise InvalidArgument(f"{key} operator requires a list of conditions")
    if not value and key != "AND":
        raise InvalidArgument(f"{key} operator requires a non-empty list of conditions")
    for number, one in enumerate(value):
        if not isinstance(one, dict):
            raise InvalidArgument(
                f"{key} filter list item at index {number} must be a dict, "
                f"got {type(one).__name__}: {one!r}"
            )
    return value


def _compared(key: str, op: str, value: Any) -> Rule:
    if op in COMPARED:
        return _of_database(MetadataFilter(key, COMPARED[op], value))
    if op == "nin":
        return _all_of([_present(key), _none_of([_compared(key, "in", value)])])
    if op == "icontains":
        return _icontains(key, value)
    raise InvalidArgument(f"Unsupported metadata filter operator: {op}")


def _present(key: str) -> Rule:
    return _of_database(MetadataFilter(key, "!=", None))


def _of_database(condition: MetadataFilter) -> Rule:
    """Return a rule of a condition; owners are columns, which no condition on metadata reads."""
    is_owner = condition.key in SCOPE_FIELDS
    return Rule(condition.passes, () if is_owner else (condition,), not is_owner)


def _icontains(key: str, value: object) -> Rule:
    if not isinstance(value, str):
        raise InvalidArgument(f"icontains needs text for {key!r}, not {type(value).__name__}")
    wanted = value.casefold()

    def passes(payload: Mapping[str, Any]) -> bool:
        found = payload.get(key)
        if isinstance(found, str):
            return wanted in found.casefold()
        texts = found if isinstance(found, list) else []
        return any(isinstance(one, str) and one.casefold() == wanted for one in texts)

    return Rule(passes, _present(key).conditions, is_whole=False)


def _all_of(rules: Sequence[Rule]) -> Rule:
    return Rule(
        lambda payload: all(rule.passes(payload) for rule in rules),
        tuple(condition for rule in rules for condition in rule.conditions),
        all(rule.is_whole for rule in rules),
    )


def _any_of(rules: Sequence[Rule]) -> Rule:
    alternatives = [_as_one(rule.conditions) for rule in rules if rule.conditions]
    is_known = len(alternatives) == len(rules)
    return Rule(
        lambda payload: any(rule.passes(payload) for rule in rules),
        (AnyOf(tuple(alternatives)),) if is_known else (),
        is_known and all(rule.is_whole for rule in rules),
    )


def _none_of(rules: Sequence[Rule]) -> Rule:
    # What is only necessary for a rule says nothing about what does not pass it.
    whole = [_as_one(rule.conditions) for rule in rules if rule.is_whole and rule.conditions]
    return Rule(
        lambda payload: not any(rule.passes(payload) for rule in rules),
        (Not(tuple(whole)),) if whole else (),
        len(whole) == len(rules),
    )


def _as_one(conditions: Sequence[Condition]) -> Condition:
    """Return a condition that passes if all of these do."""
    first, *others = conditions
    return Not((AnyOf(tuple(Not((one,)) for one in conditions)),)) if others else first
