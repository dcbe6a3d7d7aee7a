"""Texts that forbid or demand something: rules, which bear on orders.

The words are those by which rules are given in the languages whose questions are read.
"""

from __future__ import annotations

from typing import Final

from memstore.lazy import lazy_pattern

RULE: Final = lazy_pattern(
    r"(?i)\b(?:never|always|must|mustn['’]t|do not|don['’]t|may not|not allowed|forbidden"
    r"|prohibited|only ever|avoid|no longer"
    r"|nie|niemals|immer|muss|müssen|darf|dürfen|verboten|nur noch"
    r"|jamais|toujours|doit|doivent|ne pas|interdit"
    r"|nunca|siempre|debe|deben|prohibido"
    r"|mai|sempre|deve|devono|vietato"
    r"|jamais|devem|proibido"
    r"|nooit|altijd|moet|verboden"
    r"|никогда|всегда|нельзя|должен|должны|запрещено)\b"
    r"|不要|不得|不能|必须|必須|禁止|总是|永远|決して|常に|必ず|しないで|てはいけない|마세요|항상|절대|금지"
)


def is_rule(text: str) -> bool:
    """Return whether a text forbids or demands something."""
    return RULE.search(text) is not None
