"""Why a question is asked, in words that a person knows: on the pages and on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401
from tests.support.pages import Pages, text_of

import memstore
from memstore import Memory, Store
from memstore.text.judging.judge import Rule

OLD, NEW = "Melanie is managing kids and work", "Melanie is going swimming with the kids"
JARGON = re.compile(
    r"align|slot|holder|\bframe\b|hedg|attribute's|evidence|\bpair\b", re.IGNORECASE
)


class Wants:
    """A model that finds one fact, and wants one thing done to the memory that it is shown."""

    model = "wants"

    def __init__(self, event: str) -> None:
        self._event = event

    def generate(self, prompt: str) -> str:
        if "The existing memories:" not in prompt:
            return json.dumps({"facts": [{"content": NEW, "subject": "Melanie"}]})
        text = NEW if self._event == "UPDATE" else None
        told = {"fact": 1, "event": self._event, "memory": 1, "text": text}
        return json.dumps({"operations": [told]})


@pytest.fixture
def asked(cli: CommandLine) -> Iterator[Store]:
    """A memory in which a model wanted to replace a fact, and no word says that it should."""
    with memstore.open(cli.db, embedder=None, actor="user") as store:
        store.add(OLD, subject="Melanie", user_id="u")
        Memory(store, Wants("UPDATE")).add(NEW, user_id="u")
        assert len(store.of("all").proposals.list()) == 1
        yield store


def test_a_question_says_in_plain_words_why_it_is_asked(cli: CommandLine, asked: Store) -> None:
    reasons = [
        "the newer one shows no sign of a change of the other",
        "a language model wanted to replace the older one",
    ]
    (told,) = cli.json("proposals", "list", "--user", "u")
    assert told["evidence"]["wanted"] == "UPDATE"
    (question,) = asked.of("all").proposals.questions()
    assert [*question.reasons] == reasons
    pages = Pages(asked.of("all"))
    pages.enter()
    page = text_of(pages.read("inbox"))
    for sentence in reasons:
        assert f"{sentence[0].upper()}{sentence[1:]}." in page


def test_text_that_counts_less_says_so(cli: CommandLine, tmp_path: Path) -> None:
    with memstore.open(cli.db, embedder=None, actor="user") as store:
        old = store.add(OLD, subject="Melanie")
        store.add(NEW, subject="Melanie", source="web:a.org", supersedes=old.id)
        (question,) = store.proposals.questions()
        assert question.reasons == (
            "what speaks for the newer one counts less than what speaks for the older",
        )


@pytest.mark.parametrize("rule", Rule)
def test_no_rule_needs_the_words_of_those_who_made_it(rule: Rule) -> None:
    assert not JARGON.search(rule.value)
    assert re.match(r"[a-z]+ ", rule.value)  # "the newer one …"
