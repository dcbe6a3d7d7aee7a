"""What is refused before a page is made, and the headers of every answer."""

from __future__ import annotations

import gzip
import re

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from tests.support.pages import BASE, ORIGIN, PORT, Opened, Pages, hidden

from memstore import Store
from memstore.faces.http.pages import with_pages
from memstore.faces.serving.address import AcceptedNames, Address
from memstore.faces.serving.bodies import Patience
from memstore.faces.serving.stores import Stores
from memstore.faces.web.routes import Route
from memstore.faces.web.server.gate import MAX_BODY_BYTES
from memstore.faces.web.server.sections import SECTIONS

OWN = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def fact(memory: Store) -> int:
    return memory.add("The kettle is blue", subject="kettle").id


def deleting(pages: Pages, fact: int, sent: dict[str, str], **fields: str) -> tuple[int, str]:
    """Post a deletion with these headers; return the status, and the fact's."""
    page = pages.read(f"fact/{fact}")
    own = {"ticket": hidden(page, "ticket"), "seen": hidden(page, "seen"), **fields}
    answer = pages.http.post(f"{BASE}fact/{fact}/delete", data=own, headers=sent)
    return answer.status_code, pages.store.get(fact).status


# -- the host --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.0.0.1:80", "localhost", "localhost:1", "evil.example",
        f"evil.example:{PORT}", f"127.0.0.1.evil.example:{PORT}", "", "[::1]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/enter", "/static/x", BASE])
def test_other_hosts_and_ports_are_refused(pages: Pages, host: str, path: str) -> None:
    answer = pages.http.get(path, headers={"Host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_names_of_this_machine_are_ours_with_the_port(pages: Pages, host: str) -> None:
    assert pages.http.get("/enter", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("memory.example", 200), ("memory.example:443", 200), (f"memory.example:{PORT}", 200),
        ("memory.example:9", 421), ("other.example:7777", 200), ("other.example", 421),
    ],
)  # fmt: skip
def test_allowed_hosts_have_the_usual_ports_or_their_own(
    memory: Store, host: str, status: int
) -> None:
    pages = Pages(memory, allowed=("memory.example", "other.example:7777"))
    assert pages.http.get("/enter", headers={"Host": host}).status_code == status


# -- who sends it ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        None, "null", "http://127.0.0.1:9999", "http://127.0.0.1", f"https://127.0.0.1:{PORT}",
        f"http://localhost:{PORT}", "http://evil.example", f"{ORIGIN}.evil.example", "",
    ],
)  # fmt: skip
def test_only_our_own_origin_may_post(pages: Pages, fact: int, origin: str | None) -> None:
    sent = {"Sec-Fetch-Site": "same-origin"} | ({} if origin is None else {"Origin": origin})
    assert deleting(pages, fact, sent) == (403, "active")


@pytest.mark.parametrize("site", ["same-site", "cross-site", "none"])
def test_the_browser_must_call_it_the_same_origin(pages: Pages, fact: int, site: str) -> None:
    assert deleting(pages, fact, OWN | {"Sec-Fetch-Site": site}) == (403, "active")


def test_older_browsers_send_only_the_origin(pages: Pages, fact: int) -> None:
    assert deleting(pages, fact, {"Origin": ORIGIN}) == (303, "deleted")


@pytest.mark.parametrize("ticket", ["", "x", "a.b", "00.11", "\u202e.\ud7ff"])
def test_a_form_needs_its_token(pages: Pages, fact: int, ticket: str) -> None:
    assert deleting(pages, fact, OWN, ticket=ticket) == (403, "active")


def test_the_token_of_another_session_is_none(pages: Pages, fact: int) -> None:
    other = Pages(pages.store)
    other.enter()
    theirs = hidden(other.read(), "ticket")
    assert deleting(pages, fact, OWN, ticket=theirs) == (403, "active")


def test_each_form_token_is_another_one(pages: Pages) -> None:
    assert hidden(pages.read(), "ticket") != hidden(pages.read(), "ticket")


@pytest.mark.parametrize("origin", [None, "null", "http://127.0.0.1:9999", "http://evil.example"])
def test_signing_in_from_elsewhere_is_refused(memory: Store, origin: str | None) -> None:
    pages = Pages(memory)
    sent = {} if origin is None else {"Origin": origin}
    answer = pages.http.post("/enter", data={"code": pages.codes.make()}, headers=sent)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("site", "mode", "dest", "status"),
    [
        ("same-origin", "cors", "empty", 200),
        ("none", "navigate", "document", 200),
        ("cross-site", "navigate", "document", 200),
        ("same-site", "no-cors", "image", 403),
        ("same-site", "no-cors", "script", 403),
        ("cross-site", "navigate", "iframe", 403),
        ("same-site", "cors", "empty", 403),
    ],
)
def test_pages_are_not_parts_of_others(
    pages: Pages, site: str, mode: str, dest: str, status: int
) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    assert pages.http.get(BASE, headers=sent).status_code == status


# -- without a sign-in -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [BASE, f"{BASE}fact/1", "/AnotherPathThatIsWrong/", "/x", "/mcp"])
def test_without_a_sign_in_no_address_tells_whether_it_exists(memory: Store, path: str) -> None:
    memory.add("The kettle is blue", subject="kettle")
    pages = Pages(memory)
    answer = pages.http.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter")
    assert answer.text == ""
    assert pages.http.post(path, headers=OWN).status_code == 401


def test_a_stolen_path_opens_nothing(pages: Pages) -> None:
    assert pages.browser().get(BASE).headers["location"] == "/enter"


def test_a_bearer_token_opens_no_page(memory: Store) -> None:
    _, secret = memory.file.tokens.create("laptop", namespace="default")
    for takes_codes in (True, False):
        pages = Pages(memory, takes_codes=takes_codes)
        answer = pages.http.get(BASE, headers={"Authorization": f"Bearer {secret}"})
        assert answer.headers["location"] == "/enter"


def test_another_programs_cookie_of_the_same_name_does_not_hide_ours(pages: Pages) -> None:
    name = f"memstore-{PORT}"
    own = pages.http.cookies.get(name)
    sent = {"Cookie": f"other=1; {name}=forged; {name}={own}; {name}"}
    assert pages.browser().get(BASE, headers=sent).status_code == 200


def test_unknown_addresses_are_a_page(pages: Pages) -> None:
    answer = pages.get("no/such/page")
    assert answer.status_code == 404
    assert "Nothing here" in answer.text
    assert "no/such" not in answer.text


def test_other_methods_are_refused(pages: Pages) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert pages.http.request(method, BASE).status_code == 405
    assert pages.http.head(BASE).status_code == 200


# -- sizes -----------------------------------------------------------------------------------------


def test_a_large_body_is_refused(pages: Pages) -> None:
    answer = pages.http.post(f"{BASE}search", content=b"x" * (MAX_BODY_BYTES + 1), headers=OWN)
    assert answer.status_code == 413
    assert "1 MiB" in answer.text


def test_too_many_fields_are_refused(pages: Pages) -> None:
    body = "&".join(f"f{number}=" for number in range(5001))
    answer = pages.http.post(f"{BASE}search", content=body.encode(), headers=OWN)
    assert answer.status_code == 400


def test_the_query_takes_numbers_alone(pages: Pages, fact: int) -> None:
    for query in ("q=x", "q=-1", "q=٣", "q=" + "9" * 30, "before=1e9", "%00=1", "q[]=1;drop"):
        assert pages.get(f"subject/{fact}?{query}").status_code == 200
    assert pages.get(f"subject/{fact}?q=123").status_code == 404


# -- headers ---------------------------------------------------------------------------------------


@pytest.fixture
def answers(pages: Pages, fact: int) -> list[tuple[str, dict[str, str]]]:
    css = re.search(r'href="(/static/[^"]+\.css)"', pages.read())
    assert css is not None
    paths = ("/", "/enter", BASE, f"{BASE}fact/{fact}", f"{BASE}x", css[1], "/static/x.css")
    large = pages.http.post(BASE, content=b"x" * 2_000_000, headers=OWN)
    return [
        *((path, dict(pages.http.get(path).headers)) for path in paths),
        ("413", dict(large.headers)),
        ("403", dict(pages.http.post(BASE).headers)),
        ("421", dict(pages.http.get("/", headers={"Host": "evil.example"}).headers)),
    ]


def test_every_answer_is_protected(answers: list[tuple[str, dict[str, str]]]) -> None:
    for path, headers in answers:
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert "form-action 'self'" in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "same-origin", path
        assert headers["cross-origin-opener-policy"] == "same-origin", path
        assert "access-control-allow-origin" not in headers, path
        stored = path.startswith("/static/") and path != "/static/x.css"
        assert headers["cache-control"] == (
            "public, max-age=31536000, immutable" if stored else "no-store"
        ), path


def test_pages_are_compressed_if_the_browser_takes_that(pages: Pages) -> None:
    packed = pages.http.get(BASE, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    plain = pages.http.get(BASE, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert len(gzip.compress(plain.content)) < len(plain.content)


# -- reading alone ---------------------------------------------------------------------------------


def writing_routes() -> list[Route]:
    return [route for section in SECTIONS for route in section.routes if route.writes]


def test_every_posted_route_writes_or_is_a_question() -> None:
    questions = {
        route.pattern
        for section in SECTIONS
        for route in section.routes
        if route.method == "POST" and not route.writes
    }
    assert {"search", "subjects", "sign-out"} <= questions
    # What is to be erased is chosen, and bytes are searched, before anything is erased.
    told = {one for one in questions if "delete" in one or "erase" in one}
    assert told == {"erase", "erase/proof"}


@pytest.mark.parametrize("route", writing_routes(), ids=lambda route: route.pattern)
def test_a_read_only_token_changes_nothing(memory: Store, fact: int, route: Route) -> None:
    _, secret = memory.file.tokens.create("reader", namespace="default", access="read")
    pages = Pages(memory, takes_codes=False)
    pages.enter(token=secret)
    before = memory.file.head()
    answer = pages.post(re.sub(r"\{\w+\}", str(fact), route.pattern))
    assert answer.status_code == 403
    assert "Read-only" in answer.text
    assert memory.file.head() == before


def test_a_read_only_token_sees_no_action(memory: Store, fact: int) -> None:
    _, secret = memory.file.tokens.create("reader", namespace="default", access="read")
    pages = Pages(memory, takes_codes=False)
    pages.enter(token=secret)
    for path in (f"fact/{fact}", "subjects", f"subject/{fact}"):
        page = pages.read(path)
        forms = set(re.findall(r'<form method="post" action="([^"]+)"', page))
        assert {one.removeprefix(BASE).split("/")[0] for one in forms} <= {
            "search", "sign-out", "subjects", "subject",
        }  # fmt: skip
        assert "Correct…" not in page


# -- beside the protocol's endpoint ----------------------------------------------------------------


def test_the_endpoint_and_the_pages_share_nothing(pages: Pages) -> None:
    seen: list[str] = []

    async def endpoint(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.append(scope["path"])
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    app = with_pages(
        endpoint,
        Stores(Opened(pages.store)),
        AcceptedNames.of("127.0.0.1", (), ()),
        [Address("127.0.0.1", PORT)],
        Patience(),
        {},
    )
    http = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    assert [http.post(path).status_code for path in ("/mcp", "/mcp/", "/health")] == [418] * 3
    assert http.get("/mcpx").headers["location"] == "/enter"
    assert seen == ["/mcp", "/mcp/", "/health"]
