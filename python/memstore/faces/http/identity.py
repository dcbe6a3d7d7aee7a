"""The settings of an identity provider: whose tokens are accepted, and what each may do.

A TOML file, read once when the server starts (``--identity``, ``MEMSTORE_IDENTITY``):

    issuer = "https://login.example.com"
    resource = "https://memory.example.com/mcp"

    [[grants]]
    claim = "groups"
    value = "search-team"
    namespace = "search"
    access = "write"
    owner = "sub"

The table is a list of what the operator allows. A token's claims choose one row, and can only
narrow it: nothing that a token says gives more than its row.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import MAX_NAME
from memstore.domain.records import Scope
from memstore.domain.standing import Standing
from memstore.domain.tokens import Access
from memstore.errors import InvalidArgument, MemstoreError
from memstore.faces.http.callers import Caller
from memstore.frozen import field, frozen
from memstore.plain_http import checked_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
"""Where clients look for a resource's metadata (RFC 9728)."""

ASYMMETRIC: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""The algorithms with a public key. With HS256 the public key would be the secret, and ``none``
needs no key at all."""

DEFAULT_ALGORITHMS: Final = ("RS256", "ES256")
DEFAULT_LEEWAY_SECONDS: Final = 30
MAX_LEEWAY_SECONDS: Final = 60
"""How far the clocks of the provider and of this machine may differ."""

PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
"""A claim in a namespace's name, such as ``team-{org}``."""

OWN: Final = (
    *("issuer", "resource", "audience", "keys_url", "algorithms", "leeway_seconds"),
    *("scopes", "grants"),
)


class NotGranted(MemstoreError):
    """A valid token of which no row of the table allows anything."""


@frozen(kw_only=True)
class Grant:
    """A row of the table: what a token with a claim may do."""

    claim: str
    """The claim's name; a dot leads into an object, such as ``realm_access.roles``."""
    value: str | None = None
    """What it has to be, or as a list to contain; ``None`` for anything."""
    namespace: str
    """The namespace; ``{name}`` stands for the text of a claim."""
    access: str
    owner: str | None = None
    """The claim that names the user whose memories alone are reached."""

    def applies(self, claims: Mapping[str, Any]) -> bool:
        found = _claim(claims, self.claim)
        if self.value is None:
            return isinstance(found, str | list) and bool(found)
        return found == self.value or (isinstance(found, list) and self.value in found)


@frozen(kw_only=True)
class Identity:
    """An identity provider, and what its tokens give access to."""

    issuer: str
    resource: str
    """The address of this server, as clients know it."""
    audience: str
    keys_url: str | None = None
    """The address of its public keys; ``None`` to read it from the provider's metadata."""
    algorithms: Sequence[str] = DEFAULT_ALGORITHMS
    leeway_seconds: int = DEFAULT_LEEWAY_SECONDS
    scopes: Mapping[str, str] = field(default_factory=dict)
    """The scope that each access needs; empty if the table alone decides."""
    grants: Sequence[Grant]

    @property
    def metadata_url(self) -> str:
        url = checked_url(self.resource, "resource")
        return f"{url.scheme}://{url.netloc}{WELL_KNOWN}{url.path.rstrip('/')}"

    @property
    def metadata_paths(self) -> tuple[str, str]:
        """Where this server has the metadata: for itself, and for the path of its endpoint."""
        path = checked_url(self.resource, "resource").path.rstrip("/")
        return WELL_KNOWN, f"{WELL_KNOWN}{path}"

    @property
    def metadata(self) -> dict[str, Any]:
        """The protected resource metadata (RFC 9728)."""
        scopes = {"scopes_supported": [*self.scopes.values()]} if self.scopes else {}
        return {
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            **scopes,
            "bearer_methods_supported": ["header"],
            "resource_name": "memstore",
        }

    @property
    def challenge(self) -> str:
        """What ``WWW-Authenticate`` adds: where to sign in."""
        scope = f', scope="{" ".join(self.scopes.values())}"' if self.scopes else ""
        return f', resource_metadata="{self.metadata_url}"{scope}'

    def caller(self, claims: Mapping[str, Any]) -> Caller:
        """Return who has a token, by the first row that applies to its claims.

        Raises:
            NotGranted: no row applies, the row cannot be filled in, or a scope is missing.
        """
        grant = next((one for one in self.grants if one.applies(claims)), None)
        if grant is None:
            raise NotGranted("this identity has access to no memory here")
        access = self._narrowed(grant.access, claims)
        owners = None
        try:
            namespace = PLACEHOLDER.sub(lambda found: _text(claims, found[1]), grant.namespace)
            namespace = Standing(namespace).namespace
            if grant.owner is not None:
                owners = {"user_id": Scope(user_id=_text(claims, grant.owner)).user_id}
        except InvalidArgument as error:
            raise NotGranted(f"the claims of the token name no memory: {error}") from error
        return Caller(f"{claims['sub']} of {self.issuer}", namespace, access, owners)

    def _narrowed(self, access: str, claims: Mapping[str, Any]) -> str:
        """Return the access that the token's scopes leave of a row's."""
        if not self.scopes:
            return access
        given = claims.get("scope", claims.get("scp", ()))
        named = given.split() if isinstance(given, str) else given
        scopes = (
            {one for one in named if isinstance(one, str)} if isinstance(named, list) else set()
        )
        if access == Access.WRITE and self.scopes[Access.WRITE] in scopes:
            return access
        if scopes & {*self.scopes.values()}:
            return Access.READ
        raise NotGranted(f"the token lacks the scope {self.scopes[Access.READ]}")


def read(file: str) -> Identity:
    """Read the settings of an identity provider.

    Raises:
        InvalidArgument: the file cannot be read, or a setting is missing, unknown or wrong.
    """
    try:
        text = Path(file).expanduser().read_text("utf-8")
        return _identity(tomllib.loads(text))
    except OSError as error:
        raise InvalidArgument(f"{file!r} cannot be read: {error.strerror}") from None
    except ValueError as error:  # of TOML, of UTF-8, and our own
        raise InvalidArgument(f"{file!r}: {error}") from None


def _identity(given: dict[str, Any]) -> Identity:
    _check_names(given, OWN, "the settings")
    issuer, resource = (_required(given, name, "the settings") for name in ("issuer", "resource"))
    checked_url(issuer, "issuer")
    checked_url(resource, "resource")
    if (keys_url := given.get("keys_url")) is not None:
        checked_url(_required(given, "keys_url", "the settings"), "keys_url")
    audience = _required({"audience": resource, **given}, "audience", "the settings")
    return Identity(
        issuer=issuer,
        resource=resource,
        audience=audience,
        keys_url=keys_url,
        algorithms=_algorithms(given.get("algorithms", DEFAULT_ALGORITHMS)),
        leeway_seconds=_leeway(given.get("leeway_seconds", DEFAULT_LEEWAY_SECONDS)),
        scopes=_scopes(given.get("scopes", {})),
        grants=_grants(given.get("grants")),
    )


def _algorithms(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise InvalidArgument("algorithms is a list such as ['RS256', 'ES256']")
    for name in given:
        if name not in ASYMMETRIC:
            raise InvalidArgument(
                f"algorithms: {name!r} is not one with a public key: {', '.join(ASYMMETRIC)}"
            )
    return tuple(given)


def _leeway(given: Any) -> int:
    if type(given) is not int or not 0 <= given <= MAX_LEEWAY_SECONDS:
        raise InvalidArgument(f"leeway_seconds is a whole number from 0 to {MAX_LEEWAY_SECONDS}")
    return given


def _scopes(given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        raise InvalidArgument("scopes is a table with read and write")
    if not given:
        return {}
    _check_names(given, Access, "scopes")
    found = {str(access): _required(given, access, "scopes") for access in Access}
    for scope in found.values():
        # RFC 6749; it stands in a header.
        if re.fullmatch(r"[!#-\[\]-~]+", scope) is None:
            raise InvalidArgument(f"scopes: {scope!r} is not one scope")
    return found


def _grants(given: Any) -> tuple[Grant, ...]:
    if not isinstance(given, list) or not given:
        raise InvalidArgument("grants is missing: without a row nobody is let in")
    return tuple(_grant(one, f"row {number} of grants") for number, one in enumerate(given, 1))


def _grant(given: Any, where: str) -> Grant:
    if not isinstance(given, dict):
        raise InvalidArgument(f"{where} is a table")
    _check_names(given, ("claim", "value", "namespace", "access", "owner"), where)
    found: dict[str, Any] = {
        name: _required(given, name, where) for name in ("claim", "namespace", "access")
    }
    found |= {name: _required(given, name, where) for name in ("value", "owner") if name in given}
    if found["access"] not in list(Access):
        raise InvalidArgument(f"{where}: access is read or write, not {found['access']!r}")
    if PLACEHOLDER.fullmatch(found["namespace"]) is None:  # an example of it, for a fixed part
        Standing(PLACEHOLDER.sub("x", found["namespace"]))
    return Grant(**found)


def _required(given: Mapping[str, Any], name: str, where: str) -> str:
    value = given.get(name)
    if value is None:
        raise InvalidArgument(f"{where}: {name} is missing")
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        raise InvalidArgument(f"{where}: {name} is a text of 1 to {MAX_NAME} characters")
    return value


def _check_names(given: Mapping[str, Any], known: Any, where: str) -> None:
    if unknown := [name for name in given if name not in list(known)]:
        raise InvalidArgument(
            f"{where}: there is no {unknown[0]!r}, only {', '.join(map(str, known))}"
        )


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its whole name, which may have dots, or else by the path that it is."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _text(claims: Mapping[str, Any], name: str) -> str:
    found = _claim(claims, name)
    if not isinstance(found, str) or not found.strip():
        raise InvalidArgument(f"{name} is no text")
    return found
