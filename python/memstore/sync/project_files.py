"""What each device says of its projects: of which repository a namespace is.

The file holds hashes alone (:mod:`memstore.repositories`). Whoever has the same repository in
another folder then uses the namespace that is there already.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore import projects, repositories
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.errors import SyncError
from memstore.named import NamedTuple
from memstore.sync.places import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from memstore.database.engine import Transaction
    from memstore.sync.places import Place, Seal

FORMAT: Final = 1
MAX_BYTES: Final = 1024 * 1024


class Twice(NamedTuple):
    """Two namespaces for one repository."""

    here: str
    there: str
    folder: str
    """The folder here."""
    is_first: bool = False
    """Whether the one here is older: then the other device is the one to change."""


def of_this_machine(namespaces: Iterable[str]) -> dict[str, str]:
    """Return of which repository each namespace is that has a folder here, if it is of one."""
    found = {}
    for namespace in namespaces:
        for folder in projects.folders_of(namespace):
            if (identity := repositories.known_identity(folder)) is not None:
                found[namespace] = identity
                break
    return found


def put(
    place: Place, listed: Collection[str], own: Mapping[str, str], device: str, seal: Seal | None
) -> None:
    """Say of which repositories the namespaces of this device are, if that is news."""
    name = names.of_projects(device)
    if own == _read(place, name, seal) if name in listed else not own:
        return
    data = json.dumps({"memstore": "projects", "format": FORMAT, "projects": dict(own)}).encode()
    place.put(name, data if seal is None else seal.seal(data, device=device, name=name))


def of_others(
    place: Place, listed: Iterable[str], device: str, seal: Seal | None
) -> dict[str, str]:
    """Return of which repositories the namespaces of other devices are."""
    found: dict[str, str] = {}
    for name in sorted(listed):
        if names.PROJECTS.fullmatch(name) and name != names.of_projects(device):
            found |= _read(place, name, seal)
    return found


def settle(
    own: Mapping[str, str], others: Mapping[str, str], filled: Collection[str]
) -> tuple[Twice, ...]:
    """Let folders here use what other devices call their repositories; return what is twice.

    A namespace that holds memories here stays in use.

    Args:
        own: of which repositories the namespaces here are.
        others: those of other devices.
        filled: the namespaces that hold anything here.
    """
    here = {identity: namespace for namespace, identity in own.items() if namespace in filled}
    used: dict[str, str] = {}
    twice = []
    for namespace, identity in sorted(others.items()):
        mine = here.get(identity, namespace)
        if mine == namespace or namespace in own:
            used.setdefault(identity, mine)
        else:
            used[identity] = mine
            folder = next(iter(projects.folders_of(mine)), None)
            twice.append(Twice(mine, namespace, str(folder or mine)))
    repositories.remember(used)
    return tuple(twice)


def older(transaction: Transaction, one: Twice) -> Twice:
    """Return two namespaces with which of them was first, so that one device alone changes."""
    here, there = (_beginning(transaction, name) for name in (one.here, one.there))
    return one._replace(is_first=bool(there) and (here, one.here) < (there, one.there))


def _beginning(transaction: Transaction, namespace: str) -> str:
    """Return when a namespace began; nothing if nothing of it is here."""
    found = (table.first_at(transaction, namespace) for table in (fact_table, episode_table))
    return min(filter(None, found), default="")


def _read(place: Place, name: str, seal: Seal | None) -> dict[str, str]:
    with suppress(SyncError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        data = place.get(name, most=MAX_BYTES)
        if seal is not None:
            data = seal.open(data, device=name.partition("/")[0], name=name)
        held = json.loads(data)
        if held["memstore"] == "projects" and held["format"] == FORMAT:
            return {str(one): str(identity) for one, identity in held["projects"].items()}
    return {}
