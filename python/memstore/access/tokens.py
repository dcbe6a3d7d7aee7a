"""Tokens: who may use the server over HTTP, in which namespace, for reading or for writing.

A token's secret is random and leaves the program once, when it is made. The file keeps its SHA-256:
a secret of 256 random bits cannot be found from it, so no slow hash is needed, and looking it up by
its hash tells nobody by the time it takes how near a guess was.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.journal import Kind
from memstore.database.tables import access_tokens as token_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.domain.records import Access, AccessToken
from memstore.errors import AccessDenied, Conflict, InvalidArgument, NotFound, StorageError

if TYPE_CHECKING:
    import builtins
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author

PREFIX: Final = "mst_"
"""Begins every secret made here, so that scanners for leaked secrets can know them."""

SECRET_BYTES: Final = 32

ACCEPTED_SECRET: Final = re.compile(r"[A-Za-z0-9._~+/-]{43,200}=*")
"""What an ``Authorization`` header can carry (RFC 6750), and room for 256 bits in base 64."""

USE_NOTED_AFTER: Final = timedelta(minutes=1)
"""A use is written down once in this time: a request must not cost a write."""


class Tokens:
    """The tokens of a file; new ones are for one namespace."""

    def __init__(self, engine: Engine, author: Author, namespace: str) -> None:
        self._engine = engine
        self._author = author
        self._namespace = namespace

    def create(
        self,
        name: str,
        *,
        access: str = Access.WRITE,
        expires_at: datetime | str | None = None,
        secret: str | None = None,
    ) -> tuple[AccessToken, str]:
        """Make a token for this namespace; return it and its secret, which is stored nowhere.

        Args:
            name: what it is called; free to be used again once that token is revoked.
            access: ``write`` for every tool, ``read`` for those that change nothing.
            expires_at: from when on it is refused; never, when left out.
            secret: a secret made elsewhere, such as by ``openssl rand -hex 32``. With one that
                is known already under the same name, namespace and access, nothing is made.

        Raises:
            Conflict: another token has the name, or the secret.
            ValueError: an empty name, no such access, a time that is past, a secret that is too
                short or cannot stand in a header.
        """
        checked_text(name, "name", MAX_NAME)
        if access not in tuple(Access):
            raise ValueError(f"access must be {' or '.join(Access)}, not {access!r}")
        now = clock.utc_now()
        until = clock.moment(expires_at, "expires_at")
        if until is not None and until <= now:
            raise InvalidArgument(f"is past already: {clock.to_text(until)}", argument="expires_at")
        if secret is None:
            secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        elif ACCEPTED_SECRET.fullmatch(secret) is None:
            raise InvalidArgument(
                "must be 43 to 200 letters, digits or any of . _ ~ + / - and random, as "
                "`openssl rand -hex 32` makes it",
                argument="secret",
            )
        with self._engine.write() as transaction:
            known = token_table.by_hash(transaction, _hash(secret))
            if known is not None:
                return self._same(known, name, access), secret
            if (taken := token_table.unrevoked(transaction, name)) is not None:
                raise Conflict(
                    f"token {taken.id} is called {name!r}: choose another name, or revoke it first"
                )
            token = token_table.insert(
                Changes(transaction, self._author),
                lambda new: Line(Kind.TOKEN, after=journalled(new)),
                name=name,
                secret_hash=_hash(secret),
                namespace=self._namespace,
                access=access,
                created_at=now,
                expires_at=until,
            )
        return token, secret

    def list(self) -> builtins.list[AccessToken]:
        """Return every token of the file, oldest first, with those that are revoked or expired."""
        with self._engine.read() as transaction:
            return token_table.select(transaction)

    def revoke(self, name_or_id: str | int) -> AccessToken:
        """End a token: from now on every request with it is refused. Return what it now is.

        Args:
            name_or_id: the name of one that is not revoked, or any one's number.

        Raises:
            NotFound: there is none.
            Conflict: it is revoked already.
        """
        with self._engine.write() as transaction:
            token = self._named(transaction, name_or_id)
            if token.revoked_at is not None:
                raise Conflict(f"token {token.id} ({token.name!r}) was revoked already")
            now = clock.utc_now()
            line = Line(
                Kind.REVOKE_TOKEN,
                before={"token": token.id, "revoked_at": None},
                after={"token": token.id, "revoked_at": clock.to_text(now)},
            )
            Changes(transaction, self._author).write(line, token_table.revoking(token.id, now))
            return self._named(transaction, token.id)

    def required(self) -> bool:
        """Whether requests need a token: from the first one on, even when none is good any more."""
        with self._engine.read() as transaction:
            return token_table.exist(transaction)

    def usable(self) -> bool:
        """Whether there is a token that is neither revoked nor expired."""
        return any(token.status == "active" for token in self.list())

    def check(self, secret: str) -> AccessToken:
        """Return the token of a secret.

        Raises:
            AccessDenied: the secret is unknown, or its token revoked or expired.
        """
        with self._engine.read() as transaction:
            token = token_table.by_hash(transaction, _hash(secret))
        if token is None:
            raise AccessDenied("the token is unknown: create one with memstore token create")
        if token.status != "active":
            raise AccessDenied(
                f"the token is {token.status}: create another with memstore token create"
            )
        return token

    def note_use(self, token: AccessToken) -> None:
        """Record that a token was used. Best effort: it waits for nobody and never fails."""
        now = clock.utc_now()
        last = token.last_used_at
        if last is not None and last <= now < last + USE_NOTED_AFTER:
            return
        with suppress(StorageError), self._engine.write(wait_seconds=0) as transaction:
            token_table.note_use(transaction, token.id, now)

    def _same(self, known: AccessToken, name: str, access: str) -> AccessToken:
        """Return a token made before with this secret, if it is the one that is asked for."""
        wanted = (name, self._namespace, access, "active")
        if (known.name, known.namespace, known.access, known.status) != wanted:
            raise Conflict(
                f"that secret is token {known.id}'s ({known.name!r}, {known.status}, may "
                f"{known.access} in {known.namespace!r}): make another secret"
            )
        return known

    def _named(self, transaction: Transaction, name_or_id: str | int) -> AccessToken:
        if isinstance(name_or_id, str):
            token = token_table.unrevoked(transaction, name_or_id)
        else:
            every = token_table.select(transaction)
            token = next((one for one in every if one.id == name_or_id), None)
        if token is None:
            raise NotFound(f"there is no token {name_or_id!r}: memstore token list shows them")
        return token


def journalled(token: AccessToken) -> dict[str, object]:
    """Return what the journal holds of a new token."""
    return {
        "token": token.id,
        "name": token.name,
        "namespace": token.namespace,
        "access": token.access,
        "expires_at": None if token.expires_at is None else clock.to_text(token.expires_at),
    }


def strangers(transaction: Transaction) -> list[str]:
    """Return the tokens that are not as the journal has them: somebody else wrote them."""
    made: dict[object, object] = {}
    ended: dict[object, object] = {}
    for line in journal.of_kinds(transaction, (Kind.TOKEN, Kind.REVOKE_TOKEN)):
        after = line.after or {}
        if line.kind == Kind.TOKEN:
            made[after.get("token")] = after
        else:
            ended[after.get("token")] = after.get("revoked_at")
    wrong = []
    for token in token_table.select(transaction):
        revoked = None if token.revoked_at is None else clock.to_text(token.revoked_at)
        if made.pop(token.id, None) != journalled(token) or ended.get(token.id) != revoked:
            wrong.append(f"{token.id} ({token.name})")
    return wrong + [f"{token_id} (gone)" for token_id in made]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
