"""The public keys of an identity provider, cached.

They are read again after ten minutes, and at once for a key that is not among them, but never more
often than every 30 seconds: nobody can make the server ask the provider by inventing keys. While
the provider is away, the known keys are used for another hour.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
import anyio.to_thread
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from memstore.domain import clock
from memstore.errors import MemstoreError
from memstore.faces import plain_http

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
