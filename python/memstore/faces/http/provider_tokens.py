"""Tokens of the operator's identity provider: JWTs, checked by the provider's public keys."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
import anyio.to_thread
import jwt
from jwt import PyJWK, exceptions
from jwt.exceptions import PyJWTError

from memstore import plain_http
from memstore.domain import clock
from memstore.errors import AccessDenied, MemstoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.faces.http.callers import Caller
    from memstore.faces.http.identity import Identity

    Fetch: TypeAlias = Callable[[Identity], Sequence[dict[str, Any]]]


REFRESH_SECONDS: Final = 600.0
"""So a key that the provider has withdrawn is not accepted for longer than that."""
MAX_AGE_SECONDS: Final = 3600.0
"""The longest that keys are used while the provider is away."""
MIN_INTERVAL_SECONDS: Final = 30.0
FETCH_SECONDS: Final = 5.0

MAX_BYTES: Final = 256 * 1024
MAX_KEYS: Final = 100

FAMILIES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""The type of the keys of each algorithm, by its first letters."""


class ProviderAway(MemstoreError):
    """The keys of the identity provider cannot be read at the moment."""


class ProviderKeys:
    """The keys of one provider.

    Args:
        fetch: returns the keys as the provider publishes them; blocks.
    """

    def __init__(
        self,
        identity: Identity,
        fetch: Fetch | None = None,
    ) -> None:
        self._identity = identity
        self._fetch = fetch or fetched
        self._keys: Sequence[dict[str, Any]] = ()
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._failed = ""
        self._reading = anyio.Lock()
        self._threads = anyio.CapacityLimiter(1)

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """Return the key that a token names; ``None`` if the provider has none.

        Args:
            key_id: its ``kid``. Without one, a key counts only if no other has its algorithm.
            algorithm: the key must be meant for it.

        Raises:
            ProviderAway: it is not known whether there is such a key.
        """
        key = self._known(key_id, algorithm)
        if (key is None or self._age > REFRESH_SECONDS) and self._may_try:
            async with self._reading:
                if self._may_try:  # nobody else has tried in the meantime
                    await self._read()
        elif key is None and self._reading.locked():
            async with self._reading:  # another request is asking the provider
                pass
        if self._age > MAX_AGE_SECONDS:
            raise ProviderAway(self._failed or "the provider has not been asked yet")
        key = self._known(key_id, algorithm)
        if key is None and self._failed:
            raise ProviderAway(self._failed)
        return key

    @property
    def _age(self) -> float:
        return float("inf") if self._read_at is None else clock.monotonic() - self._read_at

    @property
    def _may_try(self) -> bool:
        return self._tried_at is None or clock.monotonic() - self._tried_at >= MIN_INTERVAL_SECONDS

    async def _read(self) -> None:
        self._tried_at = clock.monotonic()
        self._failed = f"{self._identity.issuer} did not answer within {FETCH_SECONDS:g} s"
        with anyio.move_on_after(FETCH_SECONDS):
            try:
                keys = await anyio.to_thread.run_sync(
                    self._fetch, self._identity, limiter=self._threads, abandon_on_cancel=True
                )
            except (MemstoreError, ValueError) as error:
                self._failed = str(error)
                return
            self._keys, self._read_at, self._failed = keys, clock.monotonic(), ""

    def _known(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        found = [
            key
            for key in self._keys
            if (key_id is None or key.get("kid") == key_id)
            and key.get("alg", algorithm) == algorithm
            and key.get("kty") == FAMILIES[algorithm[:2]]
            and key.get("use", "sig") == "sig"
            and "verify" in key.get("key_ops", ("verify",))
        ]
        if len(found) != 1:
            return None
        try:
            return PyJWK(found[0], algorithm)
        except (PyJWTError, ValueError, TypeError):  # of a curve that the algorithm does not have
            return None


def fetched(identity: Identity) -> list[dict[str, Any]]:
    """Read the keys of a provider. Blocks.

    Raises:
        Unreachable: it did not answer.
        ValueError: its answer is not what it should be.
    """
    url = identity.keys_url or _keys_url(identity.issuer)
    keys = _object(url).get("keys")
    if not isinstance(keys, list):
        raise ValueError(f"{url} has no list of keys")
    return [key for key in keys[:MAX_KEYS] if isinstance(key, dict)]


def _keys_url(issuer: str) -> str:
    """Return the address of the keys, which the provider's metadata has."""
    for place in _metadata_urls(issuer):
        answer = _get(place)
        if answer.status != 200:
            continue
        found = _read_object(answer.body, place)
        if found.get("issuer") != issuer:
            raise ValueError(f"{place} is the metadata of another issuer")
        if not isinstance(found.get("jwks_uri"), str):
            raise ValueError(f"{place} names no keys")
        return str(found["jwks_uri"])
    raise ValueError(f"{issuer} has no metadata: name its keys with keys_url")


def _metadata_urls(issuer: str) -> Iterator[str]:
    """Yield where the metadata may be, by OpenID Connect Discovery and by RFC 8414."""
    url = plain_http.checked_url(issuer, "issuer")
    path = url.path.rstrip("/")
    yield f"{url.scheme}://{url.netloc}{path}/.well-known/openid-configuration"
    yield f"{url.scheme}://{url.netloc}/.well-known/oauth-authorization-server{path}"


def _object(url: str) -> dict[str, Any]:
    answer = _get(url)
    if answer.status != 200:
        raise ValueError(f"{url} answered {answer.status}")
    return _read_object(answer.body, url)


def _get(url: str) -> plain_http.Answer:
    return plain_http.send(
        plain_http.checked_url(url, "keys_url"),
        headers={"Accept": "application/json"},
        seconds=FETCH_SECONDS,
        most=MAX_BYTES,
    )


def _read_object(body: bytes, url: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{url} did not answer with a JSON object")
    return found


JWT: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)

ACCESS_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""What the header ``typ`` may say: no token for another purpose, such as a logout, is one."""

REQUIRED: Final = ["exp", "iss", "aud", "sub"]

MOMENTS: Final = ("exp", "nbf", "iat")
"""The claims that are numbers of seconds (RFC 7519); PyJWT takes texts of digits for them, too."""

REASONS: Final[dict[type[Exception], str]] = {
    exceptions.ExpiredSignatureError: "the token has expired",
    exceptions.ImmatureSignatureError: "the token is not valid yet",
    exceptions.InvalidAudienceError: "the token is for another audience",
    exceptions.InvalidIssuerError: "the token is from another issuer",
    exceptions.InvalidSignatureError: "the signature of the token is wrong",
    exceptions.MissingRequiredClaimError: "the token lacks one of exp, iss, aud and sub",
}
"""What is said of each error. The sender could read all of it in the token."""

UNREADABLE: Final = (exceptions.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError)
"""The errors of tokens, also of claims of another type than they should have."""


class ProviderTokens:
    """Checks the tokens of one identity provider."""

    def __init__(self, identity: Identity, keys: ProviderKeys | None = None) -> None:
        self.identity = identity
        self._keys = keys or ProviderKeys(identity)

    async def caller(self, token: str) -> Caller:
        """Return who has a token.

        Raises:
            AccessDenied: it is not valid.
            NotGranted: it is valid, and gives access to nothing.
            ProviderAway: the key to check it with cannot be read at the moment.
        """
        return self.identity.caller(await self._claims(token))

    async def _claims(self, token: str) -> dict[str, Any]:
        header = _header(token) or {}
        algorithm, key_id = header.get("alg"), header.get("kid")
        # Before any key is looked for: the token may not choose how it is checked.
        if not isinstance(algorithm, str) or algorithm not in self.identity.algorithms:
            raise AccessDenied("the token is signed in a way that is not accepted")
        if str(header.get("typ", "jwt")).lower() not in ACCESS_TYPES or "crit" in header:
            raise AccessDenied("the token is not an access token")
        if not isinstance(key_id, str | None):
            raise AccessDenied("the token names its key in another form")
        key = await self._keys.find(key_id, algorithm)
        if key is None:
            raise AccessDenied("the token is signed with an unknown key")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self.identity.audience,
                issuer=self.identity.issuer,
                leeway=self.identity.leeway_seconds,
                options={"require": REQUIRED, "enforce_minimum_key_length": True},
            )
        except UNREADABLE as error:
            raise AccessDenied(REASONS.get(type(error), "the token cannot be read")) from error
        if any(type(claims.get(name, 0)) not in (int, float) for name in MOMENTS):
            raise AccessDenied("the token has a time that is no number")
        return claims


def is_jwt(token: str) -> bool:
    """Return whether a token has the form of a JWT; the file's own have not."""
    return JWT.fullmatch(token) is not None and _header(token) is not None


def _header(token: str) -> dict[str, Any] | None:
    first = token.partition(".")[0]
    try:
        found = json.loads(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "alg" in found else None
