"""Finding API keys and tokens in text, by gitleaks' rules for secrets of a recognisable form and
our own (:mod:`memstore.text.secret_kinds`), and by their names
(:mod:`memstore.text.named_secrets`).

A rule's pattern is tried only if one of its keywords occurs. ``secret_rules.json`` is made by
``tests/support/gitleaks.py`` and read when the first text is checked.
"""

from __future__ import annotations

import json
import math
import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from operator import is_
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from memstore.domain.arguments import checked_choice
from memstore.domain.metadata import MAX_DEPTH
from memstore.errors import InvalidArgument, Remedy
from memstore.frozen import asdict, replace
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple
from memstore.text import escaping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import DataclassInstance

    from memstore.text import named_secrets, secret_kinds
else:
    named_secrets = lazy_import("memstore.text.named_secrets")
    secret_kinds = lazy_import("memstore.text.secret_kinds")

SecretsPolicy = Literal["keep", "redact", "refuse"]

POLICIES: Final = ("keep", "redact", "refuse")

REDACTED: Final = "[redacted "
"""How the mark begins that stands for a secret."""

RULES: Final = os.path.join(os.path.dirname(__file__), "secret_rules.json")

INVISIBLE: Final = lazy_pattern(f"[{escaping.UNSEEN}{escaping.DEPENDING}]")
"""Characters that may stand inside a copied key without being seen."""

IN_ADDRESS: Final = "password-in-url"

SCREENED: Final = frozenset(
    "content subject category source name source_model source_description tags metadata"
    " speaker slots".split()
)
"""The fields of a new fact or episode that are screened. Identifiers (owners, threads, keys) are
not, because redacting could make two of them equal."""

_noting: ContextVar[set[str] | None] = ContextVar("noting", default=None)


R = TypeVar("R", bound="DataclassInstance")


class Secret(NamedTuple):
    """The place and kind of a suspected secret in a text."""

    kind: str
    start: int
    end: int


class _Rule(NamedTuple):
    kind: str
    pattern: str
    keywords: tuple[str, ...]
    entropy: float = 0.0
    """Bits per character; a match with no more is an example, not a secret."""
    group: int = 0
    allowed: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()


class Screen:
    """Applies a store's policy to texts that contain secrets."""

    def __init__(self, policy: SecretsPolicy = "keep") -> None:
        checked_choice(policy, POLICIES, "secrets")
        self.policy = policy

    def record(self, new: R) -> R:
        """Return a new fact or episode without secrets.

        Raises:
            InvalidArgument: it contains one, and the policy is to refuse it.
        """
        if self.policy == "keep":
            return new
        given = {name: value for name, value in asdict(new).items() if name in SCREENED}
        changed = {
            name: screened
            for name, value in given.items()
            if (screened := self.value(value, name)) is not value
        }
        return replace(new, **changed) if changed else new

    def value(self, value: Any, name: str, depth: int = 0) -> Any:
        """Return a text, or JSON, without secrets; unchanged if it has none."""
        if self.policy == "keep" or depth > MAX_DEPTH:  # too deep: refused elsewhere
            return value
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, Mapping):
            made = {
                self.value(key, name, depth + 1): self._member(key, one, name, depth + 1)
                for key, one in value.items()
            }
            same = all(map(is_, made, value)) and all(map(is_, made.values(), value.values()))
            return value if same else made
        if isinstance(value, list | tuple):
            ones = [self.value(one, name, depth + 1) for one in value]
            return value if all(map(is_, ones, value)) else ones
        return value

    def _member(self, key: Any, value: Any, name: str, depth: int) -> Any:
        """Return a member of an object, whose key may say that it is a secret."""
        if isinstance(key, str) and isinstance(value, str):
            kind = named_secrets.names_secret(key, value)
            if kind is not None and not find(value):
                return self._text(value, name, [Secret(kind, 0, len(value))])
        return self.value(value, name, depth)

    def _text(self, text: str, name: str, found: list[Secret] | None = None) -> str:
        found = find(text) if found is None else found
        if not found:
            return text
        kinds = sorted({secret.kind for secret in found})
        if self.policy == "refuse":
            raise InvalidArgument(
                f"holds what looks like a secret ({', '.join(kinds)})",
                argument=name,
                remedy=Remedy.LEAVE_SECRET_OUT,
            )
        if (noted_kinds := _noting.get()) is not None:
            noted_kinds.update(kinds)
        return redacted(text, found)


@contextmanager
def noted() -> Iterator[set[str]]:
    """Collect the kinds of secrets that this thread redacts inside the ``with`` block."""
    kinds: set[str] = set()
    token = _noting.set(kinds)
    try:
        yield kinds
    finally:
        _noting.reset(token)


def find(text: str) -> list[Secret]:
    """Return the suspected secrets in a text, in order and without overlaps."""
    if not text.isascii() and len(plain := INVISIBLE.sub("", text)) < len(text):
        return _as_written(find(plain), text)
    lowered = text.lower()
    by_keyword, always_allowed = _rules()
    due = {rule: None for word, rules in by_keyword.items() if word in lowered for rule in rules}
    found = [secret for rule in due for secret in _matches(rule, text, always_allowed)]
    kept = _apart([], sorted(found, key=lambda one: (one.start, -one.end)))
    # Where both are found, the kind that is known by its form is the one to tell.
    named = (Secret(*one) for one in named_secrets.find(text, lowered))
    return _apart(kept, sorted(named, key=lambda one: (one.start, -one.end)))


def _apart(kept: list[Secret], more: list[Secret]) -> list[Secret]:
    """Return secrets with those of ``more`` that overlap none before them; both are in order."""
    starts = [secret.start for secret in kept]
    added: list[Secret] = []
    last = 0
    for secret in more:
        after = bisect_left(starts, secret.start)
        before = kept[after - 1].end if after else 0
        until = starts[after] if after < len(starts) else secret.end
        if secret.start >= max(last, before) and secret.end <= until:
            last = secret.end
            added.append(secret)
    return sorted([*kept, *added], key=lambda one: one.start)


def _as_written(found: list[Secret], text: str) -> list[Secret]:
    """Return where secrets of a text without its invisible characters are in the text itself."""
    places = [place for place, one in enumerate(text) if not INVISIBLE.match(one)]
    return [
        secret._replace(start=places[secret.start], end=places[secret.end - 1] + 1)
        for secret in found
    ]


def redacted(text: str, found: list[Secret]) -> str:
    """Return a text with each secret replaced by its kind."""
    parts, end = [], 0
    for secret in found:
        parts += [text[end : secret.start], f"{REDACTED}{secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]])


def _matches(rule: _Rule, text: str, always_allowed: tuple[str, ...]) -> Iterator[Secret]:
    for match in _compiled(rule.pattern).finditer(text):
        group = rule.group or next((n for n, one in enumerate(match.groups(), 1) if one), 0)
        secret = match[group]
        allowed = any(
            _compiled(pattern).search(secret) for pattern in (*rule.allowed, *always_allowed)
        ) or any(word in secret.lower() for word in rule.stopwords)
        allowed = allowed or (rule.kind == IN_ADDRESS and _is_example(match[0], secret))
        if not allowed and (not rule.entropy or _entropy(secret) > rule.entropy):
            yield Secret(rule.kind, *match.span(group))


def _is_example(address: str, password: str) -> bool:
    """Whether the password in an address is the user's name, or that of a documentation."""
    user = address.partition("://")[2].partition(":")[0]
    return password == user or named_secrets.is_dummy(password)


def _entropy(text: str) -> float:
    """Return the Shannon entropy of a text, in bits per character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)


@cache
def _rules() -> tuple[dict[str, tuple[_Rule, ...]], tuple[str, ...]]:
    """Return the rules by keyword, and the patterns that are never a secret."""
    with open(RULES, encoding="utf-8") as file:
        stored = json.load(file)
    by_keyword: dict[str, list[_Rule]] = {}
    for one in (*stored["rules"], *secret_kinds.OWN_RULES):
        lists = {name: tuple(given) for name, given in one.items() if isinstance(given, list)}
        rule = _Rule(**one | lists)
        for word in rule.keywords:
            by_keyword.setdefault(word, []).append(rule)
    return {word: tuple(rules) for word, rules in by_keyword.items()}, tuple(stored["allowed"])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)  # as in Go, for which the rules are written
