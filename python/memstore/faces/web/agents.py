"""Agents and people as the pages name them: by the title of a host, with a letter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from memstore.faces.hosts import catalogue
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

LETTERS: Final = {"codex": "X"}
"""Those of hosts that would share theirs with a better known one."""

PEOPLE: Final = ("web", "cli", "notes")
"""The programs through which a person acts."""

WEB: Final = "web:"
"""How the sources begin that are pages of others."""


class Agent(NamedTuple):
    """Who did something, as a page shows it."""

    name: str
    letter: str
    kind: str
    """``person``, ``foreign`` for text of others, or empty."""


def of(source: str | None) -> Agent:
    """Return the agent of a program or source, such as ``claude-code``."""
    if not source:
        return Agent("somebody", "?", "")
    if source in PEOPLE:
        return Agent("You", "Y", "person")
    if source.startswith(WEB):
        return Agent(source.removeprefix(WEB), "W", "foreign")
    name = _titles().get(source, source)
    letter = LETTERS.get(source) or next((one for one in name if one.isalnum()), "?").upper()
    return Agent(name, letter, "")


def acting(actor: str | None, source: str | None, device: str | None = None) -> Agent:
    """Return who did something, as the journal names it: by the program, and by what else is known.

    Args:
        actor: who did it; the usual ones, an agent or the person, are not named beside the program.
        source: the program.
        device: that on which it was done; ``None`` for this one.
    """
    agent = of(source)
    if actor not in (None, "agent", "user"):
        agent = agent._replace(name=f"{actor} through {agent.name}")
    return agent if device is None else agent._replace(name=f"{agent.name} on {device}")


@cache
def _titles() -> Mapping[str, str]:
    return {host.name: host.title for host in catalogue.HOSTS}
