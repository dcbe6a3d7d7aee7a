"""What is said of the devices that meet in a place, on the command line and on pages."""

from __future__ import annotations

import shlex
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.errors import InvalidArgument
from memstore.faces.escaping import counted, minute
from memstore.sync.places.address import kind_of
from memstore.text.addresses import masked
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memstore.file.syncing import Outcome
    from memstore.sync.reports import Device, Status


MAX_NAMED: Final = 5
"""How many of the chosen namespaces a sentence names."""

AT_HOST: Final = "what was erased may lie at the host of the repository until it tidies up"


def device_row(device: Device, names: Mapping[str, str]) -> list[str]:
    """Return what is said of a device, in cells: name, id, when it was heard of, how it stands."""
    heard = heard_of(device, None if device.heard_at is None else minute(device.heard_at))
    return [name_of(device), device.id, heard, how_it_stands(device, names)]


def names_of(devices: Iterable[Device]) -> dict[str, str]:
    """Return how each device is called, by its id; with its first digits if others are, too."""
    every = [*devices]
    often = Counter(one.name for one in every)
    return {
        one.id: f"{one.name} {one.id[:4]}" if often[one.name] > 1 else one.name for one in every
    }


def name_of(device: Device) -> str:
    return f"{device.name} (here)" if device.is_here else device.name


def heard_of(device: Device, when: str | None) -> str:
    """Return when a device last wrote to the place."""
    if when is None:
        return "never heard of"
    return f"last sent {when}" if device.is_here else f"heard of {when}"


def how_it_stands(device: Device, names: Mapping[str, str]) -> str:
    return "; ".join(standing(device, names)) or "has everything"


def standing(device: Device, names: Mapping[str, str]) -> list[str]:
    """Return what a device lacks, and what may still lie on it."""
    if device.is_dismissed:
        return ["dismissed"]
    said = []
    if device.unsent:
        said.append(f"{counted(device.unsent, 'change')} not sent yet")
    for other, number in device.behind.items():
        whose = names.get(other, other[:4])
        said.append(f"has not taken {counted(number, 'change')} of {whose}")
    if device.remains:
        said.append("texts that were erased may still lie there")
    return said


def status_sentence(found: Status) -> str:
    """Return one sentence about the place of a file, with each device by its name."""
    names = names_of(found.devices)
    said = [run_sentence(found)]
    for device in found.devices:
        if device.is_dismissed:
            continue
        stands = ", ".join(standing(device, names))
        if device.is_here:
            said += [stands] if stands else []
            continue
        when = "never heard of" if device.heard_at is None else minute(device.heard_at)
        said.append(f"{names[device.id]} ({when})" + (f" {stands}" if stands else ""))
    if remains_at_host(found):
        said.append(AT_HOST)
    return "; ".join(said)


def run_sentence(found: Status) -> str:
    """Return with which place a file syncs, and what became of the last run."""
    named = [*map(visible, found.namespaces[:MAX_NAMED])]
    if more := len(found.namespaces) - len(named):
        named.append(f"{more:,} more")
    what = ", ".join(named)
    if found.trust:
        what = f"{what or 'memories'} and levels of trust"
    place = " ".join(filter(None, ("syncs", what, f"with {masked(found.address or '')}")))
    if found.tried_at is None:
        return f"{place}, not synced yet"
    if found.failed:
        return (
            f"{place}; the last sync, {minute(found.tried_at)}, failed: {found.failed.rstrip('.')}"
        )
    return f"{place}, last synced {minute(found.tried_at)}"


def remains_at_host(found: Status) -> bool:
    """Return whether a host of repositories may keep what was erased, on a device or there."""
    return is_git(found.address) and any(one.remains for one in found.devices)


def is_git(address: str | None) -> bool:
    """Return whether a place is a repository, whose host may keep what nothing refers to."""
    with suppress(InvalidArgument):
        return address is not None and kind_of(address) == "git"
    return False


def sentences_of(outcome: Outcome, names: Mapping[str, str]) -> list[str]:
    """Return what a person has to know of a run besides what came and went.

    Args:
        names: those of the devices, by id.
    """
    done = outcome.synced
    said = list(done.ignored)
    if done.erased:
        said.append(f"{counted(done.erased, 'text')} that another device erased went here, too")
    if number := sum(done.redacted.values()):
        goes = "would go" if done.dry_run else "went"
        said.append(f"{counted(number, 'change')} {goes} without what looks like a secret in it")
    if outcome.trust is not None:
        verbs = ("would come", "would go") if done.dry_run else ("came", "went")
        said += [
            f"levels of trust {verb}: {counted(number, 'source')}"
            for verb, number in zip(verbs, outcome.trust, strict=True)
            if number
        ]
    for device, number in done.waits.items():
        said.append(
            f"{counted(number, 'change')} of {names.get(device, device)} cannot be taken yet: what "
            "they refer to has not arrived, and the next sync asks again"
        )
    if done.was:
        said.append(
            f"this file goes on as a new device ({done.device}, before {done.was}): {done.reason}"
        )
    return said


def twice_sentences(outcome: Outcome) -> list[str]:
    """Return the commands that join two namespaces of one project, for each such project."""
    said = []
    for one in outcome.twice:
        both = f"{visible(one.here)} here and {visible(one.there)} of another device are one"
        if one.is_first:  # if both devices changed, they would only change places
            said.append(f"{both} repository: memstore sync there names the commands that join them")
            continue
        set_it = f"memstore where {shlex.quote(one.folder)} --set {shlex.quote(one.there)}"
        bring = (
            f"memstore export --namespace {shlex.quote(one.here)} | memstore import - "
            f"--namespace {shlex.quote(one.there)}"
        )
        said.append(
            f"{both} repository: {set_it} uses that from now on, {bring} brings along what is "
            f"here, and memstore forget --everything --namespace {shlex.quote(one.here)} deletes "
            "the facts that are then there twice"
        )
    return said
