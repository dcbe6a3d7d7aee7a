"""An identity provider on loopback: a library for providers signs its tokens (RFC 9068)."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from joserfc.jwk import ECKey, KeySet, RSAKey
from tests.support.http_server import Asked, serving

RESOURCE = "http://localhost:8765/mcp"
METADATA = "/.well-known/openid-configuration"
KEYS = "/keys"


class Client:
    """A program that users sign in with."""

    def get_client_id(self) -> str:
        return "editor"


class User:
    def __init__(self, name: str) -> None:
        self.name = name

    def get_user_id(self) -> str:
        return self.name


class Provider:
    """Issues tokens and publishes its keys; ``asked`` lists the paths that were read."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.keys = [RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})]
        self.published: Any = None
        self.away = False
        self.asked: list[str] = []

    def answer(self, asked: Asked) -> None:
        self.asked.append(asked.target)
        if self.away:
            asked.answer({"error": "away"}, status=503)
        elif asked.target == METADATA:
            asked.answer({"issuer": self.issuer, "jwks_uri": self.issuer + KEYS})
        elif asked.target == KEYS:
            public = {"keys": [key.as_dict(private=False) for key in self.keys]}
            asked.answer(public if self.published is None else self.published)
        else:
            asked.answer({}, status=404)

    def rotate(self, key_id: str) -> None:
        """Sign with a new key from now on; the old one is not published any more."""
        self.keys = [ECKey.generate_key("P-256", {"kid": key_id, "use": "sig", "alg": "ES256"})]

    def token(
        self,
        user: str = "ana",
        *,
        scope: str = "",
        seconds: int = 600,
        audience: str | list[str] = RESOURCE,
        key: Any = None,
        issuer: str | None = None,
        **claims: Any,
    ) -> str:
        """Return an access token; claims override what the library writes."""
        signing = self.keys[0] if key is None else key
        algorithm = signing.get("alg")

        class Generator(JWTBearerTokenGenerator):
            def get_jwks(self) -> KeySet:
                return KeySet([signing])

            def get_audiences(self, client: Any, user: Any, scope: Any) -> Any:
                return audience

            def get_extra_claims(
                self, client: Any, grant_type: Any, user: Any, scope: Any
            ) -> dict[str, Any]:
                return claims

        made = Generator(
            issuer=issuer or self.issuer,
            alg=algorithm,
            expires_generator=lambda _client, _grant: seconds,
        )
        return str(made.access_token_generator(Client(), "authorization_code", User(user), scope))


def confused(token: str, secret: bytes) -> str:
    """Return a token signed by HS256 with a public key as its secret, which libraries refuse."""
    payload = token.split(".")[1]
    header = _encoded(json.dumps({"alg": "HS256", "kid": "first", "typ": "at+jwt"}).encode())
    signature = hmac.digest(secret, f"{header}.{payload}".encode(), "sha256")
    return f"{header}.{payload}.{_encoded(signature)}"


def _encoded(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


@contextmanager
def providing() -> Iterator[Provider]:
    """Run a provider until the block ends."""
    holder: list[Provider] = []
    with serving(lambda asked: holder[0].answer(asked)) as url:
        holder.append(Provider(url))
        yield holder[0]


def settings(provider: Provider, **changes: Any) -> str:
    """Return the settings file for a provider, with some settings changed."""
    given: dict[str, Any] = {
        "issuer": provider.issuer,
        "resource": RESOURCE,
        "grants": [
            {
                "claim": "groups",
                "value": "search",
                "namespace": "search",
                "access": "write",
                "owner": "sub",
            },
            {"claim": "groups", "value": "guests", "namespace": "search", "access": "read"},
            {"claim": "org", "namespace": "org-{org}", "access": "write"},
        ],
        **changes,
    }
    tables = [name for name, value in given.items() if isinstance(value, dict)]
    lines = [
        f"{name} = {json.dumps(value)}"
        for name, value in given.items()
        if name != "grants" and name not in tables
    ]
    for name in tables:
        lines += [f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in given[name].items())]
    for row in given["grants"]:
        lines += ["[[grants]]", *(f"{k} = {json.dumps(v)}" for k, v in row.items())]
    return "\n".join(lines) + "\n"
