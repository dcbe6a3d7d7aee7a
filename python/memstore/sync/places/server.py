"""A memstore server over HTTP, which keeps the files of devices without reading them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore import plain_http
from memstore.errors import Remedy, SyncError
from memstore.sync.places import Entry, names
from memstore.sync.places.folder import checked_name, too_large

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEP_SECONDS: Final = 30.0

MAX_LISTING_BYTES: Final = 8 * 2**20

MAX_REFUSAL_BYTES: Final = 64 * 1024

PATH: Final = "/mcp/sync"
"""Where a server has the files, beside its endpoint ``/mcp``."""


class ServerPlace:
    """The files that a server keeps for the namespace of a token.

    Args:
        address: of the server, with or without the path of its endpoint.
        token: its secret.
    """

    def __init__(self, address: str, token: str) -> None:
        url = plain_http.checked_url(address, "place")
        path = url.path.rstrip("/").removesuffix(PATH).removesuffix("/mcp")
        self.address = address
        self.ignored: Sequence[str] = ()
        self._url = url._replace(path=path + PATH)
        self._headers = {"Authorization": f"Bearer {token}"}

    def list(self) -> Mapping[str, Entry]:
        body = self._request("GET", "", most=MAX_LISTING_BYTES)
        try:
            return {
                name: Entry(int(one["size"]), str(one["tag"]))
                for name, one in json.loads(body)["files"].items()
                if names.is_name(name)
            }
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise SyncError(
                f"{self.address} is no server that keeps files of devices", remedy=Remedy.NAME_PLACE
            ) from None

    def get(self, name: str, *, most: int) -> bytes:
        checked_name(name)
        return self._request("GET", name, most=most)

    def put(self, name: str, data: bytes) -> None:
        checked_name(name)
        self._request("PUT", name, data)

    def delete(self, name: str) -> None:
        checked_name(name)
        self._request("DELETE", name)

    def publish(self, *, anew: bool = False) -> None:
        """Do nothing: what was put is there, and nothing of what it was before."""

    def _request(
        self, method: str, name: str, body: bytes | None = None, *, most: int = MAX_REFUSAL_BYTES
    ) -> bytes:
        url = self._url._replace(path=f"{self._url.path}/{name}" if name else self._url.path)
        try:
            answer = plain_http.send(
                url,
                body,
                self._headers,
                method=method,
                seconds=STEP_SECONDS,
                most=max(most, MAX_REFUSAL_BYTES),
            )
        except plain_http.Unreachable as error:
            raise SyncError(f"{error}; the next run carries on") from None
        if answer.status == 401:
            raise SyncError(
                f"{self.address} does not accept the token: {_reason(answer).partition('. ')[0]}",
                remedy=Remedy.CREATE_TOKEN,
            )
        if answer.status not in (200, 201, 204):
            raise SyncError(
                f"{self.address} refused {name or 'to list its files'}: {_reason(answer)}"
            )
        if len(answer.body) > most:
            raise too_large(name, most)
        return answer.body


def _reason(answer: plain_http.Answer) -> str:
    """Return why a server refused a request."""
    try:
        told: Any = json.loads(answer.body)["error"]
        reason = told["message"] if isinstance(told, dict) else told
        return f"{str(reason)[:300]} (status {answer.status})"
    except (ValueError, LookupError, TypeError, RecursionError):
        return f"status {answer.status}"
