"""Sealing: what devices put into a place, encrypted so that only they can read it.

A place has one random key. Each device keeps it here, in a file that no other user can read, and in
the place as ``DEVICE/key``, wrapped by what Argon2id makes of the passphrase: whichever device is
left lets others in. The passphrase itself is stored nowhere. A file is encrypted with AES-256-GCM
under a key of its own, which HKDF makes of the place's key and of random salt. It is bound to the
device and the name, so a carrier can hold a file back, but cannot change, exchange or move one.

A new key has the next generation. Each device uses the newest key of the place, and asks for the
passphrase before it writes or takes anything if that is one that it does not have.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore.errors import InvalidArgument, Remedy, SyncError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.sync.places import OtherKey, names
from memstore.sync.remembered import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cryptography import exceptions
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers import aead
    from cryptography.hazmat.primitives.kdf import argon2, hkdf

    from memstore.sync.places import Place
else:  # an extra, and slow to import
    exceptions = lazy_import("cryptography.exceptions")
    hashes = lazy_import("cryptography.hazmat.primitives.hashes")
    aead = lazy_import("cryptography.hazmat.primitives.ciphers.aead")
    argon2 = lazy_import("cryptography.hazmat.primitives.kdf.argon2")
    hkdf = lazy_import("cryptography.hazmat.primitives.kdf.hkdf")

FORMAT: Final = 1

MAGIC: Final = b"MSS\x01"
"""How a sealed file begins; the last byte is its format."""

KEY_BYTES: Final = 32
SALT_BYTES: Final = 32
ID_BYTES: Final = 8
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16
OVERHEAD_BYTES: Final = len(MAGIC) + ID_BYTES + SALT_BYTES + TAG_BYTES
"""How much larger a sealed file is."""

MAX_KEY_FILE_BYTES: Final = 4096

MAX_TRIED: Final = 32
"""How many wrapped keys are tried with a passphrase, the newest first."""

MIN_PASSPHRASE: Final = 8
"""Characters of a passphrase. Whoever carries the files can guess as long as they like."""

KEY_FILE: Final = "key"


class Cost(NamedTuple):
    """What Argon2id may take: RFC 9106's second choice, about a tenth of a second."""

    memory_kib: int = 64 * 1024
    passes: int = 3
    lanes: int = 4


COST: Final = Cost()

MAX_COST: Final = Cost(memory_kib=1024 * 1024, passes=16, lanes=16)
"""A key file that asks for more is not tried: it was not written by this program."""


class PlaceKey(NamedTuple):
    """The key of a place."""

    generation: int
    secret: bytes

    @property
    def id(self) -> str:
        """Names the key without disclosing it."""
        return hashlib.sha256(b"memstore key id\0" + self.secret).digest()[:ID_BYTES].hex()

    @property
    def order(self) -> tuple[int, str]:
        """The greatest is in use; two devices that began at once agree on one of their keys."""
        return self.generation, self.id


class Wrapped(NamedTuple):
    """A key as devices keep it in the place, for those that know the passphrase."""

    generation: int
    id: str
    salt: bytes
    cost: Cost
    sealed: bytes

    @property
    def order(self) -> tuple[int, str]:
        return self.generation, self.id

    @property
    def bound_to(self) -> bytes:
        """What the encrypted key is bound to."""
        return f"memstore place key {FORMAT}\0{self.generation}\0{self.id}".encode()

    def document(self) -> str:
        """Return it as a device puts it into the place."""
        told = {
            "format": FORMAT,
            "generation": self.generation,
            "id": self.id,
            "salt": base64.b64encode(self.salt).decode(),
            "cost": self.cost._asdict(),
            "key": base64.b64encode(self.sealed).decode(),
        }
        return json.dumps(told, indent=1)


class Kept(NamedTuple):
    """A key as it is kept here."""

    key: PlaceKey
    wrapped: str
    """As it is put into the place."""


class PlaceSeal:
    """Encrypts the files of a place with its key."""

    def __init__(self, kept: Kept) -> None:
        self.key_id = kept.key.id
        self._secret = kept.key.secret
        self._wrapped = kept.wrapped.encode()

    def put_key(self, place: Place, listed: Iterable[str], *, device: str) -> None:
        """Put the key into the place for those that know the passphrase, if it is not there."""
        name = names.of_key(device)
        if name in listed:
            with suppress(SyncError):
                if place.get(name, most=MAX_KEY_FILE_BYTES) == self._wrapped:
                    return
        place.put(name, self._wrapped)

    def seal(self, data: bytes, *, device: str, name: str) -> bytes:
        salt = secrets.token_bytes(SALT_BYTES)
        cipher, nonce = self._cipher(salt)
        head = MAGIC + bytes.fromhex(self.key_id) + salt
        return head + cipher.encrypt(nonce, data, _bound(device, name))

    def open(self, data: bytes, *, device: str, name: str) -> bytes:
        if not data.startswith(MAGIC[:-1]):
            raise SyncError(f"{name} is not sealed, and was not read")
        if not data.startswith(MAGIC):
            raise SyncError(f"{name} was sealed by a newer version", remedy=Remedy.UPGRADE)
        start = len(MAGIC) + ID_BYTES
        if data[len(MAGIC) : start].hex() != self.key_id:
            raise OtherKey(f"{name} is sealed with another key; its device has to sync again")
        cipher, nonce = self._cipher(data[start : start + SALT_BYTES])
        try:
            return cipher.decrypt(nonce, data[start + SALT_BYTES :], _bound(device, name))
        except exceptions.InvalidTag:
            raise SyncError(f"{name} was changed or moved by somebody without the key") from None

    def _cipher(self, salt: bytes) -> tuple[aead.AESGCM, bytes]:
        """Return the cipher of one file, and its nonce; both are used only once."""
        made = hkdf.HKDF(
            algorithm=hashes.SHA256(),
            length=KEY_BYTES + NONCE_BYTES,
            salt=salt,
            info=b"memstore sync file",
        ).derive(self._secret)
        return aead.AESGCM(made[:KEY_BYTES]), made[KEY_BYTES:]


def is_sealed(place: Place, listed: Iterable[str]) -> bool:
    """Return whether a device keeps a key in the place."""
    return any(_read_all(place, listed))


def is_kept(state: str | os.PathLike[str]) -> bool:
    """Return whether a key is kept here."""
    return _kept(state) is not None


def seal_of(
    place: Place,
    listed: Iterable[str],
    *,
    state: str | os.PathLike[str],
    passphrase: str | None = None,
) -> PlaceSeal | None:
    """Return what seals the files of a place; ``None`` if the place is not sealed.

    Nothing is written there.

    Args:
        listed: the names in the place.
        state: the folder in which the key is kept here.
        passphrase: needed if the place has a key that is not kept here.

    Raises:
        SyncError: the passphrase is missing or wrong.
    """
    there = _read_all(place, listed)
    kept = _kept(state)
    if there or kept is not None:
        _check_library()
    newest = max((one.order for one in there), default=None)
    if newest is not None and (kept is None or newest > kept.key.order):
        if passphrase is None:
            said = "is sealed" if kept is None else "has been given a new key"
            raise SyncError(f"{place.address!r} {said}", remedy=Remedy.SAY_PASSPHRASE)
        opened = _opened(there, passphrase)
        if opened is None or (kept is not None and opened.key.order <= kept.key.order):
            raise SyncError(
                f"the passphrase does not open the newest key in {place.address!r}; nothing was "
                "taken or written"
            )
        kept = opened
        _keep(state, kept)
    return None if kept is None else PlaceSeal(kept)


def begin(*, state: str | os.PathLike[str], passphrase: str) -> PlaceSeal:
    """Make the key of a place, or a new one, and keep it here; the old one is forgotten.

    What was sealed with the old key has to be made again by its device.

    Raises:
        InvalidArgument: the passphrase is too short.
    """
    if len(passphrase) < MIN_PASSPHRASE:
        raise InvalidArgument(
            f"must have at least {MIN_PASSPHRASE} characters", argument="passphrase"
        )
    _check_library()
    before = _kept(state)
    generation = 1 if before is None else before.key.generation + 1
    key = PlaceKey(generation, secrets.token_bytes(KEY_BYTES))
    kept = Kept(key, _wrap(key, passphrase).document())
    _keep(state, kept)
    return PlaceSeal(kept)


def _check_library() -> None:
    try:
        argon2.Argon2id  # noqa: B018 - imported now
    except ImportError:
        raise SyncError(
            "a sealed place needs the package cryptography, version 44 or newer",
            remedy=Remedy.INSTALL_SYNC,
        ) from None


def forget(state: str | os.PathLike[str]) -> None:
    """Remove the key that is kept here."""
    with suppress(FileNotFoundError):
        os.unlink(Path(state, KEY_FILE))


# -- keys in the place -------------------------------------------------------------------------


def _wrap(key: PlaceKey, passphrase: str) -> Wrapped:
    bare = Wrapped(key.generation, key.id, secrets.token_bytes(SALT_BYTES), COST, b"")
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = _wrapping(bare, passphrase).encrypt(nonce, key.secret, bare.bound_to)
    return bare._replace(sealed=nonce + sealed)


def _read_all(place: Place, listed: Iterable[str]) -> list[Wrapped]:
    """Return the wrapped keys in a place; one that cannot be read is none."""
    found = []
    for name in sorted(listed):
        if names.KEY.fullmatch(name):
            with suppress(SyncError, ValueError, LookupError, TypeError, RecursionError):
                found.append(_wrapped(json.loads(place.get(name, most=MAX_KEY_FILE_BYTES))))
    return found


def _wrapped(document: Mapping[str, Any]) -> Wrapped:
    cost = Cost(**{name: int(document["cost"][name]) for name in Cost._fields})
    if document["format"] != FORMAT or any(
        not 1 <= one <= most for one, most in zip(cost, MAX_COST, strict=True)
    ):
        raise ValueError("it is of another format")
    return Wrapped(
        int(document["generation"]),
        str(document["id"]),
        base64.b64decode(document["salt"], validate=True),
        cost,
        base64.b64decode(document["key"], validate=True),
    )


def _opened(there: Iterable[Wrapped], passphrase: str) -> Kept | None:
    """Return the newest key that a passphrase opens."""
    newest_first = sorted(set(there), key=lambda one: one.order, reverse=True)
    for one in newest_first[:MAX_TRIED]:
        with suppress(exceptions.InvalidTag, ValueError):
            nonce, sealed = one.sealed[:NONCE_BYTES], one.sealed[NONCE_BYTES:]
            secret = _wrapping(one, passphrase).decrypt(nonce, sealed, one.bound_to)
            key = PlaceKey(one.generation, secret)
            if key.id == one.id and len(secret) == KEY_BYTES:
                return Kept(key, one.document())
    return None


def _wrapping(wrapped: Wrapped, passphrase: str) -> aead.AESGCM:
    """Return the cipher for a key, from the passphrase however it was typed."""
    said = unicodedata.normalize("NFKC", passphrase).encode()
    cost = wrapped.cost
    return aead.AESGCM(
        argon2.Argon2id(
            salt=wrapped.salt,
            length=KEY_BYTES,
            iterations=cost.passes,
            lanes=cost.lanes,
            memory_cost=cost.memory_kib,
        ).derive(said)
    )


def _bound(device: str, name: str) -> bytes:
    return f"memstore sync {FORMAT}\0{device}\0{name}".encode()


# -- the key here ------------------------------------------------------------------------------


def _kept(state: str | os.PathLike[str]) -> Kept | None:
    """Return the key that is kept here."""
    file = Path(state, KEY_FILE)
    try:
        held = json.loads(file.read_bytes())
        key = PlaceKey(int(held["generation"]), base64.b64decode(held["key"], validate=True))
        return Kept(key, str(held["wrapped"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise SyncError(
            f"the key in {str(file)!r} cannot be read ({error}); remove the file, and pass the "
            "passphrase again"
        ) from None


def _keep(state: str | os.PathLike[str], kept: Kept) -> None:
    """Keep a key here, in a file that no other user can read."""
    held = {
        "generation": kept.key.generation,
        "key": base64.b64encode(kept.key.secret).decode(),
        "wrapped": kept.wrapped,
    }
    write_private(Path(state, KEY_FILE), json.dumps(held).encode())
