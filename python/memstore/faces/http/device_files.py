"""The files of devices that meet at this server: listed, read, written and removed, never opened.

``/mcp/sync`` lists the files of the caller's namespace, and ``/mcp/sync/DEVICE/NAME`` is one of
them. They lie in a table beside the memories. The first token that writes for a device owns it, and
no other one may, so that nobody who reads a namespace can speak for a device of somebody else. When
that token is revoked, others may remove the files.
"""

from __future__ import annotations

import json
import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memstore.database.tables import access_tokens as token_table
from memstore.database.tables import device_files as files_table
from memstore.domain.tokens import Access
from memstore.errors import MemstoreError
from memstore.faces import wording
from memstore.faces.http.endpoint import CALLER
from memstore.faces.serving.readiness import RETRY_SECONDS
from memstore.named import NamedTuple
from memstore.store.store import file_of
from memstore.sync.places import names
from memstore.sync.places.server import PATH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.device_files import StoredFile
    from memstore.faces.http.callers import Caller
    from memstore.faces.serving.stores import Stores

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


class FilesRefused(Exception):
    """A request for files that is not answered."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Conditions(NamedTuple):
    """The headers by which a request names the state of a file that it knows."""

    match: str | None
    none_match: str | None

    def check(self, there: StoredFile | None) -> None:
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
        self._has_left_log = False
        """Whether the log of the database still has what a file was before."""
        self._emptying = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller: Caller | None = scope[CALLER]
        name = scope["path"].removeprefix(PATH).strip("/")
        conditions = _Conditions(
            request.headers.get("if-match"), request.headers.get("if-none-match")
        )
        act = partial(self._answer, request.method, name, await request.body(), conditions, caller)
        try:
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
        engine = file_of(self._stores.store()).engine
        if self._has_left_log:
            self._empty_log(engine)
        place = _place(caller)
        if method == "GET":
            with engine.read() as transaction:
                if name:
                    return _read(transaction, place, name, conditions)
                return _listed(files_table.listed(transaction, place), conditions)
        if not name:
            raise FilesRefused(405, "use GET")
        if caller.access == Access.READ:
            raise FilesRefused(403, "the token is read-only")
        with engine.write() as transaction:  # one after the other, so that limits and owners hold
            before = files_table.find(transaction, place, name)
            conditions.check(before)
            if method == "PUT":
                tag = _put(transaction, place, name, body, caller)
                response = Response(status_code=201, headers={"ETag": _quoted(tag)})
            else:
                _delete(transaction, place, name, caller)
                response = Response(status_code=204)
        if before is not None:  # a text may have been in it that was erased since
            self._empty_log(engine)
        return response

    def _empty_log(self, engine: Engine) -> None:
        with self._emptying:  # so that the flag is what the last attempt found
            self._has_left_log = not engine.empty_log()


def _place(caller: Caller) -> str:
    """Return what tells the files of a namespace, and of the owners that a caller is bound to."""
    return json.dumps([caller.namespace, *sorted((caller.owners or {}).items())])


def _put(transaction: Transaction, place: str, name: str, body: bytes, caller: Caller) -> str:
    if len(body) > MAX_FILE_BYTES:
        raise FilesRefused(413, f"a file is limited to {MAX_FILE_BYTES // 2**20} MiB")
    used = files_table.used(transaction, place, name)
    if used.files >= MAX_FILES or used.bytes + len(body) > MAX_PLACE_BYTES:
        raise FilesRefused(507, "the devices of this namespace have filled their space")
    owner = files_table.token_of(transaction, place, _device(name))
    if owner is None:
        if (
            files_table.begun_by(transaction, place, caller.name, names.ID_LENGTH)
            >= MAX_OWN_DEVICES
        ):
            raise FilesRefused(403, f"this token has begun {MAX_OWN_DEVICES} devices already")
    elif owner != caller.name:
        raise FilesRefused(403, "another token began this device, and only that one writes it")
    return files_table.put(transaction, place, name, caller.name, body)


def _delete(transaction: Transaction, place: str, name: str, caller: Caller) -> None:
    owner = files_table.token_of(transaction, place, _device(name))
    if owner not in (None, caller.name) and not _is_revoked(transaction, owner):
        raise FilesRefused(
            403, "another token began this device, and only that one removes its files"
        )
    files_table.remove(transaction, place, name)


def _is_revoked(transaction: Transaction, name: str | None) -> bool:
    """Return whether tokens of this name exist, and none of them works any more."""
    of_name = [one for one in token_table.select(transaction) if one.name == name]
    return bool(of_name) and all(one.status != "active" for one in of_name)


def _listed(found: Sequence[StoredFile], conditions: _Conditions) -> Response:
    body = json.dumps({"files": {one.name: {"size": one.size, "tag": one.tag} for one in found}})
    tag = _quoted(files_table.tag_of(body.encode()))
    return _tagged(body.encode(), tag, conditions, "application/json")


def _read(transaction: Transaction, place: str, name: str, conditions: _Conditions) -> Response:
    found = files_table.read(transaction, place, name)
    if found is None:
        raise FilesRefused(404, "not found: there is no such file")
    file, data = found
    return _tagged(data, _quoted(file.tag), conditions, "application/octet-stream")


def _tagged(body: bytes, tag: str, conditions: _Conditions, kind: str) -> Response:
    headers = {"ETag": tag, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if conditions.none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


def _device(name: str) -> str:
    """Return the device whose file has a name."""
    return name.partition("/")[0]


def _quoted(tag: str) -> str:
    return f'"{tag}"'
