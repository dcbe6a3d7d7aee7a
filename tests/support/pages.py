"""The pages in this process: a browser's requests without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

import httpx
from starlette.testclient import TestClient

from memstore import JSONGenerator, Store
from memstore.faces.serving.address import AcceptedNames
from memstore.faces.serving.stores import Stores
from memstore.faces.web.server.gate import PagesGate
from memstore.faces.web.server.sign_in import SignIn
from memstore.faces.web.sessions import Codes

PORT = 8766
ORIGIN = f"http://127.0.0.1:{PORT}"
BASE = "/TheUnguessablePathOfIt/"


class Opened:
    """An opening of a store that is open already."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None:
        pass

    def store(self) -> Store:
        return self._store


class Pages:
    """The pages of a store, and a browser that visits them.

    Args:
        takes_codes: sign in with one-time codes; otherwise with access tokens.
        allowed: more accepted hosts.
        owners: those that agents use if a call names none.
        generator: makes the language model that reads episodes again.
    """

    def __init__(
        self,
        store: Store,
        *,
        takes_codes: bool = True,
        allowed: tuple[str, ...] = (),
        owners: Mapping[str, str] | None = None,
        generator: Callable[[], JSONGenerator | None] = lambda: None,
    ) -> None:
        self.store = store
        self.codes = Codes()
        self.sign_in = SignIn(
            Stores(Opened(store)), BASE, self.codes if takes_codes else None, owners, generator
        )
        names = AcceptedNames.of("127.0.0.1", allowed, ())
        self.gate = PagesGate(self.sign_in, names=names, ports=(PORT,))
        self.http = self.browser()

    def browser(self, origin: str = ORIGIN) -> TestClient:
        """Return another browser, which nobody is signed in with."""
        return TestClient(self.gate, base_url=origin, follow_redirects=False)

    def enter(self, http: TestClient | None = None, **fields: str) -> httpx.Response:
        """Sign in; by default with a new code."""
        http = http or self.http
        return http.post(
            "/enter",
            data=fields or {"code": self.codes.make()},
            headers={"Origin": str(http.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"},
        )

    def get(self, path: str = "", **headers: str) -> httpx.Response:
        return self.http.get(BASE + path, headers=_headers(headers))

    def read(self, path: str = "") -> str:
        """Return the HTML of a page that must succeed."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:2000])
        return answer.text

    def post(
        self, path: str, fields: Mapping[str, Any] | None = None, **headers: str
    ) -> httpx.Response:
        """Post fields, with the form token and the line of a page that was just rendered."""
        page = self.read()
        own = {name: _value(page, name) for name in ("ticket", "seen")}
        sent = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", **_headers(headers)}
        return self.http.post(BASE + path, data={**own, **(fields or {})}, headers=sent)

    def ask(self, path: str, fields: Mapping[str, Any]) -> str:
        """Post a question, and return the page that answers it."""
        return self.followed(self.post(path, fields))

    def followed(self, answer: httpx.Response) -> str:
        """Return the page that an answer leads to."""
        assert answer.status_code == 303, (answer.status_code, answer.text[:2000])
        where = answer.headers["location"].partition("#")[0]
        assert where.startswith(BASE)
        return self.read(where.removeprefix(BASE))


def hidden(page: str, name: str) -> str:
    """Return the value of the first hidden field of a name."""
    return _value(page, name)


def text_of(page: str) -> str:
    """Return what a page says, without its markup."""
    body = re.sub(r"<(script|style|head).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def _value(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, name
    return unescape(found[1])


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
