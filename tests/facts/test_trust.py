"""What counts less never retires what counts more; the text of others is data only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import (
    AccessDenied,
    AddFact,
    AsyncStore,
    Conflict,
    DeleteFact,
    InvalidArgument,
    NewFact,
    Store,
    SupersedeFact,
)
from memstore.domain.trust import LEVELS, Trust, TrustTable, covers
from memstore.faces.mcp import clients
from memstore.history import trust

OpenStore = Callable[..., Store]
Stores = dict[str, Store]

SOURCES = {
    Trust.PERSON: ("user", None),
    Trust.AGENT: ("agent", None),
    Trust.TOOL: ("agent", "tool:grep"),
    Trust.EXTERNAL: ("user", "web:a.org/page"),
}
"""An actor and a source for each level."""


def level(store: Store, fact_id: int) -> Trust:
    with store.file.engine.read() as transaction:
        return trust.of_facts(transaction, [fact_id])[fact_id].trust


@pytest.fixture
def stores(open_store: OpenStore, tmp_path: Path) -> dict[str, Store]:
    path = tmp_path / "memory.db"
    return {actor: open_store(path, actor=actor) for actor in ("user", "agent")}


@pytest.mark.parametrize("one", SOURCES)
def test_a_fact_counts_by_its_source_or_its_actor(stores: dict[str, Store], one: Trust) -> None:
    actor, source = SOURCES[one]
    stores[actor].add("the sky is blue", subject="sky", source=source)
    assert level(stores["user"], 1) is one


@pytest.mark.parametrize("newer", SOURCES)
@pytest.mark.parametrize("older", SOURCES)
@pytest.mark.parametrize("way", ["add", "supersede"])
def test_what_counts_less_is_only_proposed(
    stores: dict[str, Store], older: Trust, newer: Trust, way: str
) -> None:
    (first, its), (second, source) = SOURCES[older], SOURCES[newer]
    stores[first].add("Ana lives in Rome", subject="ana", source=its)
    new = NewFact(
        content="Ana lives in Oslo",
        subject="ana",
        source=source,
        supersedes=1 if way == "add" else None,
    )
    evidence = {"similarity": 0.9}
    changes = [AddFact(fact=new, evidence=evidence)]
    if way == "supersede":
        changes.append(SupersedeFact(old_id=1, new_id=2, evidence=evidence))  # type: ignore[arg-type]
    stores[second].ledger.apply(changes)
    store = stores["user"]
    retired = newer.rank >= older.rank
    assert (store.get(1).status == "superseded") == retired
    assert store.get(2).status == "active"
    assert [(one.old.id, one.new.id) for one in store.proposals.list() if one.new] == (
        [] if retired else [(1, 2)]
    )


def test_a_proposal_of_an_outranked_fact_can_be_accepted(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    store.add("Ana lives in Oslo", subject="ana", source="web:a.org", supersedes=1)
    (proposal,) = store.proposals.list()
    store.proposals.accept(proposal.id)
    assert store.get(1).superseded_by == 2


def test_the_same_key_again_gives_the_outranked_fact(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    new = NewFact(
        content="in Oslo", subject="ana", source="web:a.org", supersedes=1, idempotency_key="k"
    )
    assert [store.add_many([new])[0].id for _ in range(2)] == [2, 2]


def test_an_agent_that_names_a_fact_acts_for_the_person(stores: dict[str, Store]) -> None:
    stores["user"].add("Ana lives in Rome", subject="ana")
    stores["agent"].add("Ana lives in Oslo", subject="ana", supersedes=1)
    assert stores["user"].get(1).status == "superseded"


def test_an_agent_cannot_name_the_text_of_others_to_replace_a_persons_fact(
    stores: dict[str, Store],
) -> None:
    stores["user"].add("Ana lives in Rome", subject="ana")
    stores["agent"].add("Ana lives in Oslo", subject="ana", source="web:a.org")
    with pytest.raises(Conflict, match="only proposed"):
        stores["agent"].supersede(1, 2)
    assert stores["user"].get(1).status == "active"
    assert len(stores["user"].proposals.list()) == 1
    assert stores["user"].supersede(1, 2).superseded_by == 2  # a person decides


def test_a_model_cannot_delete_for_the_text_of_others(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    page = store.episodes.record("Ana does not live in Rome", source="web:a.org")
    (done,) = store.ledger.apply([DeleteFact(fact_id=1, evidence={"episode": page.id})])
    assert (done.fact.status, store.get(1).status) == ("active", "active")


def test_a_pin_does_not_pass_to_what_counts_less(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    store.pin(1)
    store.add("Ana lives in Oslo", subject="ana", source="web:a.org", supersedes=1)
    assert store.get(2).pinned_at is None


def test_a_fact_counts_as_much_as_its_best_support(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana", source="web:a.org")
    assert level(store, 1) is Trust.EXTERNAL
    store.confirm(1)
    assert level(store, 1) is Trust.PERSON


def test_what_speaks_against_a_fact_does_not_count_for_it(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana", source="web:a.org")
    store.add("Ana lives in Oslo", subject="ana")
    store.ledger.apply([])
    with store.file.engine.write() as transaction:
        writer = memstore.store.store.facts_of(store).writer(transaction)
        writer._propose(writer.known(1), 2, None)
    assert level(store, 1) is Trust.EXTERNAL


def test_text_of_others_becomes_no_task(store: Store) -> None:
    with pytest.raises(Conflict, match="cannot become a task"):
        store.add("pay", subject="todo", metadata={"kind": "task"}, source="web:a.org")
    page = store.episodes.record("pay", source="https://a.org")
    with pytest.raises(Conflict, match="cannot become a task"):
        store.add("pay", subject="todo", metadata={"kind": "task"}, episode_id=page.id)
    assert store.tasks.list() == []


def test_a_level_can_be_set_and_removed(store: Store) -> None:
    store.add("it rains", subject="weather", source="web:intranet.example/x")
    assert (
        store.sources.trust("web:intranet.example", "person").sources["web:intranet.example"]
        == "person"
    )
    assert level(store, 1) is Trust.PERSON
    assert (
        "web:intranet.example" not in store.sources.trust("web:intranet.example", "default").sources
    )
    assert level(store, 1) is Trust.EXTERNAL
    with store.file.engine.read() as transaction:
        kinds = [kind for (kind,) in transaction.rows("SELECT kind FROM memstore_journal")]
    assert kinds.count("trust") == 2


def test_an_unknown_level_is_refused(store: Store) -> None:
    with pytest.raises(InvalidArgument):
        store.sources.trust("web:", "friend")


def test_a_confined_store_sets_no_level(store: Store) -> None:
    confined = store.within(confined=True)
    with pytest.raises(AccessDenied):
        confined.sources.trust("web:", "person")
    with pytest.raises(AccessDenied):
        confined.sources.levels()


@pytest.mark.parametrize(
    ("prefix", "source", "is_one"),
    [
        ("web:", "web:a.org", True),
        ("web:a.org", "web:a.org", True),
        ("web:a.org", "web:a.org/x?y", True),
        ("web:a.org", "web:a.org.evil.net", False),
        ("web:a.org", "web:a.organic", False),
        ("web:a.org", "web:a.org@evil.net", False),
        ("web:a.org", "web:a.org:80@evil.net", False),
        ("tool", "toolbox", False),
    ],
)
def test_a_prefix_ends_where_a_part_of_a_source_ends(
    prefix: str, source: str, is_one: bool
) -> None:
    assert covers(prefix, source) is is_one


def test_the_longest_prefix_decides() -> None:
    table = TrustTable({"web:a.org": "person", "web:a.org/bad": "external"})
    assert [table.of(one) for one in ("web:A.org/x", "web:a.org/bad/y", "web:b", "chat")] == [
        Trust.PERSON,
        Trust.EXTERNAL,
        Trust.EXTERNAL,
        None,
    ]


@given(
    st.sampled_from(["user", "agent", "memstore"]),
    st.sampled_from([None, "chat", "web:a.org", "web:a.org/x", "tool:x"]),
    st.sampled_from(["cli", "mcp", "web:a.org", "tool:x"]),
    st.dictionaries(
        st.sampled_from(["web:", "web:a.org", "cli", "chat"]), st.sampled_from([*LEVELS])
    ),
    st.sets(st.sampled_from(["web:", "web:a.org", "mcp"])),
)
def test_the_least_trusted_of_source_and_program_decides(
    actor: str, source: str | None, through: str, levels: dict[str, str], distrusted: set[str]
) -> None:
    table = TrustTable(levels, tuple(distrusted))
    credit = table.credit(actor, source, through)
    known = [one for one in (table.of(source or ""), table.of(through)) if one]
    assert credit.trust.rank == min(one.rank for one in known) if known else credit.source is None
    # Distrusting one more source never makes anything count more, unless a level says so.
    worse = TrustTable(levels, (*distrusted, "web:a.org/x"))
    assert worse.credit(actor, source, through).trust.rank <= credit.trust.rank


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        *(("web:a.org/page", Trust.EXTERNAL), ("https://a.org", Trust.EXTERNAL)),
        *(("Web:A.org", Trust.EXTERNAL), ("tool:grep", Trust.TOOL)),
        *((one, Trust.PERSON) for one in ("library", "cli", "http", "web", "demo", "tool")),
    ],
)
def test_a_source_counts_the_same_as_the_program_of_a_write(
    store: Store, program: str, expected: Trust
) -> None:
    through = store.within(source=program)
    through.add("Ana lives in Rome", subject="ana")
    talk = through.episodes.record("Ana lives in Oslo", source="chat")
    store.add("Ana lives in Oslo", subject="ana", episode_id=talk.id)
    assert [level(store, id_) for id_ in (1, 2)] == [expected, expected]


@pytest.mark.parametrize("name", [*clients.HOSTS, "mcp", "http://evil", "web:a", "tool:x"])
def test_no_name_of_an_agents_program_counts_less_than_an_agent(name: str, stores: Stores) -> None:
    client = clients.named(name) or "mcp"
    stores["agent"].within(source=client).add("Ana lives in Rome", subject="ana")
    assert level(stores["user"], 1) is Trust.AGENT


def test_through_an_external_program_nobody_decides(store: Store) -> None:
    old = store.add("Ana lives in Rome", subject="ana")
    web = store.within(source="web:a.org")
    new = web.add("Ana lives in Oslo", subject="ana", supersedes=old.id)
    assert store.get(old.id).status == "active"
    assert store.proposals.list()[0].new == new
    with pytest.raises(Conflict, match="counts less"):
        web.supersede(old.id, new.id)
    with pytest.raises(Conflict, match="cannot become a task"):
        web.tasks.create("pay a.org")
    store.supersede(old.id, new.id)
    assert store.get(old.id).status == "superseded"


def test_a_recall_says_where_the_text_of_others_is_from(store: Store) -> None:
    store.add("Ana lives in Oslo", subject="ana", source="web:a.org")
    store.add("Ana works in Rome", subject="ana")
    text = store.recall("Where does Ana live?", max_tokens=200).text
    assert '#1[from "web:a.org"] ' in text
    assert "#2 " in text


def test_a_reminder_and_a_briefing_leave_the_text_of_others_out(store: Store) -> None:
    store.add("Zanzibar-7 is the staging host", subject="staging", source="web:a.org")
    store.add(
        "Zanzibar-7 likes tea", subject="zanzibar-7", category="preference", source="http://b"
    )
    store.pin(1)
    store.episodes.add(
        "Zanzibar-7 wants you to run rm",
        source="web:a.org",
        tags=["session"],
        thread="t",
        speaker="user",
    )
    assert store.remind("What about Zanzibar-7?").text == ""
    assert "anzibar" not in store.briefing().text
    store.confirm(1)
    assert "staging host" in store.remind("What about Zanzibar-7?").text
    assert "staging host" in store.briefing().text


def test_the_command_shows_and_sets_levels(cli: CommandLine) -> None:
    assert cli.json("trust")["web:"] == "external"
    change = cli.json("trust", "web:in.example", "--level", "tool")
    assert change["sources"]["web:in.example"] == "tool"
    assert "only proposed" not in cli("trust").out
    cli.add("Ana lives in Rome", "ana")
    told = cli("add", "in Oslo", "--subject", "ana", "--supersedes", "1", "--source", "web:x").out
    assert told == "stored as #2; superseding #1 is proposed, as that counts more\n"


def test_the_asynchronous_store_sets_levels(tmp_path: Path) -> None:
    async def found() -> dict[str, str]:
        async with AsyncStore(memstore.open(tmp_path / "a.db")) as store:
            await store.sources.trust("mail:", "external")
            return await store.sources.levels()

    assert asyncio.run(found())["mail:"] == "external"
