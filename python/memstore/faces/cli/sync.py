"""The command that keeps the memories of several machines equal."""

from __future__ import annotations

import getpass
import os
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore import settings
from memstore.domain import clock
from memstore.domain.records import json_value
from memstore.errors import Explained, StoreBusy, SyncError
from memstore.faces import background_sync, wording
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted
from memstore.faces.options import names, sync_every
from memstore.faces.syncing_words import (
    AT_HOST,
    device_row,
    names_of,
    remains_at_host,
    run_sentence,
    sentences_of,
    twice_sentences,
)
from memstore.file import syncing
from memstore.frozen import asdict
from memstore.sync import remembered, status
from memstore.sync.places.address import kind_of
from memstore.sync.remembered import Remembered
from memstore.text.addresses import masked
from memstore.text.escaping import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from memstore.file.syncing import Outcome
    from memstore.store.store import Store
    from memstore.sync.places.address import Kind

NICE: Final = 10
"""By how much a sync in the background gives way to other programs."""

PATIENCE_SECONDS: Final = 60.0
"""For how long a sync by hand waits for another one."""
PAUSE_SECONDS: Final = 0.5

Done = TypeVar("Done")

UNSEALED = (
    "whoever can write there can read everything, and can speak as you: add memories, and change "
    "yours"
)


@cli.command(
    "sync",
    "memstore sync git@github.com:me/memory.git\nmemstore sync ~/Sync/memstore --namespaces work\n"
    "memstore sync --status",
    cli.option(
        "ADDRESS",
        "a folder, the address of a git repository, or https:// and the address of a server "
        "(default: the one used before)",
        nargs="?",
    ),
    cli.one_of(
        cli.option("--dry-run", "show what would come and go, by namespace"),
        cli.option("--status", "show each device, and what it has not taken or sent"),
        cli.option("--rename NAME", "give this device another name"),
        cli.option("--dismiss DEVICE", "give up a device, by its name or id"),
        cli.option("--new-key", "give the place a new key and passphrase"),
        cli.option("--leave", "stop syncing this file"),
        cli.option(
            "--background",
            "ask nothing and print nothing, as timers do; memstore status tells what became of it",
        ),
    ),
    cli.option(
        "--every TIME",
        "let the hooks and servers of hosts sync this often in the background, and after writes, "
        "e.g. 5m; off ends that",
    ),
    *cli.SYNC_CHOICES,
    cli.option("--token-file FILE", "read the token of a server from this file"),
    cli.option("--project-repository", "use a repository that has other branches all the same"),
    cli.option("--refill", "fill a folder that is empty, and on another file system than before"),
    file="create",
    usage="[ADDRESS] [options]",
)  # fmt: skip
def _sync(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    if arguments.status:
        _show_status(store, show)
    elif arguments.rename is not None:
        status.rename(store.file.engine, arguments.rename)
        show.done(f"this device is called {arguments.rename}", {"name": arguments.rename})
    elif arguments.dismiss is not None:
        return _dismiss(store, arguments, show)
    elif arguments.leave:
        left = _patiently(partial(syncing.leave, store.file), show)
        show.done(
            f"this file does not sync with {_shown(left.address)} any more",
            {"left": _shown(left.address)},
        )
        show.note(
            "what this device sent is still there; memstore sync --dismiss on another device "
            "removes it when all has been taken"
        )
    elif arguments.new_key:
        syncing.chosen_for(store.file)  # says that there is none, before a passphrase is asked for
        passphrase = _new_passphrase(arguments)
        _tell(store, syncing.new_key(store.file, passphrase, asks=cli.can_ask()), show)
        show.note(
            "the other devices ask for the new passphrase at their next sync; what was sealed "
            "before stays closed to whoever has only that"
        )
    else:
        return _run(store, arguments, show)
    return None


def _run(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    if arguments.background:
        if arguments.address is not None:
            raise cli.UsageError("--background syncs with the place used before: name none")
        return _in_background(store)
    return begin(store, arguments, show, refill=arguments.refill)


def _in_background(store: Store) -> int | None:
    """Sync with the place that is remembered; nobody is asked, and nobody waits or reads."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    chosen = syncing.chosen_for(store.file)
    try:
        with _noting(store) as said:
            outcome = syncing.sync(store.file, chosen)
            said += _sentences(store, outcome)
            if outcome.synced.came:  # hooks only read the index
                store.file.warm()
                store.file.save_index()
    except StoreBusy:
        return None
    except (Explained, OSError):  # what became of it is noted
        return cli.REFUSED
    return None


def _patiently(run: Callable[[], Done], show: cli.Show) -> Done:
    """Run when no other process does any more; those in the background take seconds."""
    end = clock.monotonic() + PATIENCE_SECONDS
    told = False
    while True:
        try:
            return run()
        except StoreBusy:
            if clock.monotonic() > end:
                raise
        if not told:
            show.note("another process is syncing this file; waiting for it")
            told = True
        clock.sleep(PAUSE_SECONDS)


@contextmanager
def _noting(store: Store) -> Iterator[list[str]]:
    """Remember what becomes of a run: why it fails, or the sentences that it adds."""
    said: list[str] = []
    state = remembered.folder_of(store.file.path)
    try:
        yield said
    except StoreBusy:  # another one runs, which notes what becomes of it
        raise
    except (Explained, OSError) as error:
        with suppress(OSError):
            remembered.note_run(state, wording.on_command_line(error))
        raise
    remembered.note_run(state, said=said)


def begin(
    store: Store,
    arguments: argparse.Namespace,
    show: cli.Show,
    *,
    refill: bool = False,
    is_part: bool = False,
) -> int | None:
    """Sync, and ask first what has to be asked; return the exit code if somebody refuses.

    ``refill`` says that a folder is filled that is empty, and on another file system than before;
    ``is_part`` that a command does more than this, and prints its own JSON.
    """
    before = remembered.read(remembered.folder_of(store.file.path))
    if arguments.address is None and before is None:
        raise cli.UsageError("name the place: a folder, a git repository, or a server")
    chosen = _chosen(arguments, before)
    if before is not None and arguments.every is not None and not arguments.dry_run:
        state = remembered.folder_of(store.file.path)  # also if the place is away
        remembered.write(state, before._replace(every_seconds=chosen.every_seconds))
    is_first = before is None or before.address != chosen.address
    syncing.place_of(store.file, chosen)  # says what is wrong with it, before anybody is asked
    for name in arguments.namespaces or ():
        if arguments.namespaces != "all" and name not in store.file.namespaces():
            show.note(f"{name} holds nothing here yet")
    if is_first and not arguments.dry_run:
        agreed = _agreed(store, chosen, arguments, show)
        if agreed is None:
            show.note("nothing was sent")
            return cli.REFUSED
        chosen = agreed
    if arguments.dry_run:
        with _place_to_be(chosen, show) as place:
            passphrase, _ = _passphrase(store, place, arguments, is_first=is_first, refill=refill)
            outcome = syncing.sync(
                store.file, place, passphrase=passphrase, asks=cli.can_ask(), refill=refill,
                dry_run=True,
            )  # fmt: skip
        if before is None:
            remembered.discard(remembered.folder_of(store.file.path))
    else:
        with _noting(store) as said:
            passphrase, begins = _passphrase(
                store, chosen, arguments, is_first=is_first, refill=refill
            )
            run = partial(
                syncing.sync, store.file, chosen, passphrase=passphrase, begin_sealing=begins,
                asks=cli.can_ask(), refill=refill,
            )  # fmt: skip
            outcome = _patiently(run, show)
            said += _sentences(store, outcome)
    _tell(store, outcome, show, shows_rows=not (is_part and arguments.json))
    if chosen.trust and outcome.trust is None:
        show.note(f"levels of trust travel through {_shown(chosen.address)} only if it is sealed")
    if is_first and not outcome.is_sealed and not arguments.dry_run:
        show.note(f"{_shown(chosen.address)} is not sealed: {UNSEALED}")
    return None


def _chosen(arguments: argparse.Namespace, before: Remembered | None) -> Remembered:
    """Return the place and the choices of a run: those named now, else those of before."""
    named = arguments.address
    if before is None or (named is not None and _whole(named) != before.address):
        every = None if before is None else before.every_seconds
        chosen = Remembered(
            _whole(named), token=_token(arguments, kind_of(named)), every_seconds=every
        )
    else:
        chosen = before
    if arguments.namespaces is not None:
        every = arguments.namespaces == "all"
        chosen = chosen._replace(namespaces=None if every else tuple(arguments.namespaces))
    if arguments.token_file is not None:
        chosen = chosen._replace(token=_secret(arguments.token_file, "--token-file"))
    if arguments.every is not None:
        chosen = chosen._replace(every_seconds=_every_seconds(arguments.every))
    if arguments.trust or arguments.no_trust:
        chosen = chosen._replace(trust=arguments.trust)
    if arguments.project_repository:
        chosen = chosen._replace(may_be_shared=True)
    return chosen


def _shown(address: str) -> str:
    return visible(masked(address))


def _every_seconds(text: str) -> float | None:
    return None if text == background_sync.OFF else sync_every(text, "--every")


def _whole(address: str) -> str:
    """Return an address that means the same in every folder."""
    if kind_of(address) == "folder" or Path(os.path.expanduser(address)).exists():
        return str(Path(os.path.expanduser(address)).absolute())
    return address


def _agreed(
    store: Store, chosen: Remembered, arguments: argparse.Namespace, show: cli.Show
) -> Remembered | None:
    """Show which namespaces travel, and ask whether they may; ``None`` if they may not."""
    every = store.file.namespaces()
    if not arguments.yes:
        listed = every if chosen.namespaces is None else chosen.namespaces
        rows = [[one, counted(every.get(one, 0))] for one in listed]
        if chosen.trust:
            number = syncing.sources_set(store.file)
            rows.append(["(levels of trust)", counted(number, "source")])
        if not arguments.json:
            show.rows(rows, {})
        if chosen.namespaces is None and len(every) > 1 and cli.can_ask():
            chosen = _narrowed(chosen, every)

        def question() -> str:
            which = "every namespace, also later ones,"
            if chosen.namespaces is not None:
                which = f"what is in {', '.join(map(visible, chosen.namespaces))}"
            if chosen.trust:
                which = f"{which.rstrip(',')}, and how much sources count,"
            return f"Let {which} travel through {_shown(chosen.address)}?"

        if not cli.agreed(question, "nothing is sent before somebody agreed to it"):
            return None
    _make_folder(chosen)
    return chosen


def _narrowed(chosen: Remembered, every: Mapping[str, int]) -> Remembered:
    """Ask which namespaces travel."""
    named = cli.answer_to("Which of these travel? Names with commas between them, or all [all]: ")
    if named in ("", "all"):
        return chosen
    wanted = names(named)
    if unknown := [one for one in wanted if one not in every]:
        raise cli.UsageError(f"there is no namespace {unknown[0]!r} here; nothing was done")
    return chosen._replace(namespaces=tuple(wanted))


def _is_new_folder(chosen: Remembered) -> bool:
    """Return whether a place is a folder that is not there, in one that is."""
    place = Path(chosen.address)
    return kind_of(chosen.address) == "folder" and place.parent.is_dir() and not place.exists()


def _make_folder(chosen: Remembered) -> None:
    """Make the folder of a place that is new, in one that is there."""
    if _is_new_folder(chosen):
        Path(chosen.address).mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _place_to_be(chosen: Remembered, show: cli.Show) -> Iterator[Remembered]:
    """Yield the place of a rehearsal: an empty folder in place of one that a run would make."""
    if not _is_new_folder(chosen):
        yield chosen
        return
    with TemporaryDirectory() as empty:
        yield chosen._replace(address=empty)
    show.note(f"{_shown(chosen.address)} would be made")


def _passphrase(
    store: Store,
    chosen: Remembered,
    arguments: argparse.Namespace,
    *,
    is_first: bool,
    refill: bool,
) -> tuple[str | None, bool]:
    """Return the passphrase, if one is needed, and whether it is that of a new key."""
    given = None
    if arguments.passphrase_file is not None:
        given = _secret(arguments.passphrase_file, "--passphrase-file")
    place = syncing.place_of(store.file, chosen, asks=cli.can_ask(), refill=refill)
    if syncing.needs_passphrase(store.file, place):
        if given is None and cli.can_ask():
            given = getpass.getpass(f"Passphrase of {_shown(chosen.address)}: ")
        return given, False
    if not is_first or arguments.dry_run or arguments.unsealed:
        return None, False
    if syncing.is_sealed(store.file, place):
        return None, False
    if given is not None:
        return given, True
    is_folder = kind_of(chosen.address) == "folder"
    if not cli.can_ask():
        if is_folder:
            return None, False
        raise cli.UsageError(
            "say whether what is sent is encrypted: --passphrase-file FILE, or --unsealed"
        )
    question = f"Encrypt what is sent to {_shown(chosen.address)}? If not, {UNSEALED}."
    if not cli.agreed(lambda: question, "", is_likely=not is_folder):
        return None, False
    given = _asked_twice("Passphrase, which each device needs once")
    if not given:
        raise cli.UsageError("a passphrase is not empty; nothing was done")
    return given, True


def _new_passphrase(arguments: argparse.Namespace) -> str:
    if arguments.passphrase_file is not None:
        return _secret(arguments.passphrase_file, "--passphrase-file")
    if not cli.can_ask():
        raise cli.UsageError("--new-key needs the new passphrase: --passphrase-file FILE")
    return _asked_twice("New passphrase")


def _asked_twice(what: str) -> str:
    first = getpass.getpass(f"{what}: ")
    if first and getpass.getpass("The same again: ") != first:
        raise cli.UsageError("the two passphrases differ; nothing was done")
    return first


def _token(arguments: argparse.Namespace, kind: Kind) -> str | None:
    if kind != "server":
        return None
    if arguments.token_file is not None:
        return _secret(arguments.token_file, "--token-file")
    if settings.server_token() is None and cli.can_ask():
        return getpass.getpass("Token of the server: ").strip() or None
    return settings.server_token()


def _secret(file: str, flag: str) -> str:
    if file == "-":
        text = cli.standard_input()
    else:
        text = Path(os.path.expanduser(file)).read_text("utf-8")
    if not (secret := text.strip("\r\n")):
        raise cli.UsageError(f"{flag}: the file is empty")
    return secret


def _dismiss(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    device = status.find(store.file.engine, arguments.dismiss)

    def question() -> str:
        return (
            f"Give up {visible(device.name)} ({device.id})? What it sent is kept; what it has not "
            "sent stays on it alone. Dismiss it?"
        )

    if not arguments.yes and not cli.agreed(question, "a device is given up for all others"):
        show.note("nothing was changed")
        return cli.REFUSED
    status.dismiss(store.file.engine, device.id)
    show.done(f"dismissed {visible(device.name)} ({device.id})", {"dismissed": device.id})
    try:
        outcome = syncing.sync(store.file, syncing.chosen_for(store.file), asks=cli.can_ask())
    except SyncError as error:
        show.note(f"the others hear of it at the next sync: {wording.on_command_line(error)}")
    else:
        for sentence in _sentences(store, outcome):
            show.note(sentence)
    return None


def _show_status(store: Store, show: cli.Show) -> None:
    found = syncing.status_of(store.file)
    value: dict[str, Any] = {
        "address": None if found.address is None else masked(found.address),
        "namespaces": list(found.namespaces) or "all",
        "synced_at": json_value(found.synced_at),
        "tried_at": json_value(found.tried_at),
        "failed": found.failed or None,
        "said": list(found.said),
        "every_seconds": found.every_seconds,
        "trust": found.trust,
        "devices": [
            {name: json_value(value) for name, value in asdict(one).items()}
            for one in found.devices
        ],
    }
    names = names_of(found.devices)
    show.rows([device_row(one, names) for one in found.devices], value)
    if found.address is None:
        show.note("this file does not sync: memstore sync ADDRESS begins")
    elif not found.devices:
        show.note(f"nothing was exchanged with {_shown(found.address)} yet")
    else:
        show.note(run_sentence(found))
        if remains_at_host(found):
            show.note(AT_HOST)
    for sentence in found.said:
        show.note(visible(sentence))


def _tell(store: Store, outcome: Outcome, show: cli.Show, *, shows_rows: bool = True) -> None:
    done = outcome.synced
    would = "would " if done.dry_run else ""
    names = sorted({*done.came, *done.went})
    rows = [
        [one, f"{would}come {done.came.get(one, 0)}", f"{would}go {done.went.get(one, 0)}"]
        for one in names
    ]
    if shows_rows:
        trust = None if outcome.trust is None else outcome.trust._asdict()
        show.rows(rows, asdict(done) | {"trust": trust})
    if not names and not (outcome.trust and any(outcome.trust)):
        show.note("nothing new, here or there")
    for sentence in _sentences(store, outcome):
        show.note(sentence)


def _sentences(store: Store, outcome: Outcome) -> list[str]:
    """Return what a person has to know of a run besides what came and went."""
    names = names_of(status.status(store.file.engine))
    return [*sentences_of(outcome, names), *twice_sentences(outcome)]
