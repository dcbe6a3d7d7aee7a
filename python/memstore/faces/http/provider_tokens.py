"""Tokens of the operator's identity provider: JWTs, checked by the provider's public keys."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, Final

import jwt
from jwt import exceptions

from memstore.errors import AccessDenied
from memstore.faces.http.provider_keys import ProviderKeys

if TYPE_CHECKING:
    from memstore.faces.http.callers import Caller
    from memstore.faces.http.identity import Identity

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
