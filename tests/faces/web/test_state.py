"""The state of the memory, and the doctor that pages start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.clock import wait_until
from tests.support.embedders import WordEmbedder
from tests.support.pages import Pages, text_of
from tests.support.raw import sql

import memstore
from memstore import Store, settings
from memstore.faces.web import doctor
from memstore.file import syncing
from memstore.file.paths import is_server
from memstore.sync import remembered, status
from memstore.sync.remembered import Remembered


def _finish(pages: Pages) -> str:
    known = doctor.of(pages.store.file)
    assert wait_until(lambda: not known.is_running)
    return text_of(pages.read("state"))


def test_counts_are_told(pages: Pages) -> None:
    fact = pages.store.add("The gate is green", subject="gate")
    pages.store.add("The gate is red", subject="gate", supersedes=fact.id)
    pages.store.searches.record("gate", milliseconds=3.5)
    page = text_of(pages.read("state"))
    assert "Believed 1 fact about 1 subject" in page
    assert "Not embedded 2 facts; words" in page
    assert "Replaced 1" in page
    assert "3.5 ms in the middle" in page


def test_only_where_there_is_an_embedder_a_fact_is_not_embedded_yet(
    pages: Pages, tmp_path: Path
) -> None:
    pages.store.add("The gate is green", subject="gate")
    for path in ("", "subject/1", "fact/1", "state"):
        assert "embedded yet" not in pages.read(path)
    embedder = WordEmbedder()
    embedder.failure = memstore.EmbedderUnavailable("it is away")
    with memstore.open(tmp_path / "memory.db", embedder=embedder) as store:
        others = Pages(store)
        others.enter()
        assert "1 fact not embedded yet" in text_of(others.read(""))
        assert "not embedded yet" in others.read("fact/1")
        assert "Waiting 1 fact; words" in text_of(others.read("state"))


def test_a_check_up_runs_and_its_result_stays(pages: Pages) -> None:
    pages.store.add("The gate is green", subject="gate")
    pages.followed(pages.post("state/doctor", {"deep": "1"}))
    assert "nothing is wrong" in _finish(pages)
    sql(pages.store.path, "UPDATE memstore_facts SET content = 'The gate is blue'")
    assert "nothing is wrong" in text_of(pages.read("state"))  # that of before
    pages.followed(pages.post("state/doctor", {"deep": "1"}))
    assert "finding" in _finish(pages)


def test_its_progress_is_a_part_that_a_page_swaps_in(pages: Pages) -> None:
    place = "database" if is_server(pages.store.path) else "file"
    assert f"Check the {place}" in pages.read("state/doctor")
    answer = pages.post("state/doctor", HX_Request="true")
    assert answer.status_code == 200
    assert "<html" not in answer.text
    _finish(pages)


def test_a_check_up_that_is_stopped_says_so(pages: Pages) -> None:
    known = doctor.of(pages.store.file)
    known.stop()
    known._run(False, threading.Event())
    assert "It was stopped" in text_of(pages.read("state"))


def test_the_doctor_ends_with_the_sign_in_of_who_started_it(
    pages: Pages, memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LOOK_SECONDS", 0.001)
    known, started = doctor.of(memory.file), threading.Event()

    def doctor_(*, cancelled: Callable[[], bool], **_asked: object) -> None:
        started.set()
        assert wait_until(cancelled)
        raise memstore.errors.Cancelled("as File.doctor does")

    monkeypatch.setattr(type(memory.file), "doctor", lambda _file, **asked: doctor_(**asked))
    pages.post("state/doctor")
    assert started.wait(10)
    assert known.is_running
    pages.post("sign-out")
    assert wait_until(lambda: not known.is_running)
    assert "sign-in" in known.trouble


def test_a_token_is_revoked_and_never_shown(pages: Pages) -> None:
    token, secret = pages.store.file.tokens.create("laptop", namespace="default")
    page = pages.read("state")
    assert "laptop" in page
    assert secret not in page
    pages.followed(pages.post(f"state/token/{token.id}/revoke"))
    assert pages.store.file.tokens.list()[0].status == "revoked"


def test_a_visitor_of_one_namespace_sees_nothing_of_the_whole_file(pages: Pages) -> None:
    pages.store.file.tokens.create("laptop", namespace="default")
    _, secret = pages.store.file.tokens.create("other", namespace="default")
    confined = Pages(pages.store, takes_codes=False)
    assert confined.enter(token=secret).status_code == 303
    page = text_of(confined.read("state"))
    assert "laptop" not in page
    assert "Doctor" not in page
    assert confined.post("state/doctor").status_code == 403


def test_what_waits_is_tried_again(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    embedder.failure = memstore.EmbedderUnavailable("it is asleep")
    with memstore.open(tmp_path / "memory.db", embedder=embedder) as store:
        store.add("The gate is green", subject="gate")
        pages = Pages(store)
        pages.enter()
        assert "Try again now" in pages.read("state")
        answer = pages.post("state/embed")
        assert "Embedded 0 texts" in text_of(answer.text)


@pytest.mark.parametrize("path", ["state/token/99/revoke"])
def test_a_token_that_is_not_there_is_not_found(pages: Pages, path: str) -> None:
    assert pages.post(path).status_code == 404


def test_each_device_is_told_by_name(
    pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_server(pages.store.path):
        pytest.skip("a database on a server is the memory of its clients, not a device's")
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))
    assert "Devices" not in text_of(pages.read("state"))
    place = tmp_path / "place"
    place.mkdir()
    chosen = Remembered(str(place))
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        for store, name in ((pages.store, "laptop"), (other, "desk <b>top</b>")):
            syncing.sync(store.file, chosen)
            status.rename(store.file.engine, name)
            syncing.sync(store.file, chosen)
        pages.store.add("The gate is green", subject="gate")
        page = text_of(pages.read("state"))
        assert "1 change not sent yet" in page
        syncing.sync(pages.store.file, chosen)
        remembered.note_run(remembered.folder_of(pages.store.path), "the place <i>is away")
    page = text_of(pages.read("state"))
    assert "laptop (here)" in page
    assert "has not taken 1 change of laptop" in page
    assert "desk <b>top</b>" in page
    assert "failed: the place <i>is away" in page


def test_who_sees_a_namespace_alone_hears_of_no_device(
    pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_server(pages.store.path):
        pytest.skip("a database on a server is the memory of its clients, not a device's")
    monkeypatch.setattr(settings, "data_folder", lambda: str(tmp_path / "data"))
    (tmp_path / "place").mkdir()
    syncing.sync(pages.store.file, Remembered(str(tmp_path / "place")))
    assert "Devices" in text_of(pages.read("state"))
    confined = Pages(pages.store.within("default", confined=True))
    confined.enter()
    assert "Devices" not in text_of(confined.read("state"))
