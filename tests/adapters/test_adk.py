"""The memory service of ADK: under its runner, from services.yaml, and beside its own service."""

from __future__ import annotations

import asyncio
import random
import re
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import AccessDenied, InvalidArgument, Scope, Store, StoreClosed

pytest.importorskip("google.adk.memory", reason="google-adk is not installed")
from google.adk.agents import LlmAgent
from google.adk.cli import service_registry
from google.adk.events.event import Event
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools import load_memory, preload_memory
from google.genai import types
from pydantic import Field

from memstore.adapters.adk import MemstoreMemoryService

T = TypeVar("T")

APP = "app"
DOG = "My dog is called Rufus."
OWNERS = Scope(user_id="ana", agent_id=APP)
CAN_DELETE = hasattr(InMemoryMemoryService(), "_deleted_memory_ids")
"""Whether ADK's own service deletes: since 2.13."""


@pytest.fixture
def store() -> Iterator[Store]:
    with memstore.open(":memory:", embedder=None) as opened:
        yield opened


@pytest.fixture
def service(store: Store) -> MemstoreMemoryService:
    return MemstoreMemoryService(store)


def run(call: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(call)


def event(id_: str, *parts: Any, author: str = "user", timestamp: float = 1.7e9) -> Event:
    every = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    content = types.Content(role="user", parts=every)
    return Event(id=id_, author=author, timestamp=timestamp, content=content)


def session(id_: str, *events: Event, user: str = "ana") -> Session:
    return Session(id=id_, app_name=APP, user_id=user, events=[*events])


async def found(service: Any, query: str, user: str = "ana") -> list[MemoryEntry]:
    response = await service.search_memory(app_name=APP, user_id=user, query=query)
    return [*response.memories]


def texts(memories: list[MemoryEntry]) -> list[str]:
    return [memory.content.parts[0].text for memory in memories]


# -- under the runner ------------------------------------------------------------------------


class Parrot(BaseLlm):  # type: ignore[misc]
    """Asks the memory for what the user said, and repeats the answer."""

    seen: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        self.seen.append(f"{llm_request.config.system_instruction} {parts}")
        last = parts[-1]
        if last.function_response is not None:
            answer = types.Part(text=str(last.function_response.response))
        elif "load_memory" in llm_request.tools_dict and "?" in (last.text or ""):
            call = types.FunctionCall(name="load_memory", args={"query": last.text})
            answer = types.Part(function_call=call)
        else:
            answer = types.Part(text="Noted.")
        yield LlmResponse(content=types.Content(role="model", parts=[answer]))


def talk(service: MemstoreMemoryService, tool: Any) -> tuple[str, str]:
    """Return the answer to a question about an earlier session, and what the model saw last."""
    model = Parrot(model="parrot")
    agent = LlmAgent(name="agent", model=model, tools=[tool])
    sessions = InMemorySessionService()
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)

    async def say(session_id: str, text: str) -> str:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        answer = ""
        async for said in runner.run_async(
            user_id="ana", session_id=session_id, new_message=message
        ):
            answer = said.content.parts[0].text or answer
        return answer

    async def both() -> str:
        for id_ in ("s1", "s2"):
            await sessions.create_session(app_name=APP, user_id="ana", session_id=id_)
        await say("s1", DOG)
        first = await sessions.get_session(app_name=APP, user_id="ana", session_id="s1")
        await service.add_session_to_memory(first)
        return await say("s2", "What is my dog called?")

    return run(both()), model.seen[-1]


def test_an_agent_loads_what_another_session_said(service: MemstoreMemoryService) -> None:
    answer, _ = talk(service, load_memory)
    assert DOG in answer
    assert "Noted." not in answer


def test_memory_is_preloaded(service: MemstoreMemoryService) -> None:
    _, seen = talk(service, preload_memory)
    assert f"user: {DOG}" in seen


# -- whose store -----------------------------------------------------------------------------


def test_a_callers_store_stays_open_and_the_journal_names_the_framework(store: Store) -> None:
    async def use() -> None:
        async with MemstoreMemoryService(store) as service:
            await service.add_session_to_memory(session("s", event("e", DOG)))

    run(use())
    assert {act.source for act in store.of("all").ledger.log()} == {"adk"}


def test_a_path_is_opened_and_closed(tmp_path: Path) -> None:
    service = MemstoreMemoryService(tmp_path / "memory.db", namespace="team")
    run(service.add_session_to_memory(session("s", event("e", DOG))))
    run(service.close())
    with pytest.raises(StoreClosed):
        run(found(service, "dog"))
    with memstore.open(tmp_path / "memory.db", namespace="team") as store:
        assert store.of("all").episodes.count() == 1


def test_a_confined_store_stays_confined(store: Store) -> None:
    confined = store.within("team", confined=True)
    with pytest.raises(AccessDenied):
        MemstoreMemoryService(confined, namespace="other")
    run(MemstoreMemoryService(confined).add_session_to_memory(session("s", event("e", DOG))))
    assert store.of("all").episodes.count() == 0
    assert confined.of("all").episodes.count() == 1


# -- from a URI ------------------------------------------------------------------------------


def test_services_yaml_makes_it_from_a_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(service_registry, "_service_registry_instance", None)
    (tmp_path / "services.yaml").write_text(
        "services:\n"
        "  - scheme: memstore\n"
        "    type: memory\n"
        "    class: memstore.adapters.adk.MemstoreMemoryService\n"
    )
    service_registry.load_services_module(str(tmp_path))
    registry = service_registry.get_service_registry()
    path = tmp_path / "a b.db"
    uri = f"memstore:///{path.as_posix().replace(' ', '%20')}?namespace=team"
    service = registry.create_memory_service(uri, agents_dir=str(tmp_path))
    assert isinstance(service, MemstoreMemoryService)
    run(service.add_session_to_memory(session("s", event("e", DOG))))
    run(service.close())
    with memstore.open(path, namespace="team") as store:
        assert store.of(OWNERS).episodes.count() == 1


def test_a_uri_with_three_slashes_is_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(MemstoreMemoryService(uri="memstore:///memory.db").close())
    assert (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("uri", ["memstore://memory.db", "memstore://", "memstore:///m?a=1"])
def test_another_uri_is_refused(uri: str) -> None:
    with pytest.raises(InvalidArgument, match="must be memstore:///PATH"):
        MemstoreMemoryService(uri=uri)


def test_a_server_is_named_by_its_own_url() -> None:
    from memstore.adapters import adk

    assert adk._located("memstore+postgresql://u:p%40@h:1/d?namespace=team&sslmode=require") == (
        "postgresql://u:p%40@h:1/d?sslmode=require",
        "team",
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"store": ":memory:", "uri": "memstore:///m"},
        {"uri": "memstore:///m", "namespace": "team"},
        {"store": ":memory:", "limit": 0},
        {"store": ":memory:", "min_relevance": 2},
    ],
)
def test_other_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        MemstoreMemoryService(**options)


# -- what comes back -------------------------------------------------------------------------


def test_an_event_comes_back_as_it_was(service: MemstoreMemoryService) -> None:
    parts = [
        "the weather\0 in Lisbon",
        types.Part(text="rain", thought=True, thought_signature=b"\xff\xfe\x00"),
        types.Part(inline_data=types.Blob(mime_type="image/png", data=bytes(range(256)) * 400)),
        types.Part(function_call=types.FunctionCall(name="f", args={"a": [1, 1.5, None, "ü"]})),
    ]
    given = event("e", *parts, author="agent", timestamp=1.7e9 + 0.25)
    run(service.add_session_to_memory(session("s", given)))
    [memory] = run(found(service, "weather"))
    assert memory.content == given.content
    assert (memory.id, memory.author) == ("e", "agent")
    assert memory.timestamp == "2023-11-14T22:13:20.250000Z"


def test_metadata_of_deltas_and_memories_comes_back(service: MemstoreMemoryService) -> None:
    entry = MemoryEntry(
        content=types.Content(parts=[types.Part(text="Ana likes tea.")]),
        custom_metadata={"k": [1]},
        timestamp="last summer",
    )

    async def both() -> list[MemoryEntry]:
        who = {"app_name": APP, "user_id": "ana"}
        await service.add_events_to_memory(
            **who, events=[event("e", DOG)], session_id="s", custom_metadata={"turn": 3}
        )
        await service.add_memory(**who, memories=[entry], custom_metadata={"k": 2, "by": "ana"})
        return [*await found(service, "dog"), *await found(service, "tea")]

    dog, tea = run(both())
    assert dog.custom_metadata == {"turn": 3}
    assert tea.custom_metadata == {"k": [1], "by": "ana"}
    assert tea.timestamp == "last summer"
    assert tea.content == entry.content


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (event("x", "half \ud800"), r'events\[1\]\.content\["parts"\]\[0\]\["text"\]'),
        (event("x", "y", timestamp=float("inf")), r"events\[1\]\.timestamp"),
        (event("x", "y", timestamp=1e18), r"events\[1\]\.timestamp"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_anything_is_written(
    store: Store, service: MemstoreMemoryService, bad: Event, place: str
) -> None:
    with pytest.raises(InvalidArgument, match=place):
        run(service.add_session_to_memory(session("s", event("e", DOG), bad)))
    assert store.of("all").ledger.log() == []


def test_metadata_that_is_not_json_is_refused(service: MemstoreMemoryService) -> None:
    adding = service.add_events_to_memory(
        app_name=APP, user_id="ana", events=[event("e", DOG)], custom_metadata={"k": {1}}
    )
    with pytest.raises(TypeError, match=r'events\[0\]\.custom\["k"\].*is a set'):
        run(adding)


def test_deleting_nothing_is_nothing(store: Store, service: MemstoreMemoryService) -> None:
    run(service.delete_memory(app_name=APP, user_id="ana"))
    run(service.delete_memory(app_name=APP, user_id="ana", memory_id=""))
    assert store.of("all").ledger.log() == []


def test_a_cancelled_write_ends_first(
    store: Store, service: MemstoreMemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on = threading.Event(), threading.Event()
    add_many = type(store.episodes).add_many

    def slow(self: Any, new: Any) -> Any:
        begun.set()
        may_go_on.wait()
        return add_many(self, new)

    monkeypatch.setattr(type(store.episodes), "add_many", slow)

    async def cancel() -> int:
        adding = asyncio.create_task(service.add_session_to_memory(session("s", event("e", DOG))))
        await asyncio.to_thread(begun.wait)
        adding.cancel()
        await asyncio.sleep(0)
        may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return store.of("all").episodes.count()

    assert run(cancel()) == 1


# -- beside ADK's own service ----------------------------------------------------------------

OPERATIONS = 20
"""Of one history."""

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord")


OWN_WORDS = (
    "kitchen violin glacier pepper tractor novel harbour tennis volcano cheese satellite wedding "
    "desert pirate magnet orchard dentist canyon lottery saxophone blizzard passport pyramid "
    "submarine cactus gymnast elevator mustard telescope wolf ribbon cathedral marathon battery "
    "penguin carpet thunder recipe bicycle trumpet vaccine lantern hockey emerald bakery comet "
    "tunnel parrot saddle museum faucet whale ladder walnut ferry guitar mosquito anchor poem oven"
).split()


def own_word(id_: str) -> str:
    """Return a word that only one event has."""
    return OWN_WORDS[int(id_[1:])]


class Beside:
    """One random history in both services.

    What differs on purpose is left out; the page of the adapter has it.
    """

    def __init__(self, seed: int, service: MemstoreMemoryService) -> None:
        self.random = random.Random(seed)
        self.ours, self.theirs = service, InMemoryMemoryService()
        self.numbers = count()
        self.events: dict[str, list[Event]] = {}
        self.ids: list[str] = []

    def new_event(self) -> Event:
        number = next(self.numbers)
        id_ = f"e{number}"
        if self.random.random() < 0.1:
            return event(id_, types.Part(function_call=types.FunctionCall(name="f")))
        self.ids.append(id_)
        words = self.random.sample(WORDS, 2)
        return event(id_, f"{' '.join(words)} {own_word(id_)}", author=self.random.choice("ab"))

    async def each(self, call: str, *args: Any, **options: Any) -> None:
        await getattr(self.ours, call)(*args, **options)
        await getattr(self.theirs, call)(*args, **options)

    async def step(self) -> None:
        user = self.random.choice(["ana", "bob"])
        who = {"app_name": APP, "user_id": user}
        id_ = self.random.choice(["s1", "s2"])
        events = self.events.setdefault(f"{user} {id_}", [])
        match self.random.choices(["grow", "rewind", "again", "delta", "delete", "find"], k=1)[0]:
            case "grow":
                events += [self.new_event() for _ in range(self.random.randint(1, 3))]
                await self.each("add_session_to_memory", session(id_, *events, user=user))
            case "rewind":
                del events[self.random.randint(0, len(events)) :]
                await self.each("add_session_to_memory", session(id_, *events, user=user))
            case "again":
                await self.each("add_session_to_memory", session(id_, *events, user=user))
            case "delta":
                new = [self.new_event(), *self.random.sample(events, min(1, len(events)))]
                events += new[:1]
                to = self.random.choice([id_, None])
                await self.each("add_events_to_memory", **who, events=new, session_id=to)
            case "delete" if CAN_DELETE:
                shown = await found(self.theirs, " ".join(WORDS), user)
                if shown:
                    gone = self.random.choice(shown).id
                    await self.each("delete_memory", **who, memory_id=gone)
            case _:
                await self.compare(user)

    async def compare(self, user: str) -> None:
        """Both find one event by its own word, and none that is gone or another user's."""
        if not self.ids:
            return
        for id_ in self.random.sample(self.ids, min(3, len(self.ids))):
            query = own_word(id_)
            ours, theirs = [await found(one, query, user) for one in (self.ours, self.theirs)]
            assert [memory.content for memory in ours] == [memory.content for memory in theirs[:1]]
            assert [memory.author for memory in ours] == [memory.author for memory in theirs[:1]]
        word = self.random.choice(WORDS)
        ours, theirs = [await found(one, word, user) for one in (self.ours, self.theirs)]
        assert all(word in text for text in texts(ours))
        assert bool(ours) == bool(theirs)
        if len(theirs) < 10:
            assert {*texts(ours)} == {*texts(theirs)}


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**32))
def test_random_histories_are_as_in_adks_own_service(seed: int) -> None:
    async def history() -> None:
        with memstore.open(":memory:", embedder=None) as store:
            await compared(Beside(seed, MemstoreMemoryService(store)))

    async def compared(beside: Beside) -> None:
        for _ in range(OPERATIONS):
            await beside.step()
        for user in ("ana", "bob"):
            await beside.compare(user)

    run(history())


# -- its page --------------------------------------------------------------------------------


def test_the_sample_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(__file__).parents[2] / "docs" / "adapters" / "adk.md"
    [sample] = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(sample, str(page), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "My dog is called Rufus.\n"
