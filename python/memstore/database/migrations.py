"""Upgrade a database to the newest schema.

A new database is created with it; an older one is upgraded one version and transaction at a time.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from memstore.database import meta as meta_table
from memstore.errors import Remedy, SchemaError, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
    import pathlib
    import shutil
    from collections.abc import Callable, Sequence

    from memstore.database.engine import Engine, Statement, Transaction
else:
    logging = lazy_import("logging")
    pathlib = lazy_import("pathlib")
    shutil = lazy_import("shutil")

ROOM: Final = 3
"""The upgrade copies the file only if this many times its size is free, as it needs space too."""

VERSION = 7
"""The newest schema version. Every file is upgraded to it when it is opened."""

LAST_SHARED_VERSION = 6
"""The last version that the original memstore and this one have in common."""

UNRELEASED_VERSIONS = range(VERSION + 1, 16)
"""Versions that development builds of 0.1.0 wrote; their steps became part of version 7. Such a
file is not from a newer program, so upgrading the package would not help. The range shrinks as
later versions take these numbers."""


def migrate(engine: Engine, tell: Callable[[str], object] = lambda _: None) -> int:
    """Upgrade the file to the newest schema and return its version.

    A copy of the old file is kept beside it. Several processes may do this at once: each step
    checks the version again in its transaction.

    Args:
        engine: the open file.
        tell: called with a sentence if this call has upgraded the file.
    """
    with engine.read() as transaction:
        then = engine.parts_to_ask
        first = version = usable_version(transaction, engine.path, then=then)
        is_incomplete = version == VERSION and not engine.is_complete(transaction)
    if version == 0:
        return _create(engine)
    if is_incomplete:
        _complete(engine)
    copy = None
    steps = 0
    try:
        while version < VERSION:
            # In the original, a superseding fact could be deleted. Such dangling links are kept.
            with engine.write(check_links=False) as transaction:
                version = usable_version(transaction, engine.path)
                if version < VERSION:
                    if version == first:  # true in one process only: the one that does this step
                        copy = _copy(engine, version)
                    version += 1
                    engine.take_step(transaction, version)
                    meta_table.record_version(transaction, version)
                    steps += 1
    except BaseException:
        if copy is not None:
            _warn("%s was not upgraded; %s is a copy of the original file", engine.path, copy)
        raise
    if first <= LAST_SHARED_VERSION < version:
        # Step 7 leaves the pages of the original's table empty. A failure costs only disk space.
        engine.compact()
    if steps:
        kept = f"{copy} is a copy of the file as it was" if copy else "no copy of it was made"
        tell(f"{engine.path} was upgraded from schema version {first} to {version}; {kept}")
    return version


def is_usable_as_it_is(engine: Engine, transaction: Transaction, version: int) -> bool:
    """Return whether a file with this schema version needs no upgrade."""
    return version == VERSION and engine.is_complete(transaction)


def _complete(engine: Engine) -> None:
    with engine.write() as transaction:
        if not engine.is_complete(transaction):
            engine.complete(transaction)


def _create(engine: Engine) -> int:
    with engine.write() as transaction:
        version = usable_version(transaction, engine.path)
        if version == 0:
            engine.create_schema(transaction)
            meta_table.record_version(transaction, VERSION)
    return VERSION if version in (0, VERSION) else migrate(engine)


def _copy(engine: Engine, version: int) -> pathlib.Path | None:
    """Copy a file before its upgrade; log a warning if that is not possible."""
    copy = _free_name(pathlib.Path(f"{engine.path}.version-{version}"))
    size_bytes, free_bytes = engine.size_bytes(), shutil.disk_usage(copy.parent).free
    if free_bytes < ROOM * size_bytes:
        _warn(
            "upgrading %s from schema version %d without a backup copy: the disk has %d bytes "
            "free, and the file has %d", engine.path, version, free_bytes, size_bytes
        )  # fmt: skip
        return None
    try:
        engine.backup(copy)
    except StorageError as error:
        _warn(
            "upgrading %s from schema version %d without a backup copy: %s",
            engine.path, version, error,
        )  # fmt: skip
        return None
    return copy


def _free_name(copy: pathlib.Path) -> pathlib.Path:
    """Return the name, or with a number, if there is a copy already: it may be of another file."""
    names = (copy.with_name(f"{copy.name}-{number}") for number in itertools.count(2))
    return next(name for name in itertools.chain([copy], names) if not name.exists())


def _warn(text: str, *details: object) -> None:
    logging.getLogger(__name__).warning(text, *details)


def usable_version(transaction: Transaction, path: str, *, then: Sequence[Statement] = ()) -> int:
    """Return the schema version of a file, after checking that this program can use the file.

    Args:
        then: what will be read next, if it has the newest schema.

    Raises:
        SchemaError: the file is newer than this program, was written by a development build, or
            belongs to a different program. It is not changed.
    """
    then = meta_table.selecting("schema_family"), *then
    version = meta_table.schema_version(transaction, then=then)
    if version == 0 and meta_table.holds_only_others(transaction):
        raise _refusal(path, "is the database of another program", Remedy.NAME_FILE)
    if version <= LAST_SHARED_VERSION:
        return version
    if meta_table.get(transaction, "schema_family") != meta_table.FAMILY:
        raise _refusal(
            path,
            f"has schema version {version} of the original memstore; this one reads its versions 1 "
            f"to {LAST_SHARED_VERSION}",
            Remedy.EXPORT,
        )
    if version in UNRELEASED_VERSIONS:
        raise _refusal(
            path,
            f"was written by a development build from before 0.1.0 (schema version {version})",
            Remedy.EXPORT,
        )
    if version > VERSION:
        raise _refusal(
            path,
            f"was written by a newer memstore (schema version {version}; this one supports up to "
            f"{VERSION})",
            Remedy.UPGRADE,
        )
    return version


def _refusal(path: str, reason: str, remedy: Remedy) -> SchemaError:
    return SchemaError(f"{path!r} {reason}; the file was not changed", remedy=remedy)
