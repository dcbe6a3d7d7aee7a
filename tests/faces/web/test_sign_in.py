"""Signing in and out: codes, tokens, cookies, and how sessions end."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.support.clock import ManualClock
from tests.support.pages import BASE, ORIGIN, PORT, Pages, text_of

from memstore import Store
from memstore.domain import clock
from memstore.faces.web import kept_path
from memstore.faces.web.sessions import MAX_UNDOS, Session, Undo


@pytest.fixture
def stopped() -> Iterator[ManualClock]:
    """A clock that stands still until it is set forward."""
    manual = ManualClock()
    with clock.use(manual):
        yield manual


def test_a_code_signs_in_once(memory: Store) -> None:
    pages = Pages(memory)
    code = pages.codes.make()
    entered = pages.enter(code=code)
    assert (entered.status_code, entered.headers["location"]) == (303, BASE)
    again = pages.enter(pages.browser(), code=code)
    assert again.status_code == 403
    assert "already used" in again.text
    assert "set-cookie" not in again.headers


def test_a_code_is_valid_for_two_minutes(memory: Store, stopped: ManualClock) -> None:
    pages = Pages(memory)
    late, early = pages.codes.make(), pages.codes.make()
    stopped.advance(119)
    assert pages.enter(code=early).status_code == 303
    stopped.advance(2)
    answer = pages.enter(pages.browser(), code=late)
    assert answer.status_code == 403
    assert "two minutes" in answer.text


@pytest.mark.parametrize("code", ["", "nonsense", "\u202e", "x" * 5000])
def test_an_unknown_code_is_refused(memory: Store, code: str) -> None:
    answer = Pages(memory).enter(code=code)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert code == "" or code not in answer.text


def test_the_cookie_is_confined(memory: Store) -> None:
    cookie = Pages(memory).enter().headers["set-cookie"]
    assert cookie.startswith(f"memstore-{PORT}=")
    assert cookie.split("; ")[1:] == [f"Path={BASE}", "HttpOnly", "SameSite=Strict"]


def test_the_cookie_is_secure_behind_tls(memory: Store) -> None:
    pages = Pages(memory, allowed=("memory.example",))
    there = pages.browser("https://memory.example")
    cookie = pages.enter(there).headers["set-cookie"]
    assert cookie.startswith("memstore-443=")
    assert cookie.endswith("; Secure")
    assert there.get(BASE).status_code == 200


def test_the_form_takes_a_code_without_a_script(memory: Store) -> None:
    page = Pages(memory).http.get("/enter").text
    assert re.search(r'<form method="post" action="/enter"', page)
    assert 'name="code"' in page
    assert 'name="token"' not in page


def test_the_root_leads_to_the_form(memory: Store) -> None:
    answer = Pages(memory).http.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter")


def test_signing_out_ends_the_session(pages: Pages) -> None:
    cookie = pages.http.cookies.get(f"memstore-{PORT}")
    answer = pages.post("sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    kept = pages.browser()
    kept.cookies.set(f"memstore-{PORT}", str(cookie), path=BASE)
    assert kept.get(BASE).headers["location"] == "/enter"


def test_a_session_ends_after_twelve_idle_hours(memory: Store, stopped: ManualClock) -> None:
    pages = Pages(memory)
    pages.enter()
    stopped.advance(12 * 3600 - 10)
    assert pages.get().status_code == 200
    stopped.advance(12 * 3600 - 10)
    assert pages.get().status_code == 200
    stopped.advance(12 * 3600 + 10)
    assert pages.get().status_code == 303


def test_polls_do_not_keep_a_session_open(memory: Store, stopped: ManualClock) -> None:
    pages = Pages(memory)
    pages.enter()
    for _ in range(3):
        stopped.advance(5 * 3600)
        last = pages.get("pulse?since=0").status_code
    assert last == 303


# -- access tokens ---------------------------------------------------------------------------------


@pytest.fixture
def shared(memory: Store) -> Pages:
    return Pages(memory, takes_codes=False)


def test_a_token_is_needed_where_none_exists_yet(shared: Pages) -> None:
    answer = shared.enter(token="anything")
    assert answer.status_code == 403
    assert "memstore token create" in answer.text


def test_a_token_opens_its_namespace_alone(shared: Pages, memory: Store) -> None:
    other = memory.within("other")
    theirs = other.add("The harbour is closed", subject="harbour")
    mine = memory.add("The kettle is blue", subject="kettle")
    _, secret = memory.file.tokens.create("laptop", namespace="other")
    assert shared.enter(token=secret).status_code == 303
    assert "The harbour is closed" in shared.read(f"fact/{theirs.id}")
    assert shared.get(f"fact/{mine.id}").status_code == 404
    assert "kettle" not in shared.read("subjects")


def test_changes_name_the_token(shared: Pages, memory: Store) -> None:
    fact = memory.add("The kettle is blue", subject="kettle")
    _, secret = memory.file.tokens.create("laptop", namespace="default")
    shared.enter(token=secret)
    assert shared.post(f"fact/{fact.id}/confirm").status_code == 303
    line = memory.ledger.journal(fact.id)[-1]
    assert (line.kind, line.actor, line.source) == ("confirm", "laptop", "web")


def test_changes_on_this_machine_are_the_users(pages: Pages, memory: Store) -> None:
    fact = memory.add("The kettle is blue", subject="kettle")
    pages.post(f"fact/{fact.id}/confirm")
    line = memory.ledger.journal(fact.id)[-1]
    assert (line.kind, line.actor, line.source) == ("confirm", "user", "web")
    assert line.run != memory.ledger.journal(fact.id)[0].run


@pytest.mark.parametrize("secret", ["", "mst_wrong", "x" * 5000])
def test_an_unknown_token_is_refused(shared: Pages, memory: Store, secret: str) -> None:
    memory.file.tokens.create("laptop", namespace="default")
    answer = shared.enter(token=secret)
    assert answer.status_code == 403
    assert "unknown, revoked or expired" in answer.text


def test_a_session_ends_with_its_token(shared: Pages, memory: Store) -> None:
    fact = memory.add("The kettle is blue", subject="kettle")
    _, secret = memory.file.tokens.create("laptop", namespace="default")
    shared.enter(token=secret)
    page = shared.read(f"fact/{fact.id}")
    memory.file.tokens.revoke("laptop")
    assert shared.get().headers["location"] == "/enter"
    sent = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)
    assert ticket is not None
    answer = shared.http.post(
        f"{BASE}fact/{fact.id}/delete", data={"ticket": ticket[1], "seen": "99"}, headers=sent
    )
    assert answer.status_code == 401
    assert memory.get(fact.id).status == "active"


def test_codes_do_not_sign_in_where_tokens_do(shared: Pages, memory: Store) -> None:
    memory.file.tokens.create("laptop", namespace="default")
    assert shared.enter(code=shared.codes.make()).status_code == 403


# -- the path, and what a session keeps ------------------------------------------------------------


def test_the_path_is_kept_for_the_user() -> None:
    path = kept_path.kept_path()
    assert re.fullmatch(r"/[A-Za-z0-9_-]{22}/", path)
    assert kept_path.kept_path() == path
    file = kept_path.folder() / "path"
    assert file.stat().st_mode & 0o777 == 0o600
    assert kept_path.folder().stat().st_mode & 0o777 == 0o700
    file.write_text("../../etc/passwd")
    assert re.fullmatch(r"/[A-Za-z0-9_-]{22}/", kept_path.kept_path())


def test_a_session_keeps_the_newest_undos() -> None:
    session = Session("user", ORIGIN)
    for act in range(1, MAX_UNDOS + 3):
        session.offer_undo(Undo(act, f"Deleted: #{act}"))
    assert [one.act for one in session.undos] == [*range(MAX_UNDOS + 2, 2, -1)]
    session.drop_undo(4)
    assert 4 not in [one.act for one in session.undos]


def test_the_same_question_keeps_its_number() -> None:
    session = Session("user", ORIGIN)
    first = session.keep({"query": "tea"})
    assert session.keep({"query": "rain"}) != first
    assert session.keep({"query": "tea"}) == first
    assert session.kept(first) == {"query": "tea"}
    assert session.kept(99) is None


def test_signed_out_pages_say_so(memory: Store) -> None:
    pages = Pages(memory)
    sent = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    answer = pages.http.post(f"{BASE}fact/1/delete", headers=sent)
    assert answer.status_code == 401
    assert "signed out" in text_of(answer.text)
    part = pages.http.post(f"{BASE}fact/1/delete", headers={**sent, "HX-Request": "true"})
    assert part.status_code == 401
    assert part.headers["hx-retarget"] == "#problems"
    assert "<html" not in part.text
