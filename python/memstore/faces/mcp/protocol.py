"""The protocol's messages: revisions, error codes, and the required parameters of each method.

A connection uses one of two eras, which its first request determines. In the older one a handshake
(``initialize``) agrees on a revision; in the newer one each request names its revision, in an
envelope under ``_meta``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    Message: TypeAlias = dict[str, Any]
    Params: TypeAlias = Mapping[str, Any]

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_REVISIONS: Final = ("2026-07-28",)

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_REVISION: Final = -32022

RESERVED: Final = "io.modelcontextprotocol/"
REVISION_KEY: Final = RESERVED + "protocolVersion"
CAPABILITIES_KEY: Final = RESERVED + "clientCapabilities"
CLIENT_KEY: Final = RESERVED + "clientInfo"
SERVER_KEY: Final = RESERVED + "serverInfo"
LEVEL_KEY: Final = RESERVED + "logLevel"

LEVELS: Final = (
    *("debug", "info", "notice", "warning"),
    *("error", "critical", "alert", "emergency"),
)
"""The levels of log messages, least serious first."""


class Refused(Exception):
    """A request that is answered with a protocol error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def error(self) -> Message:
        told = {"code": self.code, "message": self.message}
        return told if self.data is None else told | {"data": self.data}


def unreadable(error: ValueError | RecursionError) -> Refused:
    """Return the error for a line that could not be parsed."""
    deep = isinstance(error, RecursionError)
    return Refused(PARSE_ERROR, "the JSON is nested too deeply" if deep else "this is not JSON")


def not_a_request() -> Refused:
    return Refused(INVALID_REQUEST, "this is not a request")


def method_not_found(method: str) -> Refused:
    return Refused(METHOD_NOT_FOUND, "there is no such method", method)


def invalid_params(fault: str = "") -> Refused:
    return Refused(INVALID_PARAMS, "the parameters do not fit the method", fault)


# -- parameters of requests ------------------------------------------------------------------------

MapOf: Final = list
"""``[shape]`` is an object with any keys and values of one shape."""

TOKEN: Final = (str, int)
META: Final = {"progressToken?": TOKEN}
LISTING: Final = {"_meta?": META, "cursor?": str}

CLIENT: Final = {"name": str, "version": str, "title?": str, "websiteUrl?": str}
CAPABILITIES: Final = {
    "experimental?": [dict],
    "roots?": {"listChanged?": bool},
    "sampling?": dict,
    "elicitation?": dict,
}

REQUESTS: Final = {
    "initialize": {
        "_meta?": META,
        "protocolVersion": str,
        "capabilities": CAPABILITIES,
        "clientInfo": CLIENT,
    },
    "ping": {"_meta?": META},
    "logging/setLevel": {"_meta?": META, "level": LEVELS},
    "server/discover": {"_meta?": META},
    "tools/list": LISTING,
    "tools/call": {"_meta?": META, "name": str, "arguments?": dict},
    "prompts/list": LISTING,
    "prompts/get": {"_meta?": META, "name": str, "arguments?": [str]},
    "resources/list": LISTING,
    "resources/templates/list": LISTING,
    "resources/read": {"_meta?": META, "uri": str},
    "completion/complete": {
        "_meta?": META,
        "ref": ({"type": ("ref/prompt",), "name": str}, {"type": ("ref/resource",), "uri": str}),
        "argument": {"name": str, "value": str},
        "context?": {"arguments?": [str]},
    },
}
"""Shapes of parameters. ``?`` marks one that may be missing or null; a tuple lists alternatives, in
which a string stands for itself."""

ENVELOPE: Final = {
    "_meta": {
        REVISION_KEY: str,
        CAPABILITIES_KEY: CAPABILITIES,
        f"{CLIENT_KEY}?": CLIENT,
        f"{LEVEL_KEY}?": LEVELS,
    }
}

HANDSHAKE_ONLY: Final = ("initialize", "ping", "logging/setLevel")
ENVELOPE_ONLY: Final = ("server/discover",)


def fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_holds(value, *one) for one in shape.items())
    if isinstance(shape, MapOf):
        return isinstance(value, dict) and all(fits(one, shape[0]) for one in value.values())
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, str):
        return bool(value == shape)
    return isinstance(value, shape) and not (shape is int and isinstance(value, bool))


def _holds(value: Params, name: str, shape: Any) -> bool:
    held = value.get(name.removesuffix("?"))
    if name.endswith("?") and held is None:
        return True
    return name.removesuffix("?") in value and fits(held, shape)


def check(method: str, params: Params) -> None:
    """Raise :class:`Refused` if the parameters of a protocol method are invalid."""
    if not fits(params, REQUESTS[method]):
        raise invalid_params()


# -- the envelope of the newer era -----------------------------------------------------------------


def has_envelope(params: Params | None) -> bool:
    """Return whether a request names its revision; the key is reserved for that."""
    meta = params.get("_meta") if params else None
    return isinstance(meta, dict) and REVISION_KEY in meta


def check_envelope(params: Params | None) -> None:
    """Raise :class:`Refused` unless a request names a supported revision."""
    meta = params.get("_meta") if params else None
    if not isinstance(meta, dict):
        raise Refused(INVALID_PARAMS, f"_meta must contain {REVISION_KEY} and {CAPABILITIES_KEY}")
    if missing := [key for key in (REVISION_KEY, CAPABILITIES_KEY) if key not in meta]:
        raise Refused(INVALID_PARAMS, f"_meta lacks {' and '.join(missing)}")
    revision = meta[REVISION_KEY]
    if not isinstance(revision, str):
        raise Refused(INVALID_PARAMS, f"{REVISION_KEY} must be text")
    if revision not in ENVELOPE_REVISIONS:
        raise Refused(
            UNSUPPORTED_REVISION,
            f"the revision {revision[:20]!r} is not supported",
            {"supported": list(ENVELOPE_REVISIONS), "requested": revision},
        )


def refused_handshake(params: Params | None) -> Refused:
    """Return the error for ``initialize`` in the newer era."""
    requested = (params or {}).get("protocolVersion")
    asked = {"requested": requested} if isinstance(requested, str) else {}
    return Refused(
        UNSUPPORTED_REVISION,
        f"this connection uses {ENVELOPE_REVISIONS[-1]}, which has no initialize",
        {"supported": list(ENVELOPE_REVISIONS), **asked},
    )


def refused_envelope() -> Refused:
    """Return the error for a request with an envelope in the older era."""
    return Refused(
        INVALID_REQUEST,
        "this connection began with a handshake: requests with an envelope of "
        f"{ENVELOPE_REVISIONS[-1]} are not accepted",
    )


# -- messages --------------------------------------------------------------------------------------


def request_id(value: Any) -> str | int | None:
    """Return a valid request id, or ``None``."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def same_id(value: str | int) -> str | int:
    """Return the key of an id, under which 7 and ``"7"`` are equal: some clients mix them."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    return value
