"""The pages in the system's Chromium: with and without a script, by keys, attacked, seen."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.support.chromium import Watch, chromium
from tests.support.web_server import WebServer

import memstore
from memstore import NewEpisode, Store

if sys.platform == "linux":
    import resource

pytestmark = [pytest.mark.process, pytest.mark.slow]

SEEN_WIDTHS = (390, 1280)
WIDTHS = (320, 390, 640, 768, 1280, 1920)

FACTS = (
    ("kettle", "project", "The kettle in the kitchen is blue"),
    ("kettle", "project", "The kettle holds two litres"),
    ("ana", "preference", "Ana likes green tea in the morning"),
    ("harbour", "event", "The harbour is closed on Sundays"),
)

HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>",
    "\"><b hx-get=/enter hx-trigger=load hx-on:load='alert(4)'>x</b> {{7*7}}",
    "javascript:alert(5) https://evil.example/ \u202e\u2066\ufeff",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # A name that points to this machine, as in an attack by rebinding.
    with chromium("--host-resolver-rules=MAP evil.test 127.0.0.1") as browser:
        yield browser


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "memory.db"
    with memstore.open(path, embedder=None, actor="agent", source="codex") as store:
        for subject, category, content in FACTS:
            store.add(content, subject=subject, category=category)
        yield store


@pytest.fixture
def server(memory: Store, tmp_path: Path) -> Iterator[WebServer]:
    flags = ("--embedder", "none", "--no-browser")
    server = WebServer(Path(memory.path), tmp_path / "data", *flags)
    yield server
    server.close()


@pytest.fixture
def visit(browser: Any, server: WebServer) -> Iterator[Callable[..., Any]]:
    """Opens pages of a new browser profile that is signed in; what they do wrong fails the test."""
    code = server.code()
    contexts: list[Any] = []
    watches: list[Watch] = []
    state: dict[str, Any] = {}

    def enter(**profile: Any) -> Any:
        context = browser.new_context(**profile, **state)
        contexts.append(context)
        page = context.new_page()
        watches.append(Watch(page, server.url))
        page.watch = watches[-1]
        if not state:
            page.goto(f"{server.url}/enter")
            if profile.get("java_script_enabled", True):
                page.goto(f"{server.url}/enter#{code}")
                page.reload()  # the address has only changed behind the "#"
            else:
                page.fill("#code", code)
                page.click("text=Sign in")
            page.wait_for_url("**/*/")
            state["storage_state"] = context.storage_state()
            state["base_url"] = page.url
        else:
            page.goto(state["base_url"])
        page.base = page.url
        return page

    yield enter
    for context in contexts:
        context.close()
    assert [line for one in watches for line in one.complaints] == []


def path_of(page: Any) -> str:
    """Return the address below the path of the pages."""
    return "/".join(page.url.split("/")[4:])


def focused(page: Any) -> str:
    found: str = page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return found


# -- the way in ------------------------------------------------------------------------------------


def test_the_code_leaves_the_address_at_once(visit: Callable[..., Any]) -> None:
    page = visit()
    assert page.title() == "Home · memstore"
    assert "#" not in page.url


def test_all_works_without_a_script(visit: Callable[..., Any], memory: Store) -> None:
    page = visit(java_script_enabled=False)
    page.fill("#find", "which colour is the kettle?")
    page.press("#find", "Enter")
    assert re.fullmatch(r"search/\d+", path_of(page))
    assert "The kettle in the kitchen is blue" in page.inner_text("section article >> nth=0")
    page.fill("#field-missing", "harbour")
    page.click("text=Why not?")
    assert "#4" in page.inner_text("#why-not")
    page.click("a:text('kettle') >> nth=0")
    page.click("#fact-1 .menu summary")
    page.click("#fact-1 button:text('Delete')")
    assert memory.get(1).status == "deleted"
    assert path_of(page) == "subject/1"
    page.click(".undos button:text('Undo')")
    assert memory.get(1).status == "active"
    page.click("#fact-1 .menu summary")
    page.click("#fact-1 >> text=Correct…")
    page.fill("#content", "The kettle in the kitchen is green")
    page.click("text=Replace it")
    assert memory.get(1).status == "superseded"
    assert page.inner_text("h1") == "The kettle in the kitchen is green"
    assert page.text_content("del") == "blue"  # in the fold with all values


@pytest.mark.parametrize("keys_alone", [False, True])
def test_each_act_works_without_a_script(
    visit: Callable[..., Any], memory: Store, keys_alone: bool
) -> None:
    """Without a script, by the mouse; and by the keys that every browser has."""
    said = memory.episodes.add("The gate is green", source="codex", thread="t", speaker="user")
    learnt = memory.add("The gate is green", subject="gate", episode_id=said.id)
    task = memory.tasks.create("Paint the gate")
    memory.within("~/work/shop").add("The shop is open", subject="shop")
    for n in range(3):
        ask(memory, f"Door {n} is red", f"Door {n} is blue", subject=f"door {n}")
    page = visit(java_script_enabled=False)

    def press(selector: str, path: str | None = None) -> None:
        if path is not None:
            page.goto(page.base + path)
        if keys_alone:
            page.focus(selector)
            page.press(selector, "Enter")
        else:
            page.click(selector)
        page.wait_for_load_state()

    # Home: another host, a prompt, another project and back.
    press("nav[aria-label=Agent] >> text=Codex", "")
    page.fill("#field-prompt", "Which colour is the gate?")
    page.press("#field-prompt", "Enter")
    assert "The gate is green" in page.inner_text("#told-prompt")
    press(".switch summary")
    press(".switch button:has-text('~/work/shop')")
    assert "~/work/shop" in page.inner_text(".switch summary")
    press(".switch summary")
    press(".switch button:has-text('default')")
    # The inbox: three answers and an Undo.
    waiting = memory.proposals.count()
    for answer in ("The new one", "Both are true", "The old one"):
        press(f".verdict:has-text('{answer}')", "inbox")
    assert memory.proposals.count() == waiting - 3
    assert {memory.count(subject=f"door {n}") for n in range(3)} == {1, 2}
    press(".undos >> button:text('Undo') >> nth=0")
    assert memory.proposals.count() == waiting - 2
    # What a session learnt, and a run, are undone by their plans.
    press("text=Undo what it learnt…", f"session/{said.id}")
    press("button:text('Undo it')")
    assert memory.get(learnt.id).status == "deleted"
    press("text=This week", "timeline")
    press("text=Undo this run… >> nth=0")
    assert "This is what would be done" in page.inner_text("main")
    # A task, a subject as it was, the palette, a fact.
    press("article:has-text('Paint the gate') >> button:text('Done')", "tasks")
    assert [one.status for one in memory.tasks.list(status="all") if one.id == task.id] == [
        "completed"
    ]
    press("summary:has-text('As it was on')", "subject/1")
    page.fill("#seen-on", "2999-01-01")
    page.press("#seen-on", "Enter")
    assert "kettle" in page.inner_text("h1")
    page.goto(f"{page.base}go")
    page.fill("#query", "harbour")
    press("text=Find")
    press(".choices a:has-text('closed on Sundays')")
    press("button:text('Pin')")
    assert memory.get(4).pinned_at is not None
    page.goto(f"{page.base}erase/fact/4")
    page.fill("#field-count", "1")
    page.press("#field-count", "Enter")
    assert "The harbour is closed" not in page.inner_text("main")


# -- with one --------------------------------------------------------------------------------------


def test_undo_stands_in_the_place_of_what_was_changed(
    visit: Callable[..., Any], memory: Store
) -> None:
    page = visit()
    base = page.url
    page.goto(f"{base}subject/1")
    for one in (1, 2):
        page.click(f"#fact-{one} .menu summary")
        page.click(f"#fact-{one} button:text('Delete')")
        page.wait_for_selector(f"article.done:has-text('Deleted: #{one}')")
    assert [memory.get(one).status for one in (1, 2)] == ["deleted", "deleted"]
    assert page.locator("article.done").count() == 2
    assert "Deleted: #2" in page.inner_text("#said")
    assert page.evaluate("document.activeElement.closest('article') !== null")  # not lost
    page.click("article.done:has-text('#1') >> button:text('Undo')")
    page.wait_for_selector("#fact-1")
    assert [memory.get(one).status for one in (1, 2)] == ["active", "deleted"]
    page.click("#fact-1 button:text('Still true')")
    page.wait_for_selector("article.done:has-text('Still true: #1')")
    assert memory.get(1).confirmed_count == 1


def test_where_it_was_said_is_loaded_on_request(visit: Callable[..., Any], memory: Store) -> None:
    said = memory.episodes.add("Ben: the kettle drips a little", source="slack", speaker="ben")
    fact = memory.add("the kettle drips", subject="kettle", episode_id=said.id)
    page = visit()
    page.goto(f"{page.url}subject/{fact.id}")
    page.click(f"#fact-{fact.id} summary:text('where it was said')")
    page.wait_for_selector(f"#fact-{fact.id} mark:text('the kettle drips')")


def test_keys_alone(visit: Callable[..., Any], memory: Store) -> None:
    page = visit()
    press = page.keyboard.press
    press("/")
    page.keyboard.type("kettle jump a r ?")  # in a field, keys are letters
    assert page.input_value("#find") == "kettle jump a r ?"
    press("Enter")
    page.wait_for_url("**/search/*")
    press("j")
    press("j")
    press("k")
    assert page.evaluate("document.activeElement.id").startswith("fact-")
    press("Enter")
    page.wait_for_url("**/fact/*")
    press("?")
    assert page.is_visible("#keys")
    page.uncheck("#keys-on")
    press("Escape")
    press("?")
    assert not page.is_visible("#keys")
    page.evaluate("localStorage.clear()")
    page.focus(".actions button:text('Delete')")
    press("Enter")
    page.wait_for_selector("article.done")
    press("u")
    page.wait_for_selector("article.row .actions")
    assert all(fact.status == "active" for fact in memory.list())


def test_the_skip_link_is_first(visit: Callable[..., Any]) -> None:
    page = visit()
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the page"
    page.keyboard.press("Enter")
    assert focused(page) == "main"


def test_two_tabs_do_not_overwrite_each_other(visit: Callable[..., Any], memory: Store) -> None:
    first = visit()
    first.goto(f"{first.url}subject/1")
    second = visit()
    second.goto(f"{second.url}subject/1")
    first.click("#fact-1 .menu summary")
    first.click("#fact-1 button:text('Pin')")
    first.wait_for_selector("article.done")
    second.click("#fact-1 .menu summary")
    second.click("#fact-1 button:text('Delete')")
    second.wait_for_selector("text=Nothing was changed")
    assert "pinned by user through web" in second.inner_text("main")
    assert memory.get(1).status == "active"
    assert [one for one in second.watch.complaints if "409" in one]
    second.watch.complaints.clear()  # the console names each answer that is no success


def test_folds_have_addresses(visit: Callable[..., Any]) -> None:
    page = visit(java_script_enabled=False)
    for path, part in (("fact/1", "journal"), ("fact/1", "metadata"), ("timeline", "filter")):
        page.goto("about:blank")
        page.goto(f"{page.base}{path}")
        assert not page.is_visible(f"#{part}")
        page.goto(f"{page.base}{path}#{part}")
        page.wait_for_selector(f"#{part}", state="visible")
    page.watch.complaints[:] = [one for one in page.watch.complaints if "about:" not in one]


def test_palette_by_keys_alone(visit: Callable[..., Any]) -> None:
    page = visit()
    page.keyboard.press("Control+k")
    page.wait_for_selector("#choices [role=option]")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"
    page.keyboard.type("green tea")
    page.wait_for_selector("#choices a:has-text('Ana likes')")
    chosen = page.evaluate("document.activeElement.getAttribute('aria-activedescendant')")
    assert "Ana likes green tea" in page.inner_text(f"#{chosen}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/fact/3")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/sessions")
    page.keyboard.press("Control+k")
    page.wait_for_selector("#choices [role=option]")  # what was opened last
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/fact/3")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    assert not page.is_visible("#palette")


def test_palette_is_a_page_without_a_script(visit: Callable[..., Any]) -> None:
    page = visit(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page.click(".top-end a")
    page.fill("#query", "harbour")
    page.click("text=Find")
    page.click(".choices a:has-text('closed on Sundays')")
    assert path_of(page) == "fact/4"


def test_new_acts_are_offered_and_move_nothing(visit: Callable[..., Any], memory: Store) -> None:
    page = visit()
    page.clock.install()
    page.goto(f"{page.url}subject/1")
    before = page.inner_text("main")
    memory.add("The kettle whistles", subject="kettle")
    where = "document.querySelector('main').getBoundingClientRect().top"
    top = page.evaluate(where)
    page.clock.run_for(31_000)
    page.wait_for_selector("#pulse >> text=1 new act by Codex")
    assert page.inner_text("main") == before
    assert page.evaluate(where) == top
    page.click("#pulse >> text=Later")
    page.clock.run_for(31_000)
    assert not page.is_visible("#pulse .note")  # until something more is done
    memory.add("The kettle is old", subject="kettle")
    page.clock.run_for(31_000)
    page.wait_for_selector("#pulse >> text=2 new acts by Codex")
    page.click("#pulse a")
    page.wait_for_selector("main >> text=The kettle is old")


def test_an_agent_writes_meanwhile(visit: Callable[..., Any], memory: Store) -> None:
    page = visit()
    page.goto(f"{page.url}subject/1")
    before = page.inner_text("main")
    memory.add("The kettle whistles", subject="kettle")
    page.evaluate("fetch(document.querySelector('#pulse').dataset.pulse).then(r => r.text())"
                  ".then(t => { window.pulse = t })")  # fmt: skip
    page.wait_for_function("window.pulse !== undefined")
    assert "new act" in page.evaluate("window.pulse")
    assert page.inner_text("main") == before  # nothing moves under the reader
    page.click("#fact-2 button:text('Still true')")  # another fact's change is no obstacle
    page.wait_for_selector("article.done")


def test_a_server_that_is_gone_is_said(
    visit: Callable[..., Any], memory: Store, server: WebServer
) -> None:
    page = visit()
    page.goto(f"{page.url}subject/1")
    server.process.kill()
    server.process.wait()
    page.click("#fact-1 .menu summary")
    page.click("#fact-1 button:text('Delete')")
    page.wait_for_selector("#problems:has-text('The server does not answer')")
    assert page.is_visible("#fact-1")  # no button pretends success
    assert memory.get(1).status == "active"
    page.watch.complaints.clear()


@pytest.mark.skipif(sys.platform != "linux", reason="limits a process that runs")
def test_a_full_disk_is_said(visit: Callable[..., Any], memory: Store, server: WebServer) -> None:
    page = visit()
    page.goto(f"{page.url}subject/1")
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, -1))
    page.click("#fact-1 .menu summary")
    page.click("#fact-1 button:text('Delete')")
    page.wait_for_selector("#problems:has-text('could not be read or written')")
    assert memory.get(1).status == "active"
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
    page.click("#fact-1 button:text('Delete')")
    page.wait_for_selector("article.done:has-text('Deleted: #1')")
    assert memory.get(1).status == "deleted"
    page.watch.complaints.clear()


def test_several_questions_have_one_undo(visit: Callable[..., Any], memory: Store) -> None:
    for colour in ("green", "white"):
        ask(memory, f"The {colour} gate is open", f"The {colour} gate is shut", subject="gate")
    page = visit()
    page.goto(f"{page.url}inbox")
    page.click("text=Answer all 2")
    page.click("text=The new one in all 2")
    page.wait_for_selector(".undos >> text=Replaced: 2 questions")
    assert page.locator(".undos .done").count() == 1
    page.click(".undos button:text('Undo')")
    page.wait_for_selector("text=2 questions to decide")
    assert memory.proposals.count() == 2


def test_signing_out_closes_every_tab(visit: Callable[..., Any]) -> None:
    first = visit()
    second = visit()
    second.goto(f"{second.url}subject/1")
    first.click("text=Sign out")
    first.wait_for_url("**/enter")
    second.click("#fact-1 .menu summary")
    second.click("#fact-1 button:text('Delete')")
    second.wait_for_selector("#problems:has-text('You are signed out')")
    second.watch.complaints.clear()


# -- hostile texts and pages -----------------------------------------------------------------------


def fill(memory: Store, text: str) -> None:
    """Store one of all that pages show, with a text in each of its fields."""
    memory.episodes.add(f"so: {text}", source=f"web:{text}", speaker=text, thread=text)
    memory.of(user_id=text).tasks.create(text, project=text, due=text)
    memory.tasks.create(f"and {text}", priority="high", due="2020-01-01")
    memory.searches.record(text, facts=[1])
    assert memory.searches.list(limit=1)  # which writes them
    ask(memory, f"old {text}", f"new {text}", subject=text)


def ask(memory: Store, old: str, new: str, subject: str) -> None:
    """Store two facts of which one may replace the other."""
    first = memory.add(old, subject=subject)
    memory.add(new, subject=subject, source="web:example.org", supersedes=first.id)


def test_three_questions_are_decided_by_three_keys(
    visit: Callable[..., Any], memory: Store
) -> None:
    for room in ("hall", "kitchen", "attic"):
        ask(memory, f"The {room} is green", f"The {room} is red", subject=room)
    page = visit()
    # A busy browser's timers are late: a page that has loaded must not wait for one to be ready.
    page.add_init_script("""{
        const start = window.setTimeout;
        window.setTimeout = (task, time = 0, ...rest) => start(task, time + 2000, ...rest);
    }""")
    page.goto(f"{page.url}inbox")
    for number, key in enumerate("arx", start=1):
        page.keyboard.press(key)
        page.wait_for_selector(f".undos .done >> nth={number - 1}")
    states = [one.state for one in memory.proposals.list(None)]
    assert states == ["accepted", "rejected", "rejected"]
    assert [fact.status for fact in memory.get_many([9, 10])] == ["active", "deleted"]
    page.keyboard.press("u")
    page.wait_for_selector("text=1 question to decide")
    assert memory.proposals.count() == 1


def test_the_five_questions_take_two_clicks_at_most(
    visit: Callable[..., Any], memory: Store
) -> None:
    ask(memory, "The port is 5432", "The port is 5499", subject="staging")
    memory.searches.record("which port", facts=[5])
    assert memory.searches.list()  # which writes them
    page = visit()
    home = page.url

    def clicks(*selectors: str, most: int = 2) -> str:
        page.goto(home)
        for selector in selectors:
            page.click(selector)
            page.wait_for_load_state()
        assert len(selectors) <= most
        return str(page.inner_text("main"))

    # What will the next session be told?
    assert "The port is 5499" in clicks()
    # Why did the agent say that?
    assert "The port is 5499" in clicks("nav >> text=Answers", "text=which port")
    # What was learnt today, and undo what that run did.
    assert "The port is 5499" in clicks("nav >> text=Timeline")
    assert "This is what would be done" in clicks(
        "nav >> text=Timeline", "text=Undo this run… >> nth=0"
    )
    # What is undone is read before that: the third click does it.
    undoing = ("nav >> text=Timeline", "text=Undo this run… >> nth=0", "button:text('Undo it')")
    clicks(*undoing, most=3)
    assert memory.list() == []
    memory.ledger.revert(acts=[memory.ledger.log(limit=1)[0].line]).apply()
    # Which of these is true?
    clicks("nav >> text=Inbox", "button:has-text('The new one') >> nth=0")
    page.wait_for_selector(".undos .done")
    assert memory.get(5).status == "superseded"
    # Everything about somebody: shown, exported, and the plan to erase it.
    assert "harbour is closed" in clicks("nav >> text=Subjects", "a:text('harbour')")
    erasing = ("nav >> text=Subjects", "a:text('harbour')", "text=Erase everything about it…")
    told = clicks(*erasing, most=3)
    assert "This cannot be undone" in told


def test_hostile_texts_do_nothing(visit: Callable[..., Any], memory: Store) -> None:
    for text in HOSTILE:
        said = memory.episodes.add(f"so: {text}", source=f"web:{text}", speaker=text, thread=text)
        old = memory.add(f"old {text}", subject=text, category=text, metadata={text: text})
        new = memory.add(f"new {text}", subject=text, supersedes=old.id)
        memory.add(text, subject=text, episode_id=said.id, user_id=text)
        fill(memory, text)
        page = visit()
        base = page.url
        paths = ["", "subjects", f"subject/{new.id}", f"fact/{new.id}", f"fact/{old.id}"]
        paths += ["inbox", "timeline", "log", "answers", "tasks", "owners", "state"]
        paths += [f"episode/{said.id}", f"erase/subject/{new.id}", "answers/given"]
        for path in paths:
            page.goto(base + path)
            page.wait_for_load_state("networkidle")
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.goto(base)
        page.fill("#find", text)
        page.press("#find", "Enter")
        page.wait_for_url("**/search/*")
        page.goto(f"{base}fact/{new.id}/correct")
        page.fill("#content", f"{text} again")
        page.click("text=Replace it")
        page.wait_for_url("**/fact/*")
        assert page.watch.complaints == []


def test_a_text_of_a_megabyte_is_cut_and_shown_whole_on_request(
    visit: Callable[..., Any], memory: Store
) -> None:
    whole = ("The tower is tall. " * 60_000)[:999_990]
    said = memory.episodes.add(whole, source="chat", metadata={"note": "m" * 60_000})
    old = memory.add(whole, subject="tower", metadata={"note": "m" * 60_000})
    memory.add(f"{whole} No.", subject="tower", source="web:a.org", supersedes=old.id)
    page = visit()
    base = page.url
    for path in (f"subject/{old.id}", f"episode/{said.id}", "inbox"):
        answer = page.goto(base + path)
        assert len(answer.body()) < 60_000, path
        assert page.locator("text=Show all").count() > 0, path
    page.goto(f"{base}fact/{old.id}")
    page.click("text=Metadata, UUID")
    page.click("text=Show all 60,000")
    assert "m" * 60_000 in page.input_value("#metadata")
    page.goto(f"{base}fact/{old.id}")
    page.click("text=Show all 999,990")
    assert page.text_content("p.card") == whole
    assert page.watch.complaints == []


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, dict[str, Any]]]:
    """Another program's pages on another port of this machine, and what it is sent."""
    content: dict[str, Any] = {"html": "", "cookies": [], "set": None}

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content["cookies"].append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            if content["set"]:
                self.send_header("Set-Cookie", content["set"])
            self.end_headers()
            self.wfile.write(content["html"].encode())

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}", content
    running.shutdown()
    running.server_close()
    thread.join()


def test_another_port_gets_no_cookie_and_cannot_post(
    visit: Callable[..., Any], memory: Store, elsewhere: tuple[str, dict[str, Any]]
) -> None:
    url, content = elsewhere
    page = visit()
    base = page.url
    ticket = page.get_attribute("input[name=ticket]", "value")
    content["html"] = (
        f'<form method="post" action="{base}fact/1/delete"><input name="ticket" value="{ticket}">'
        '<input name="seen" value="999999"><button>Win</button></form>'
        f'<iframe src="{base}fact/1"></iframe><img src="{base}fact/1">'
    )
    page.goto(url)
    page.click("text=Win")  # with the path and even the form's token stolen
    page.wait_for_selector("text=Only our own pages")
    assert memory.get(1).status == "active"
    assert not any("memstore-" in one for one in content["cookies"])
    page.watch.complaints.clear()


def test_pages_cannot_be_framed_or_read(
    visit: Callable[..., Any], elsewhere: tuple[str, dict[str, Any]]
) -> None:
    url, content = elsewhere
    page = visit()
    base = page.url
    content["html"] = f'<iframe id="frame" src="{base}"></iframe>'
    page.goto(url)
    page.wait_for_load_state("networkidle")
    frame = page.query_selector("#frame").content_frame()
    assert "memstore" not in (frame.content() if frame is not None else "")
    read = page.evaluate(
        "address => fetch(address, {credentials: 'include'}).then(r => r.text(), e => 'refused')",
        base,
    )
    assert read == "refused"
    opened = page.evaluate("address => { window.there = open(address); return true }", base)
    assert opened
    page.watch.complaints.clear()


def test_a_name_that_was_rebound_is_refused(browser: Any, server: WebServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"http://evil.test:{server.port}/enter")
    assert answer is not None
    assert answer.status == 421
    context.close()


def test_a_replayed_code_and_a_stolen_path_open_nothing(
    browser: Any, visit: Callable[..., Any], server: WebServer
) -> None:
    base = visit().url
    code = server.lines[-1].split()[-1]
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/enter#{code}")
    page.wait_for_selector("text=already used")
    page.goto(base)
    assert page.url == f"{server.url}/enter"
    context.close()


def test_a_cookie_forged_by_another_port_signs_nobody_in_or_out(
    visit: Callable[..., Any], server: WebServer, elsewhere: tuple[str, dict[str, Any]]
) -> None:
    url, content = elsewhere
    page = visit()
    base = page.url
    content["set"] = f"memstore-{server.port}=forged; Path=/"
    page.goto(url)
    page.goto(f"{base}subjects")
    assert page.inner_text("h1") == "Subjects"
    page.watch.complaints.clear()  # the visit to the other port


# -- looks -----------------------------------------------------------------------------------------


def pages_to_see(page: Any) -> dict[str, str]:
    """Return the addresses of pages by name; the first is asked for."""
    base = page.url
    page.fill("#find", "which colour is the kettle?")
    page.press("#find", "Enter")
    page.wait_for_url("**/search/*")
    paths = {"home": "", "subjects": "subjects", "subject": "subject/1", "fact": "fact/1"}
    names = ("sessions", "inbox", "timeline", "log", "answers", "tasks", "owners", "state")
    paths |= {name: name for name in names} | {
        "episode": "episode/1",
        "session": "session/1",
        "given": "answers/given",
        "palette": "go",
    }
    forms = {"correct": "fact/1/correct", "metadata": "fact/1/metadata", "undo": "undo/1"}
    forms |= {"erase": "erase/fact/1", "erasing": "erase", "empty": "owners/empty"}
    named = {name: base + path for name, path in {**paths, **forms}.items()}
    return {"search": page.url, **named, "missing": f"{base}nothing"}


ODD = (
    "x" * 4000,
    "הברז במטבח דולף, ו־kettle הוא כחול",
    "تاريخ الرسالة خطأ: 12:30 SHOP-1301",
    "\u202eevil\u2066\ufeff\x1b[31m",
    "漢字" * 400,
    "a\nb\n\n\nc\td",
)
"""Texts without blanks, of both directions, with hidden characters, of many lines."""


@pytest.mark.parametrize("mode", ["forced-colors", "reduced-motion", "plain"])
def test_odd_texts_fit_on_every_page(
    visit: Callable[..., Any], memory: Store, mode: str, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for place, text in enumerate(ODD):
        said = memory.episodes.add_many(
            NewEpisode(
                content=f"{text} {turn}",
                source="codex",
                thread=f"talk {place}",
                speaker=("user", "assistant")[turn % 2],
            )
            for turn in range(60 if place == 1 else 4)
        )
        name = text[:60]
        fact = memory.add(f"{text} {said[0].id}", subject=name, episode_id=said[0].id)
        for turn in range(12 if place == 1 else 1):
            fact = memory.add(f"{text} and {turn}", subject=name, supersedes=fact.id)
        memory.add(f"not {text}", subject=name, source="web:example.org", supersedes=fact.id)
        memory.tasks.create(text, due="2020-01-01")
        memory.searches.record(text, facts=[fact.id], episodes=[said[0].id], tool="prompt")
        memory.within(f"~/work/{name[:20]}").add(text, subject=name)
    assert memory.searches.list(limit=1)
    made = {"forced_colors": "active"} if mode == "forced-colors" else {}
    made |= {"reduced_motion": "reduce"} if mode == "reduced-motion" else {}
    page = visit(**made)
    base = page.url
    page.fill("#find", ODD[1])
    page.press("#find", "Enter")
    page.wait_for_url("**/search/*")
    paths = ["", "sessions", "inbox", "timeline", "subjects", "answers", "tasks", "owners", "go"]
    paths += [f"fact/{fact.id}", f"subject/{fact.id}", "fact/5", "session/1", "session/7", "log"]
    for address in (page.url, *(base + path for path in paths)):
        page.set_viewport_size({"width": 320, "height": 700})
        page.goto(address)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, address
        page.set_viewport_size({"width": 640, "height": 700})
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, (address, "large text")
        page.evaluate("document.documentElement.style.fontSize = ''")
        if mode == "forced-colors":
            assert violations(axe, page) == [], address


def test_targets_are_large_enough_for_a_thumb(visit: Callable[..., Any], memory: Store) -> None:
    fill(memory, "It is blue")
    page = visit(has_touch=True)
    named = pages_to_see(page)
    page.set_viewport_size({"width": 390, "height": 800})
    small = """() => [...document.querySelectorAll("button, .button, summary, nav a")]
        .filter(one => one.offsetParent && one.getBoundingClientRect().height < 24)
        .map(one => one.outerHTML.slice(0, 120))"""
    for name, address in named.items():
        page.goto(address)
        assert page.evaluate(small) == [], name
    page.watch.complaints[:] = [one for one in page.watch.complaints if "404" not in one]


def violations(axe: Any, page: Any) -> list[Any]:
    found = axe.run(page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_open_palette_is_accessible(visit: Callable[..., Any], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(color_scheme=scheme)
    for width in SEEN_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(page.url)
        page.keyboard.press("Control+k")
        page.keyboard.type("kettle")
        page.wait_for_selector("#choices a:has-text('blue')")
        assert violations(axe, page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit(
    visit: Callable[..., Any], memory: Store, scheme: str, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    fill(memory, "It is blue")
    page = visit(color_scheme=scheme, reduced_motion="reduce")
    folder = request.config.getoption("--screenshots")
    for name, address in pages_to_see(page).items():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        opened = (
            "document.querySelectorAll('main details:not(.menu)').forEach(one => one.open = true)"
        )
        page.evaluate(opened)
        for width in SEEN_WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert violations(axe, page) == [], (name, width)
        for width in WIDTHS if scheme == "light" or folder else ():  # colours take no room
            page.set_viewport_size({"width": width, "height": 900})
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, (name, width)
            if width == 640:  # a text of twice the size
                page.evaluate("document.documentElement.style.fontSize = '200%'")
                overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert overflow <= 0, (name, "large text")
                page.evaluate("document.documentElement.style.fontSize = ''")
            if folder and width in SEEN_WIDTHS:
                page.screenshot(path=Path(folder) / f"{name}-{scheme}-{width}.png", full_page=True)
    # A missing page is a line of the console.
    page.watch.complaints[:] = [one for one in page.watch.complaints if "404" not in one]
