"""Home: both texts are what the hooks print, to the byte; then news, the week and the projects."""

from __future__ import annotations

import re
from html import unescape

import pytest
from tests.faces.web.test_hostile_texts import TEXTS, checked
from tests.support.clock import ManualClock
from tests.support.pages import BASE, Pages, text_of

from memstore import Store
from memstore.faces.hosts import hook
from memstore.faces.web.pages import home


def well(page: str, name: str) -> str:
    """Return the text of a well, as copying it gives it."""
    found = page.split(f'id="{name}">')[1].split("</div>")[0]
    return unescape(re.sub(r"<[^>]+>", "", found))


def hooked(memory: Store, event: str, host: str, **given: str) -> str | None:
    """Return what the hook of a host adds in this memory."""
    words = [event, "--host", host, "--db", str(memory.path), "--embedder", "none"]
    words += ["--namespace", memory.namespace]
    answer = hook.answered(hook.parser().parse_args(words), {"session_id": "fresh", **given})
    return None if answer is None else str(answer["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def filled(memory: Store) -> Store:
    """A memory with some of all that a session begins with."""
    for place, (speaker, text) in enumerate(
        (("user", "Why is the kettle cold?"), ("assistant", "The fuse is broken & <b>black</b>."))
    ):
        memory.episodes.add(
            text, source="codex", thread="s1", speaker=speaker, seq=place, tags=("session",)
        )
    memory.add("Ana likes green tea", subject="ana", category="preference")
    memory.add("The kettle needs fuse 13", subject="kettle", category="project")
    memory.within(source="codex").add("The <i>gate</i> is red", subject="gate")
    memory.tasks.create("Order a fuse", priority="high", due="2030-01-01")
    return memory


@pytest.mark.parametrize("host", [one.name for one in home.hosts()])
def test_the_first_text_is_that_of_the_hook(
    filled: Store,
    pages: Pages,
    host: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The hook runs in the home folder, which is of no project: a page knows of none either."""
    home_folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home_folder))
    monkeypatch.chdir(home_folder)
    place = [one.name for one in home.hosts()].index(host)
    shown = well(pages.read(f"?host={place}"), "told-start")
    assert shown == hooked(filled, "SessionStart", host)
    assert "Open tasks:" in shown


@pytest.mark.parametrize(
    "prompt", ["Which fuse does the kettle need?", "who is ANA", "  Is the <i>gate</i> red?\n"]
)
def test_the_second_text_is_that_of_the_hook(filled: Store, pages: Pages, prompt: str) -> None:
    expected = hooked(filled, "UserPromptSubmit", "claude-code", prompt=prompt)
    page = pages.ask("prompt", {"prompt": prompt})
    assert expected is not None
    assert well(page, "told-prompt") == expected
    part = pages.post("prompt", {"prompt": prompt}, HX_Request="true")
    assert well(part.text, "told-prompt") == expected


@pytest.mark.parametrize("prompt", ["ok", "/clear the kettle", "", "thanks, go on"])
def test_a_prompt_that_nothing_bears_on_adds_nothing(
    filled: Store, pages: Pages, prompt: str
) -> None:
    assert hooked(filled, "UserPromptSubmit", "claude-code", prompt=prompt) is None
    page = pages.ask("prompt", {"prompt": prompt})
    assert "told-prompt" not in page
    assert ("Nothing is added" in page) == bool(prompt)


def test_why_a_prompt_adds_this_is_one_click_away(filled: Store, pages: Pages) -> None:
    page = pages.ask("prompt", {"prompt": "Which fuse does the kettle need?"})
    form = page.split('id="told-prompt"')[1].split("Why these?")[0]
    assert f'action="{BASE}search"' in form
    assert 'name="query" value="Which fuse does the kettle need?"' in form


def test_trying_a_prompt_counts_as_no_use_and_is_in_no_address(filled: Store, pages: Pages) -> None:
    answer = pages.post("prompt", {"prompt": "Which fuse does the kettle need?"})
    assert re.fullmatch(r"/\w+/\?host=0&p=\d+#prompt", answer.headers["location"])
    pages.followed(answer)
    assert {fact.use_count for fact in filled.list()} == {0}
    assert filled.searches.list() == []


def test_the_tokens_of_the_groups_and_their_ids_are_shown(filled: Store, pages: Pages) -> None:
    page = pages.read()
    told = text_of(page)
    assert re.search(r"\d+ of 500 tokens", told)
    assert re.search(r"tasks \d+ you \d+ newest \d+ last sessions \d+", told)
    fact = next(one for one in filled.list() if "fuse 13" in one.content)
    assert f'fact/{fact.id}">#{fact.id}</a>' in page.split('id="told-start"')[1]


def test_a_memory_of_nothing_says_so(pages: Pages) -> None:
    told = text_of(pages.read())
    assert "Nothing is stored yet" in told
    assert "a session that begins now is told nothing" in told


def test_news_are_a_sentence_for_each_actor(memory: Store, pages: Pages) -> None:
    memory.add("The door is open", subject="door")
    first = text_of(pages.read())
    assert "In the last week Timeline M mcp learnt one thing. The door is open" in first
    old = memory.add("The gate is red", subject="gate")
    memory.within(source="codex").add("The gate is green", subject="gate", supersedes=old.id)
    again = Pages(memory)
    again.enter()
    told = text_of(again.read()).split("Since your last visit")[1].split("Projects")[0]
    assert "Codex learnt one thing, found that one thing is no longer true." in told
    assert "The gate is red green" in told  # what was lost, then what is new
    assert "<del>red</del> <ins>green</ins>" in again.read("timeline")
    assert "The door is open" not in told
    assert "Since your last visit" not in text_of(pages.read())


def test_news_quote_two_things_of_each_and_count_tasks_apart(memory: Store, pages: Pages) -> None:
    for n in range(5):
        memory.add(f"The gate {n} is red", subject="gate")
    memory.tasks.create("Paint the gate")
    told = text_of(pages.read()).split("In the last week")[1].split("Projects")[0]
    assert "mcp learnt 5 things, added one task." in told
    assert told.count("is red") == 2
    assert "and 3 more" in told
    assert "todo" not in told


def test_what_was_brought_back_was_not_removed(memory: Store, pages: Pages) -> None:
    facts = [memory.add(f"Port {port} is free", subject="ports") for port in (7591, 8560, 7054)]
    for fact in facts:
        memory.delete(fact.id)
    assert "removed 3 things" in text_of(pages.read())
    memory.restore(facts[0].id)
    memory.erase(facts[1].id)
    assert "removed 2 things" in text_of(pages.read())
    memory.restore(facts[2].id)
    memory.delete(facts[2].id)
    assert "removed 2 things" in text_of(pages.read())


def test_of_many_actors_the_latest_are_told(memory: Store, pages: Pages) -> None:
    for name in "abcdef":
        memory.within(source=f"host-{name}").add(f"It is {name}", subject="it")
    told = text_of(pages.read()).split("In the last week")[1].split("Projects")[0]
    assert "host-f" in told
    assert "host-b" not in told
    assert "and 2 others" in told


def test_the_week_is_counted_in_four_numbers(
    memory: Store, pages: Pages, manual_clock: ManualClock
) -> None:
    memory.episodes.add("hello", source="codex", thread="a", speaker="user")
    memory.add("The gate is red", subject="gate")
    manual_clock.advance(8 * 86_400)
    for thread in "bcc":
        memory.episodes.add("hello", source="codex", thread=thread, speaker="user")
    memory.searches.record("which gate", facts=[1], tokens=90)
    pages.enter()
    told = text_of(pages.read())
    assert "Sessions this week 2 1 the week before" in told
    assert "Learnt 0 1 the week before" in told
    assert "Given to agents 1 answers, 90 tokens each" in told


def test_projects_with_turns_alone_are_listed_and_chosen(memory: Store, pages: Pages) -> None:
    there = memory.within("~/work/shop")
    there.episodes.add("Fix the till", source="codex", thread="t", speaker="user")
    memory.add("The gate is red", subject="gate")
    page = pages.read()
    told = text_of(page.split('id="projects-title"')[1])
    assert "~/work/shop Fix the till X Codex" in told
    assert "1 turn 0 facts" in told
    answer = pages.post("owners/namespace", {"namespace": "~/work/shop", "back": ""})
    assert "Fix the till" in pages.followed(answer)


def test_projects_have_their_own_questions(memory: Store, pages: Pages) -> None:
    for name, number in (("garden", 2), ("kitchen", 0)):
        there = memory.within(name)
        for n in range(3):
            old = there.add(f"The gate {n} is red", subject="gate")
            if n < number:
                there.add(
                    f"The gate {n} is blue", subject="gate", source="web:x", supersedes=old.id
                )
    there = memory.within("garden")
    deleted = there.proposals.list()[0].old.id
    assert "2 questions" in (projects := text_of(pages.read().split('id="projects-title"')[1]))
    assert projects.count("question") == 1
    there.delete(deleted)  # what cannot be decided any more is no question
    assert "1 question" in text_of(pages.read().split('id="projects-title"')[1])


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_hostile_texts_on_home_do_nothing(memory: Store, text: str) -> None:
    name = text.replace("\x00", "")[:60]
    memory.within(source=name).add(f"new {name}", subject=name)
    memory.within(name).episodes.add(name, source=name, thread=name, speaker="user")
    memory.episodes.add(name, source=name, thread=name, speaker="user", tags=("session",))
    pages = Pages(memory)
    pages.enter()
    checked(pages.read())
    checked(pages.ask("prompt", {"prompt": f"what is new {text}?", "host": text}))
