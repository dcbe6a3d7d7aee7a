"""The memory that ``memstore demo --web`` shows: enough of all that the pages have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import Store
from memstore.domain import clock
from memstore.faces.cli import demo, demo_team


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("demo") / "team.db"
    with memstore.open(path, embedder=None) as store:
        yield demo_team.fill(store)


def test_team_has_300_sessions_in_three_projects(team: Store) -> None:
    sessions = {
        project.name: len(team.within(project.name).episodes.sessions(limit=400))
        for project in demo_team.PROJECTS
    }
    assert sum(sessions.values()) == 300
    assert sessions == {project.name: project.sessions for project in demo_team.PROJECTS}


def test_days_count_back_from_now(team: Store) -> None:
    latest = team.episodes.sessions(limit=1)[0]
    assert timedelta() < clock.utc_now() - latest.last_at < timedelta(hours=1)
    lines = team.ledger.log(limit=None)
    assert [line.at for line in lines] == sorted((line.at for line in lines), reverse=True)
    assert lines[0].at <= clock.utc_now()
    assert lines[0].at - lines[-1].at > timedelta(days=500)


def test_each_page_has_something_to_show(team: Store) -> None:
    facts = team.list(limit=None)
    assert max(len(team.history(fact.id)) for fact in facts) > 10
    assert team.proposals.count() == len(demo_team.READ)
    assert len(team.tasks.list()) == len(demo_team.TASKS)
    assert team.count(states=["deleted"]) == 1
    assert any(fact.confirmed_count for fact in facts)
    assert len(team.searches.list(limit=None)) > 20
    assert "About the user:" in team.briefing().text


def test_what_was_learnt_stands_in_a_turn_in_the_same_words(team: Store) -> None:
    drawn = [fact for fact in team.list(limit=None) if fact.episode_id is not None]
    assert len(drawn) > 50
    for fact in drawn:
        assert fact.content in team.episodes.get(fact.episode_id or 0).content


def test_every_brace_is_filled(team: Store) -> None:
    texts = [one.content for one in team.episodes.list(limit=None)]
    texts += [fact.content for fact in team.list(limit=None)]
    assert not [text for text in texts if "{" in text or "}" in text]


def test_team_is_the_same_each_time(team: Store, tmp_path: Path) -> None:
    with memstore.open(tmp_path / "again.db", embedder=None) as store:
        again = demo_team.fill(store)
        assert [one.content for one in again.list(limit=None)] == [
            one.content for one in team.list(limit=None)
        ]


@pytest.mark.model
def test_demo_web_opens_on_the_team(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(demo, "show_pages", lambda store: shown.append(store.namespace))
    answer = cli("demo", "--web")
    assert answer.code == 0
    assert "300 sessions of a made-up team" in answer.out
    assert shown == [demo_team.HARBOUR]
