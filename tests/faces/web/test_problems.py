"""Bad days: each error has a page with its sentence, a status and a way on."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.engines import engine_of
from tests.support.pages import Pages, text_of

from memstore import Store, errors
from memstore.faces.web.server import gate
from memstore.facts.proposals import Proposals

ERRORS = [
    (errors.NotFound("there is no fact 7"), 404, "Nothing here"),
    (errors.AccessDenied("it is another namespace"), 403, "Not allowed"),
    (errors.Conflict("fact 7 is superseded"), 409, "fact 7 is superseded"),
    (errors.StoreBusy("the lock was held"), 503, "The memory is busy"),
    (errors.FileReplaced("the file was replaced"), 503, "The file was replaced"),
    (errors.FileMissing("the file was moved"), 503, "the file was moved"),
    (errors.SchemaError("the file is newer"), 503, "This version cannot read the file"),
    (errors.StorageError("the disk is full"), 503, "the disk is full"),
    (errors.EmbedderUnavailable("it does not answer"), 502, "A model did not answer"),
    (errors.InvalidArgument("is no time", argument="moment"), 400, "as of is no time"),
    (ValueError("nonsense"), 400, "nonsense"),
    (RuntimeError("the secret text of a memory"), 500, "That failed"),
]


@pytest.mark.parametrize(("error", "status", "said"), ERRORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("swaps", [False, True])
def test_an_error_is_a_page_with_a_way_on(
    pages: Pages,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    said: str,
    swaps: bool,
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Store, "subjects", failing)
    answer = pages.get("subjects", **({"HX-Request": "true"} if swaps else {}))
    assert answer.status_code == status
    assert said in text_of(answer.text)
    assert "secret text" not in answer.text
    if swaps:
        assert answer.headers["hx-retarget"] == "#problems"
        assert "<html" not in answer.text
    else:
        assert '<ul class="ways">' in answer.text


def test_a_page_waits_for_another_program_only_for_a_moment(
    pages: Pages, memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = memory.add("Ana likes tea", subject="Ana")
    monkeypatch.setattr(gate, "LOCK_SECONDS", 0.01)
    with closing(engine_of(memory.path)) as other, other.write():
        answer = pages.post(f"fact/{fact.id}/confirm")
        assert (answer.status_code, "The memory is busy" in answer.text) == (503, True)
        assert "Ana likes tea" in pages.read(f"fact/{fact.id}")
    assert pages.post(f"fact/{fact.id}/confirm").status_code == 303


def test_a_memory_that_does_not_open_is_a_page_of_its_own(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise errors.SchemaError("the file was written by a newer version")

    monkeypatch.setattr(type(pages.sign_in), "_store", failing)
    answer = pages.get()
    assert answer.status_code == 503
    assert "newer version" in answer.text
    assert "Try again" in answer.text


@pytest.mark.parametrize("path", ["subjects", "nothing/here"])
def test_a_memory_that_fails_for_the_menu_too_is_a_page_without_it(
    pages: Pages, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise errors.FileReplaced("the file was replaced")

    monkeypatch.setattr(Store, "subjects", failing)
    monkeypatch.setattr(Proposals, "count", failing)
    answer = pages.get(path)
    assert answer.status_code == (503 if path == "subjects" else 404)
    assert "Try again" in answer.text
    assert "<nav" not in answer.text


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not renamed there")
def test_pages_say_that_the_file_is_missing_and_go_on_when_it_is_back(
    pages: Pages, memory: Store
) -> None:
    fact = memory.add("Ana likes tea", subject="Ana")
    path = Path(memory.path)
    path.rename(path.with_name("away.db"))
    for answer in (pages.get(), pages.get("subjects"), pages.get(f"fact/{fact.id}")):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert "The file is missing" in answer.text
        assert str(path) in text_of(answer.text)
    assert not path.exists()
    path.with_name("away.db").rename(path)
    assert "Ana likes tea" in pages.read(f"fact/{fact.id}")
    assert pages.post(f"fact/{fact.id}/confirm").status_code == 303
