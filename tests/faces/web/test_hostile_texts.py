"""Hostile texts in every field: they are shown as they are, and do nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

import pytest
from tests.support.pages import Pages

from memstore import Store

TEXTS: Final = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)>",
    "attribute": "\" autofocus onfocus=alert(1) x=\" ' onmouseover='alert(1)",
    "htmx": '<b hx-get="/enter" hx-trigger="load" hx-on:click="alert(1)">x</b>" hx-get="/x',
    "template": "{{7*7}}{% raw %}{{ visit.session.secret }}${7*7}#{7*7}",
    "hidden": "a\u202eb\u2066c\u200fd\ufeffe\U000e0041f\x00g\x1b[31mh",
    "link": "javascript:alert(1) https://evil.example/ [x](https://evil.example)",
    "closing": "</textarea></pre></title></style>--><!--]]>",
    "odd": "\x85\u2028\u2029\ufffe \x7f",
}

ELEMENTS: Final = frozenset(
    """html head meta title link script body a header p span nav ul li div form input button kbd
    main h1 h2 h3 label details summary section article table caption thead tbody tr td th svg rect
    dialog dl dt dd ol time em del ins mark bdi strong pre blockquote textarea select option code
    br path figure figcaption text""".split()
)
ATTRIBUTES: Final = frozenset(
    """lang charset name content http-equiv rel href type src defer class aria-label
    aria-current method action value hidden data-opens id role tabindex aria-labelledby for
    data-search dir maxlength autocomplete placeholder data-row data-open data-key hx-post
    hx-target hx-swap hx-get hx-trigger viewbox preserveaspectratio aria-hidden focusable d
    fill opacity stroke-width x width height datetime title reversed open y rx text-anchor
    data-copies scope colspan data-name data-pulse data-keys checked aria-describedby
    aria-invalid required rows spellcheck autocapitalize data-undo data-focus selected
    list data-go data-list data-waiting data-drops aria-selected aria-activedescendant aria-controls
    aria-autocomplete aria-expanded""".split()
)


class Parsed(HTMLParser):
    """Checks that a page has only our own elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.foreign.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.foreign.append(f"{tag} {name}")
            if name in ("href", "src", "action", "hx-get", "hx-post"):
                self.addresses.append(value or "")


def checked(page: str) -> str:
    """Return a page in which nothing is foreign, hidden, or an address of somebody else."""
    parsed = Parsed()
    parsed.feed(page)
    parsed.close()
    assert parsed.foreign == []
    for address in parsed.addresses:
        assert re.fullmatch(r"[/#?][\w/.?=&#-]*|", address), address
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e]", page)
    assert not re.search("[\u2028\u2029\u2060-\u206f\ufeff\U000e0000-\U000e01ef]", page)
    assert "<title>" in page
    return page


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_hostile_text_does_nothing_in_any_field(memory: Store, text: str) -> None:
    storable = text.replace("\x00", "")
    name = storable[:60]
    other = memory.within(source=f"web:{name}")
    said = other.episodes.add(
        f"before {storable} after", source=name, speaker=name, thread=name, name=name
    )
    old = other.add(f"old {storable}", subject=name, category=name, source=name)
    fact = other.add(
        f"new {storable}",
        subject=name,
        category=name,
        metadata={name: storable, "nested": {name: [storable]}},
        supersedes=old.id,
    )
    drawn = other.add(storable, subject=name, episode_id=said.id)
    owned = other.add(f"mine {storable}", subject=name, user_id=name, agent_id=name, run_id=name)
    pages = Pages(memory)
    pages.enter()
    for path in (
        "", "subjects", f"subject/{fact.id}", f"subject/{fact.id}/removed", f"fact/{fact.id}",
        f"fact/{old.id}", f"fact/{drawn.id}", f"fact/{owned.id}", f"fact/{fact.id}/text",
        f"fact/{fact.id}/correct", f"fact/{fact.id}/metadata",
        f"undo/{memory.ledger.journal(fact.id)[-1].txn}",
    ):  # fmt: skip
        checked(pages.read(path))
    answer = checked(pages.ask("search", {"query": text, "subject": text, "as_of": text}))
    checked(pages.ask("search", {"query": name, "user": name}))
    number = re.search(r"search/(\d+)/why-not", answer)
    assert number is not None
    checked(pages.ask(f"search/{number[1]}/why-not", {"missing": text}))
    checked(pages.ask("subjects", {"prefix": text, "user": text, "order": text}))
    checked(pages.ask(f"subject/{fact.id}", dict.fromkeys(("category", "source", "from"), text)))
    checked(pages.post(f"fact/{fact.id}/metadata", {"metadata": text}).text)
    checked(pages.ask("go", {"query": text}))
    checked(pages.ask("go", {"query": name}))
    assert pages.get(f"fact/{fact.id}.json").content.isascii()
    for one, sent in ((fact, {"HX-Request": "true"}), (drawn, {})):
        answer = pages.post(f"fact/{one.id}/correct", {"content": f"{text}!", "back": text}, **sent)
        assert answer.status_code in (204, 303, 400)
        assert answer.text == "" or checked(answer.text)


def test_a_hostile_namespace_and_token_are_shown_as_they_are(memory: Store) -> None:
    name = TEXTS["markup"]
    there = memory.within(name)
    there.add("The kettle is blue", subject="kettle")
    _, secret = memory.file.tokens.create(name, namespace=name)
    pages = Pages(memory, takes_codes=False)
    assert pages.enter(token=secret).status_code == 303
    page = checked(pages.read())
    assert "&lt;script&gt;alert(1)" in page


def test_hostile_fields_of_the_sign_in_are_not_repeated(memory: Store) -> None:
    for text in TEXTS.values():
        answer = Pages(memory).enter(code=text, zone=text)
        checked(answer.text)
        assert "alert(1)" not in answer.text


def test_a_failure_logs_no_text(
    memory: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pages = Pages(memory)
    pages.enter()

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("the secret text of a memory")

    monkeypatch.setattr(Store, "subjects", failing)
    answer = pages.get("subjects")
    assert answer.status_code == 500
    assert "secret text" not in answer.text
    assert [one.getMessage() for one in caplog.records] == ["a page failed: RuntimeError"]
