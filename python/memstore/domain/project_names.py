"""The project that a fact or an episode comes from, where a namespace holds those of several.

It is the member ``project`` of the metadata: the namespace that the project would have of its own,
such as ``~/work/shop``, or the name that somebody gave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.frozen import replace

if TYPE_CHECKING:
    from memstore.domain.episodes import NewEpisode
    from memstore.domain.records import NewFact

R = TypeVar("R", "NewFact", "NewEpisode")

MEMBER: Final = "project"

ABOUT_THE_USER: Final = ("identity", "preference")
"""The categories of facts that hold in each project, by their keys. In this order they come first
among facts that were used equally often."""

NOT_OF_A_PROJECT: Final = ("episode_id", "external_key", "unsearched")
"""The fields of a fact that is not marked with the caller's project."""


def of(metadata: Mapping[str, Any] | None, category: str | None = None) -> str | None:
    """Return the project that the metadata of a record names; none of what is about the user."""
    named = metadata.get(MEMBER) if metadata else None
    if not isinstance(named, str) or (category and is_about_the_user(category)):
        return None
    return named.strip() or None


def is_about_the_user(category: str) -> bool:
    return category.strip().casefold() in ABOUT_THE_USER


def within(
    metadata: Mapping[str, Any] | None, project: str | None, category: str | None = None
) -> Mapping[str, Any] | None:
    """Return metadata of a new record that names its project, unless it names one already."""
    if project is None or (category and is_about_the_user(category)):
        return metadata
    if metadata is not None and (not isinstance(metadata, Mapping) or MEMBER in metadata):
        return metadata
    return {**(metadata or {}), MEMBER: project}


def is_same(one: str, other: str) -> bool:
    """Return whether two names are of one project: a path, or the last part of one."""
    one, other = one.casefold(), other.casefold()
    return one == other or (not (_is_path(one) and _is_path(other)) and short(one) == short(other))


def placed(new: R, project: str) -> R:
    """Return a new record that names a project, unless it names one already.

    What is about the user is of no project. What other programs keep under their own keys stays as
    it is, and what was drawn from an episode is of the project of that.
    """
    if any(getattr(new, name, None) for name in NOT_OF_A_PROJECT):
        return new
    metadata = within(new.metadata, project, getattr(new, "category", None))
    return new if metadata is new.metadata else replace(new, metadata=metadata)


def other_than(own: str | None, named: str | None) -> str | None:
    """Return the project that is named, if it is known to be another one than the caller's."""
    return None if own is None or named is None or is_same(own, named) else named


def short(name: str) -> str:
    """Return what a project is called in a line: the last part of a path."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name
