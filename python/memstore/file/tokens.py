"""Access tokens for the HTTP server, each for one namespace, and for reading or writing.

A token's secret is random and shown once, when it is created. The file keeps its SHA-256, from
which 256 random bits cannot be recovered, so no slow hash is needed. Secrets are looked up by their
hash, so the time of a lookup does not reveal how close a guess was.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.journal import Kind
from memstore.database.tables import access_tokens as token_table
from memstore.database.tables import commitments
from memstore.domain import clock, moments
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text, stored_text
from memstore.domain.standing import Standing
from memstore.domain.tokens import Access, AccessToken
from memstore.errors import AccessDenied, Conflict, InvalidArgument, NotFound, Remedy, StorageError
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author

PREFIX: Final = "mst_"
"""The prefix of every secret created here, so that scanners for leaked secrets recognise them."""

SECRET_BYTES: Final = 32

ACCEPTED_SECRET: Final = re.compile(r"[A-Za-z0-9._~+/-]{43,200}=*")
"""The characters of an ``Authorization`` header (RFC 6750), enough for 256 bits in base 64."""

USE_NOTED_AFTER: Final = timedelta(minutes=1)
"""A use is recorded at most this often, so that requests rarely cost a write."""


class Tokens:
    """The access tokens of a file."""

    def __init__(self, engine: Engine, author: Author) -> None:
        self._engine = engine
        self._author = author

    def create(
        self,
        name: str,
        *,
        namespace: str,
        access: str = Access.WRITE,
        expires_at: datetime | str | None = None,
        secret: str | None = None,
    ) -> tuple[AccessToken, str]:
        """Create a token for a namespace; return it and its secret, which is not stored.

        Args:
            name: its name, which can be used again once the token is revoked.
            namespace: the only one that it gives access to.
            access: ``write`` for every tool, ``read`` for tools that change nothing.
            expires_at: when it stops working; ``None`` for never.
            secret: your own secret, for example from ``openssl rand -hex 32``. If a token with it
                and the same name, namespace and access exists, that token is returned.

        Raises:
            Conflict: another token has the name, or the secret.
            ValueError: an empty name, an unknown access, a time in the past, or a secret that is
                too short or cannot be sent in a header.
        """
        checked_text(name, "name", MAX_NAME)
        checked_choice(access, Access, "access")
        namespace = Standing(namespace).namespace
        now = clock.utc_now()
        until = moments.until(expires_at, "expires_at")
        if until is not None and until <= now:
            raise InvalidArgument(f"is in the past: {clock.to_text(until)}", argument="expires_at")
        if secret is None:
            secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        elif not isinstance(secret, str) or ACCEPTED_SECRET.fullmatch(secret) is None:
            raise InvalidArgument(
                "must be 43 to 200 random letters, digits or any of . _ ~ + / -, as from "
                "`openssl rand -hex 32`",
                argument="secret",
            )
        with self._engine.write() as transaction:
            known = token_table.by_hash(transaction, _hash(secret))
            if known is not None:
                return _same(known, name, namespace, access), secret
            if (taken := token_table.unrevoked(transaction, name)) is not None:
                raise Conflict(
                    f"token {taken.id} already has the name {name!r}", remedy=Remedy.RENAME_TOKEN
                )
            token = AccessToken(
                id=token_table.new_id(transaction),
                name=name,
                namespace=namespace,
                access=access,
                created_at=now,
                expires_at=until,
            )
            token_table.insert(
                Changes(transaction, self._author),
                token,
                _hash(secret),
                Line(
                    Kind.TOKEN,
                    after=journalled(token)
                    | {
                        commitments.MEMBER: commitments.make(
                            transaction, f"token {token.id}", [_hash(secret)]
                        )
                    },
                ),
            )
        return token, secret

    def list(self) -> builtins.list[AccessToken]:
        """Return every token of the file, oldest first, including revoked and expired ones."""
        with self._engine.read() as transaction:
            return token_table.select(transaction)

    def revoke(self, name_or_id: str | int) -> AccessToken:
        """Revoke a token and return it; every later request with it is refused.

        Args:
            name_or_id: its id, or its name if it is not revoked.

        Raises:
            NotFound: there is no such token.
            Conflict: it was already revoked.
        """
        with self._engine.write() as transaction:
            token = self._named(transaction, name_or_id)
            if token.revoked_at is not None:
                raise Conflict(f"token {token.id} ({token.name!r}) was already revoked")
            now = clock.utc_now()
            line = Line(
                Kind.REVOKE_TOKEN,
                before={"token": token.id, "revoked_at": None},
                after={"token": token.id, "revoked_at": clock.to_text(now)},
            )
            Changes(transaction, self._author).write(line, token_table.revoking(token.id, now))
            return self._named(transaction, token.id)

    def required(self) -> bool:
        """Return whether requests need a token: true once one exists, even if none is valid."""
        with self._engine.read() as transaction:
            return token_table.exist(transaction)

    def usable(self) -> bool:
        """Return whether any token is neither revoked nor expired."""
        return any(token.status == "active" for token in self.list())

    def check(self, secret: str) -> AccessToken:
        """Return the token of a secret.

        Raises:
            AccessDenied: the secret is unknown, or its token revoked or expired.
        """
        with self._engine.read() as transaction:
            token = token_table.by_hash(transaction, _hash(secret))
        if token is None:
            raise AccessDenied("the token is unknown", remedy=Remedy.CREATE_TOKEN)
        if token.status != "active":
            raise AccessDenied(f"the token is {token.status}", remedy=Remedy.CREATE_TOKEN)
        return token

    def note_use(self, token: AccessToken) -> None:
        """Record the use of a token if possible at once; this never waits and never fails."""
        now = clock.utc_now()
        last = token.last_used_at
        if last is not None and last <= now < last + USE_NOTED_AFTER:
            return
        with suppress(StorageError), self._engine.write(wait_seconds=0) as transaction:
            token_table.note_use(transaction, token.id, now)

    def _named(self, transaction: Transaction, name_or_id: str | int) -> AccessToken:
        if isinstance(name_or_id, str):
            token = token_table.unrevoked(transaction, stored_text(name_or_id, "name"))
        else:
            every = token_table.select(transaction)
            token = next((one for one in every if one.id == name_or_id), None)
        if token is None:
            raise NotFound(f"there is no token {name_or_id!r}", remedy=Remedy.LIST_TOKENS)
        return token


def _same(known: AccessToken, name: str, namespace: str, access: str) -> AccessToken:
    expected = (name, namespace, access, "active")
    if (known.name, known.namespace, known.access, known.status) != expected:
        raise Conflict(
            f"the secret belongs to token {known.id} ({known.name!r}, {known.status}, "
            f"{known.access} access to {known.namespace!r})",
            remedy=Remedy.NEW_SECRET,
        )
    return known


def journalled(token: AccessToken) -> dict[str, object]:
    return {
        "token": token.id,
        "name": token.name,
        "namespace": token.namespace,
        "access": token.access,
        "expires_at": None if token.expires_at is None else clock.to_text(token.expires_at),
        "created_at": clock.to_text(token.created_at),
    }


class _Journalled(NamedTuple):
    """What the journal says of a token."""

    values: Mapping[str, Any]
    """The values of its line; a line of an earlier version lacks some."""
    revoked_at: str | None


def _all_journalled(transaction: Transaction) -> dict[int, _Journalled]:
    found: dict[int, _Journalled] = {}
    for line in journal.of_kinds(transaction, (Kind.TOKEN, Kind.REVOKE_TOKEN)):
        after = line.after or {}
        id_ = int(after.get("token", 0))
        if line.kind == Kind.TOKEN:
            found[id_] = _Journalled(after, None)
        elif id_ in found:
            found[id_] = found[id_]._replace(revoked_at=after.get("revoked_at"))
    return found


def misfits(transaction: Transaction) -> list[str]:
    """Return the tokens that differ from the journal in what it holds, with the columns."""
    recorded = _all_journalled(transaction)
    return [
        f"{token.id} ({token.name}: {', '.join(names)})"
        for token in token_table.select(transaction)
        if token.id in recorded and (names := sorted(_differing(token, recorded[token.id])))
    ]


def restore(transaction: Transaction) -> int:
    """Give tokens back what the journal says of them; return how many had something else."""
    recorded = _all_journalled(transaction)
    done = 0
    for token in token_table.select(transaction):
        if token.id in recorded and (values := _differing(token, recorded[token.id])):
            token_table.put_back(transaction, token.id, values)
            done += 1
    return done


def strangers(transaction: Transaction) -> list[str]:
    """Return the tokens with another secret than journalled, unknown ones, and lost ones.

    One that was revoked since gives access to nobody, whatever its secret is.
    """
    recorded = _all_journalled(transaction)
    revoked = _revoked(transaction)
    hashes = token_table.hashes(transaction)
    wrong = []
    for token in token_table.select(transaction):
        known = recorded.pop(token.id, None)
        if token.revoked_at is not None and token.id in revoked:
            continue
        if known is None:
            wrong.append(f"{token.id} ({token.name}: unknown)")
        elif commitments.MEMBER in known.values and not commitments.holds(
            transaction, f"token {token.id}", [hashes[token.id]], known.values[commitments.MEMBER]
        ):
            wrong.append(f"{token.id} ({token.name}: another secret)")
    return wrong + [f"{id_} (gone)" for id_ in recorded]


def _revoked(transaction: Transaction) -> set[int]:
    lines = journal.of_kinds(transaction, (Kind.REVOKE_TOKEN,))
    return {int((line.after or {}).get("token", 0)) for line in lines}


def _differing(token: AccessToken, recorded: _Journalled) -> dict[str, str | None]:
    """Return the journalled values of the columns that differ."""
    held = journalled(token) | {
        "revoked_at": None if token.revoked_at is None else clock.to_text(token.revoked_at)
    }
    right = {**recorded.values, "revoked_at": recorded.revoked_at}
    return {
        name: right[name]
        for name in right.keys() & held.keys()
        if name != "token" and held[name] != right[name]
    }


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
