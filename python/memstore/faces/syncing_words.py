"""What is said of the devices that meet in a place, on the command line and on pages."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from memstore.faces.escaping import counted, minute
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.file.syncing import Outcome
    from memstore.sync.reports import Device, Status


def device_row(device: Device, names: Mapping[str, str]) -> list[str]:
    """Return what is said of a device, in cells: name, id, when it was heard of, how it stands."""
    if device.heard_at is None:
        heard = "never heard of"
    else:
        heard = "last sent" if device.is_here else "heard of"
        heard += f" {minute(device.heard_at)}"
    return [f"{device.name} (here)" if device.is_here else device.name, device.id, heard,
            "; ".join(standing(device, names)) or "has everything"]  # fmt: skip


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
    """Return one sentence about the place of a file."""
    others = [one for one in found.devices if not one.is_here and not one.is_dismissed]
    here = next((one for one in found.devices if one.is_here), None)
    said = [f"syncs with {visible(found.address or '')}: {counted(len(others), 'other device')}"]
    if found.tried_at is None:
        said.append("not synced yet")
    elif found.failed:
        when = minute(found.tried_at)
        said.append(f"the last sync, {when}, failed: {visible(found.failed)}")
    else:
        said.append(f"last synced {minute(found.tried_at)}")
    if here is not None and here.unsent:
        said.append(f"{counted(here.unsent, 'change')} not sent yet")
    waiting = [one.name for one in others if one.behind]
    if waiting:
        said.append(f"not up to date: {', '.join(waiting)}")
    remains = [one.name for one in others if one.remains]
    if remains:
        said.append(f"erased texts may still lie on {', '.join(remains)}")
    if is_git(found.address) and remains:
        said.append("and at the host of the repository until it tidies up")
    return "; ".join(said)


def is_git(address: str | None) -> bool:
    """Return whether a place is a repository, whose host may keep what nothing refers to."""
    return address is not None and (address.endswith(".git") or "@" in address)


def sentences_of(outcome: Outcome) -> list[str]:
    """Return what a person has to know of a run besides what came and went."""
    done = outcome.synced
    said = list(done.ignored)
    if done.erased:
        said.append(f"{counted(done.erased, 'text')} that another device erased went here, too")
    for device, number in done.waits.items():
        said.append(
            f"{counted(number, 'change')} of device {device} cannot be taken yet: what they refer "
            "to has not arrived, and the next sync asks again"
        )
    if done.was:
        said.append(
            f"this file goes on as a new device ({done.device}, before {done.was}): it was copied, "
            "restored or moved"
        )
    return said


def twice_sentences(outcome: Outcome) -> list[str]:
    """Return the commands that join two namespaces of one project, for each such project."""
    said = []
    for one in outcome.twice:
        set_it = f"memstore where {shlex.quote(one.folder)} --set {shlex.quote(one.there)}"
        bring = (
            f"memstore export --namespace {shlex.quote(one.here)} | memstore import - "
            f"--namespace {shlex.quote(one.there)}"
        )
        said.append(
            f"{visible(one.here)} here and {visible(one.there)} of another device are one "
            f"repository: {set_it} uses that from now on, and {bring} brings along what is here"
        )
    return said
