"""The files of devices that meet at this server: listed, read, written and removed, never opened.

``/mcp/sync`` lists the files of the caller's namespace, and ``/mcp/sync/DEVICE/NAME`` is one of
them. They lie in a folder beside the file of memories. The first token that writes for a device
owns it, and no other one may, so that nobody who reads a namespace can speak for a device of
somebody else. When that token is revoked, others may remove the files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memstore.domain.tokens import Access
from memstore.errors import MemstoreError, SyncError
from memstore.faces import wording
from memstore.faces.http.endpoint import CALLER
from memstore.faces.serving.readiness import RETRY_SECONDS
from memstore.file.paths import is_server
from memstore.named import NamedTuple
from memstore.sync.places import names
from memstore.sync.places.folder import FolderPlace
from memstore.sync.places.server import PATH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from memstore.faces.http.callers import Caller
    from memstore.faces.serving.stores import Stores
    from memstore.sync.places import Entry

logger = logging.getLogger(__name__)

METHODS: Final = ("GET", "PUT", "DELETE")

MAX_FILE_BYTES: Final = 16 * 2**20
"""As large as the body of any other request."""

MAX_FILES: Final = 20_000
MAX_PLACE_BYTES: Final = 4 * 2**30
"""Of all devices of one namespace."""

MAX_OWN_DEVICES: Final = 50
"""How many devices one token may begin."""

AT_ONCE: Final = 4
"""Threads for files."""

OWNER: Final = ".owner"
"""In the folder of a device: the name of the token that began it."""

FOLDER: Final = ".places"
"""What the folder's name has after that of the file of memories."""


class FilesRefused(Exception):
    """A request for files that is not answered."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Conditions(NamedTuple):
    """The headers by which a request names the state of a file that it knows."""

    match: str | None
    none_match: str | None

    def check(self, there: Entry | None) -> None:
        """Refuse a change of a file that is not as the caller knows it."""
        tag = None if there is None else _quoted(there.tag)
        if self.none_match == "*" and there is not None:
            raise FilesRefused(412, "the file exists")
        if self.match is not None and self.match != tag and not (self.match == "*" and there):
            raise FilesRefused(412, "the file is not as it was")


def is_of_devices(path: str) -> bool:
    """Return whether a path is one of those that this module answers."""
    return path == PATH or path.startswith(PATH + "/")


def with_device_files(endpoint: ASGIApp, stores: Stores) -> ASGIApp:
    """Return an application for accepted requests: files on their paths, the endpoint elsewhere."""
    files = DeviceFiles(stores)

    async def divided(scope: Scope, receive: Receive, send: Send) -> None:
        await (files if is_of_devices(scope["path"]) else endpoint)(scope, receive, send)

    return divided


class DeviceFiles:
    """Answers requests for the files of devices."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._threads = anyio.CapacityLimiter(AT_ONCE)
        self._writing = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller: Caller | None = scope[CALLER]
        name = scope["path"].removeprefix(PATH).strip("/")
        conditions = _Conditions(
            request.headers.get("if-match"), request.headers.get("if-none-match")
        )
        act = partial(self._answer, request.method, name, await request.body(), conditions, caller)
        try:
            if request.method == "GET":
                response = await anyio.to_thread.run_sync(act, limiter=self._threads)
            else:  # one after the other, so that limits and owners hold
                async with self._writing:
                    response = await anyio.to_thread.run_sync(act, limiter=self._threads)
        except FilesRefused as error:
            response = JSONResponse({"error": str(error)}, error.status)
        except (MemstoreError, OSError) as error:
            logger.warning("files of devices cannot be used: %s", wording.in_server(error))
            response = JSONResponse(
                {"error": "the server cannot use its files of devices; its log says why"},
                503,
                {"Retry-After": str(RETRY_SECONDS)},
            )
        await response(scope, receive, send)

    def _answer(
        self, method: str, name: str, body: bytes, conditions: _Conditions, caller: Caller | None
    ) -> Response:
        if caller is None:
            raise FilesRefused(403, "files of devices need a token")
        if name and not names.is_name(name):
            raise FilesRefused(404, "not found: no device writes files of such a name")
        folder = self._folder(caller)
        place = FolderPlace(folder)
        there = place.list() if folder.is_dir() else {}
        if method == "GET":
            return _listed(there, conditions) if not name else _read(place, there, name, conditions)
        if not name:
            raise FilesRefused(405, "use GET")
        if caller.access == Access.READ:
            raise FilesRefused(403, "the token is read-only")
        conditions.check(there.get(name))
        if method == "PUT":
            self._put(place, folder, there, name, body, caller)
            there = place.list()
            return Response(status_code=201, headers={"ETag": _quoted(there[name].tag)})
        self._delete(place, folder, there, name, caller)
        return Response(status_code=204)

    def _folder(self, caller: Caller) -> Path:
        """Return the folder of a namespace, and of the owners that a caller is bound to."""
        path = self._stores.store().path
        if is_server(path):
            raise FilesRefused(
                501, "this server has its memories on PostgreSQL, and keeps no files of devices"
            )
        whose = [caller.namespace, *sorted((caller.owners or {}).items())]
        digest = hashlib.sha256(json.dumps(whose).encode()).hexdigest()
        return Path(path + FOLDER, digest[:32])

    def _put(
        self,
        place: FolderPlace,
        folder: Path,
        there: Mapping[str, Entry],
        name: str,
        body: bytes,
        caller: Caller,
    ) -> None:
        if len(body) > MAX_FILE_BYTES:
            raise FilesRefused(413, f"a file is limited to {MAX_FILE_BYTES // 2**20} MiB")
        others = [entry.size for other, entry in there.items() if other != name]
        if len(others) >= MAX_FILES or sum(others) + len(body) > MAX_PLACE_BYTES:
            raise FilesRefused(507, "the devices of this namespace have filled their space")
        device = folder / name.partition("/")[0]
        owner = _owner(device)
        if owner is None:
            begun = sum(_owner(one) == caller.name for one in _devices(folder))
            if begun >= MAX_OWN_DEVICES:
                raise FilesRefused(403, f"this token has begun {MAX_OWN_DEVICES} devices already")
            device.mkdir(parents=True, exist_ok=True, mode=0o700)
            (device / OWNER).write_text(caller.name, "utf-8")
        elif owner != caller.name:
            raise FilesRefused(403, "another token began this device, and only that one writes it")
        place.put(name, body)

    def _delete(
        self,
        place: FolderPlace,
        folder: Path,
        there: Mapping[str, Entry],
        name: str,
        caller: Caller,
    ) -> None:
        device = folder / name.partition("/")[0]
        owner = _owner(device)
        if owner not in (None, caller.name) and not self._is_revoked(owner):
            raise FilesRefused(
                403, "another token began this device, and only that one removes its files"
            )
        if not any(other.startswith(f"{device.name}/") for other in there.keys() - {name}):
            with suppress(FileNotFoundError):
                (device / OWNER).unlink()
        place.delete(name)

    def _is_revoked(self, name: str | None) -> bool:
        """Return whether tokens of this name exist, and none of them works any more."""
        of_name = [one for one in self._stores.store().file.tokens.list() if one.name == name]
        return bool(of_name) and all(one.status != "active" for one in of_name)


def _listed(there: Mapping[str, Entry], conditions: _Conditions) -> Response:
    body = json.dumps({"files": {name: entry._asdict() for name, entry in sorted(there.items())}})
    tag = _quoted(hashlib.sha256(body.encode()).hexdigest()[:32])
    return _tagged(body.encode(), tag, conditions, "application/json")


def _read(
    place: FolderPlace, there: Mapping[str, Entry], name: str, conditions: _Conditions
) -> Response:
    if name not in there:
        raise FilesRefused(404, "not found: there is no such file")
    try:
        data = place.get(name, most=MAX_FILE_BYTES)
    except SyncError as error:  # it was removed in the meantime
        raise FilesRefused(404, "not found: there is no such file any more") from error
    return _tagged(data, _quoted(there[name].tag), conditions, "application/octet-stream")


def _tagged(body: bytes, tag: str, conditions: _Conditions, kind: str) -> Response:
    headers = {"ETag": tag, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if conditions.none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


def _devices(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError), os.scandir(folder) as found:
        return [Path(one.path) for one in found if names.DEVICE.fullmatch(one.name)]
    return []


def _owner(device: Path) -> str | None:
    """Return the name of the token that began a device; ``None`` if no token did."""
    try:
        return (device / OWNER).read_text("utf-8")
    except FileNotFoundError:
        return None


def _quoted(tag: str) -> str:
    return f'"{tag}"'
