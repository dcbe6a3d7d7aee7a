"""A reply to a browser, and the headers that protect every page."""

from __future__ import annotations

import gzip
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from memstore.faces.serving.readiness import RETRY_SECONDS
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
PLAIN: Final = "text/plain; charset=utf-8"

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing inline, no eval, no frames, nothing from elsewhere."""

PROTECTION: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    # Not no-referrer: browsers then send forms with the Origin "null" (decision 100).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)

MIN_COMPRESSED: Final = 1000
"""Bytes below which compression does not pay."""


class Reply(NamedTuple):
    status: int
    body: bytes = b""
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    caching: str = "no-store"

    def sent_headers(self, *, is_compressed: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield the headers as the server sends them."""
        own = (("Content-Type", self.kind), ("Cache-Control", self.caching), *self.headers)
        more = [("Content-Encoding", "gzip")] if is_compressed else []
        if self.status == HTTPStatus.SERVICE_UNAVAILABLE:
            more.append(("Retry-After", str(RETRY_SECONDS)))
        for name, value in (*own, *PROTECTION, *more, ("Vary", "Accept-Encoding, HX-Request")):
            yield name.lower().encode(), value.encode("latin-1")

    def compressed(self, accepted: str) -> bytes | None:
        """Return the body compressed; ``None`` if the browser does not take it, or it is small."""
        if "gzip" not in accepted or len(self.body) < MIN_COMPRESSED:
            return None
        return gzip.compress(self.body, 6, mtime=0)


def redirect(path: str, *headers: tuple[str, str]) -> Reply:
    """Send the browser to another page, with GET."""
    return Reply(303, b"", PLAIN, (("Location", path), *headers))


def plain(status: int, text: str, *headers: tuple[str, str]) -> Reply:
    """A reply before anything is known of the sender: one sentence, no page."""
    return Reply(status, f"{text}\n".encode(), PLAIN, headers)
