"""Questions about times: conditions, orders by time, and days relative to today."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.examples import examples

import memstore
from memstore import NewEpisode, Store
from memstore.domain import clock
from memstore.search import events
from memstore.search.corpus import DatedText, EpisodeCorpus
from memstore.search.lookups import dates
from memstore.text import relative_days, times

TODAY = date(2026, 6, 10)
NOW = datetime(2026, 6, 10, 9, tzinfo=UTC)

QUEUES = (
    ("2026-02-10", "We put the jobs into RabbitMQ."),
    ("2026-04-20", "The jobs went over to NATS."),
    ("2026-05-29", "The jobs are rows in Postgres now."),
)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("Where did the jobs run before April?", None, "2026-03-31"),
        ("Prior to 3 May 2026, where did they run?", None, "2026-05-02"),
        ("Where did they run until the end of May?", None, "2026-05-31"),
        ("Where did they run until May?", None, "2026-04-30"),
        ("Where do they run since May?", "2026-05-01", None),
        ("From March on, where did they run?", "2026-03-01", None),
        ("Where did they run after April?", "2026-05-01", None),
        ("Where did they run between April and June?", None, "2026-05-31"),
        ("Where did they run from March to May?", None, "2026-04-30"),
        ("Where did they run from March through May?", None, "2026-05-31"),
        ("At the beginning of May, where did they run?", None, "2026-05-11"),
        ("Where did they run back in March?", None, "2026-03-31"),
        ("Early in May, where did they run?", None, "2026-05-11"),
        ("When May began, where did they run?", None, "2026-05-11"),
        ("In the first week of May, where did they run?", None, "2026-05-11"),
        ("How did the jobs stand when April ended?", None, "2026-04-30"),
        ("Throughout April, where did they run?", None, "2026-04-30"),
        ("Once March was over, where did they run?", "2026-04-01", None),
        ("Until May began, where did they run?", None, "2026-04-30"),
        ("When April came round, where did they run?", None, "2026-03-31"),
        ("In the weeks before May, where did they run?", None, "2026-04-30"),
        ("When April had passed, where did they run?", "2026-05-01", None),
        ("On the first of May, where did they run?", None, "2026-05-11"),
        ("When April was nearly over, where did they run?", None, "2026-04-30"),
        ("How did they run in the month of April?", None, "2026-04-30"),
        ("Around April, where did they run?", None, "2026-04-30"),
        ("Take me back to April: where did they run?", None, "2026-04-30"),
        ("Wo liefen sie am ersten Tag des Mai?", None, "2026-05-11"),
        ("Where did they run until the 3rd of May 2026?", None, "2026-05-02"),
        ("Who rotated the key before this year?", None, "2025-12-31"),
        ("Worüber liefen die Aufträge vor April?", None, "2026-03-31"),
        ("Worüber liefen die Aufträge bis Ende Mai?", None, "2026-05-31"),
        ("Par quoi passaient les tâches jusqu'à fin mai ?", None, "2026-05-31"),
        ("¿Dónde están las tareas desde junio?", "2026-06-01", None),
        ("Per dove passavano i lavori prima di aprile?", None, "2026-03-31"),
        ("Por onde passavam as tarefas entre maio e junho?", None, "2026-05-31"),
        ("Waarlangs liepen de taken voor april?", None, "2026-03-31"),
        ("Przez co szły zadania przed kwietniem?", None, "2026-03-31"),
        ("Через что шли задачи до апреля?", None, "2026-03-31"),
        ("4月より前、ジョブは何で動いていましたか？", None, "2026-03-31"),
        ("四月之前任务队列用什么？", None, "2026-03-31"),
        ("4월 전에는 작업을 무엇으로 돌렸나요?", None, "2026-03-31"),
        ("Nisandan önce işler ne üzerinden gidiyordu?", None, "2026-03-31"),
        ("أين كانت المهام قبل أبريل؟", None, "2026-03-31"),
        ("मई से पहले काम किससे चलते थे?", None, "2026-04-30"),
    ],
)
def test_an_operator_makes_a_date_a_condition(
    query: str, first: str | None, last: str | None
) -> None:
    asked = times.read(query, TODAY)
    assert asked is not None
    assert (asked.first, asked.last) == tuple(
        day and date.fromisoformat(day) for day in (first, last)
    )


@pytest.mark.parametrize(
    "query",
    [
        "What was it like in the week before 3 August?",
        "Who was there two days before 3 August?",
        "before deploying run the tests",
        "What is her last name?",
        "Who got the first draft?",
        "What will May do at the reception?",
        "Use tabs instead of spaces.",
        "Who replaces the batteries?",
        "What do we use for chat instead of Slack?",
        "What should I use instead of npm?",
        "Why did we choose NATS instead of Redis?",
        "Why did NATS replace RabbitMQ?",
        "When did NATS replace RabbitMQ?",
        "Should Valkey replace Redis?",
        "Did the migration to Postgres succeed?",
        "Which migration to Postgres succeeded?",
        "Can you replace Redis with Valkey in cart.ts?",
        "How do I use sed to replace FOO?",
        "Who succeeded in the Kubernetes exam?",
        "What does the followed tag mean?",
        "What did Marta replace Redis with?",
        "Which tests were replaced?",
        "Wer kommt nach Hause?",
        "Wer kam nach Berlin?",
        "Warum nehmen wir NATS statt Redis?",
        "Warum ersetzt NATS RabbitMQ?",
        "Pourquoi NATS au lieu de Redis ?",
        "¿Por qué usamos NATS en lugar de Redis?",
        "¿Por qué reemplazó a Redis?",
        "What did Marta replace in the kitchen?",
        "Which regex replaces foo in Makefile?",
        "What did you displace yesterday?",
        "Whose idea was it to take orders until 14:30?",
        "What did we finish yesterday?",
        "What did we finish last week?",
        "Can you tell me why Valkey replaced Redis?",
        "When Emma was gone, who fed the cat?",
        "What speaks in favour of Redis?",
        "How long do we wait until Redis is up?",
        "What is the plan until Friday?",
        "Was lief bis Mitternacht?",
        "What did Anna do while John was in Paris?",
        "What was it like when Emma came to visit?",
        "What do we do when Stripe is down?",
        "When was Redis chosen?",
        "March the team through the checklist",
        "Where was John between August 11 and August 15 2023?",
        "What did she paint in July 2023?",
        "What did Maria start doing in December 2023?",
        "Wie war die Woche vor dem 3. August?",
        "Wie kommt man das letzte Stück des Weges hin?",
        "Was war vor zwei Wochen mit der Heizung?",
        "¿Qué trajo Luis antes de ayer?",
        "before April " * 30,
    ],
)
def test_what_only_looks_like_an_operator_is_no_condition(query: str) -> None:
    asked = times.read(query, TODAY)
    assert asked is None or not (asked.first or asked.last or asked.order or asked.event)


@pytest.mark.parametrize(
    ("query", "event", "asked"),
    [
        ("What was the car just before Dr. Yilmaz?", "Dr. Yilmaz", "What was the car"),
        ("Before Mrs. Okafor, who signed?", "Mrs. Okafor", "who signed"),
        ("What was the vet before 1,400 euros?", "1,400 euros", "What was the vet"),
        ("Was war die Queue kurz vor NATS?", "NATS", "Was war die Queue"),
        ("¿Qué banco teníamos justo antes de Qonto?", "Qonto", "Qué banco teníamos"),
        ("What came before NATS?", "NATS", ""),
        ("NATS took the place of what?", "NATS", ""),
        ("What did we have before it was NATS?", "it was NATS", ""),
        ("Что было до NATS?", "NATS", ""),
        ("What was the queue before 3 May 2026?", "", "What was the queue"),
        ("What was the latest queue?", "", "What was the queue"),
        ("What replaced NATS?", "NATS", ""),
        ("Can you tell me what replaced NATS?", "NATS", ""),
        ("NATS superseded which queue?", "NATS", "which queue"),
        ("Which queue was dropped in favour of NATS?", "NATS", "Which queue was"),
        ("What did NATS give way to?", "NATS", ""),
        ("What did we switch to from NATS?", "NATS", ""),
        ("When NATS was gone, what did we take?", "NATS", ""),
        ("What was in place until NATS came?", "NATS", ""),
        (
            "¿Cuánto era el billete de tren hasta Madrid?",
            "",
            "Cuánto era el billete de tren hasta Madrid",
        ),
        ("Was the shop open until 8 PM?", "", "Was the shop open until 8 PM"),
        ("¿Qué usábamos hasta que llegó NATS?", "llegó NATS", ""),
        ("What was NATS replaced by?", "NATS", ""),
        ("Which queue did NATS replace?", "NATS", "Which queue did"),
        ("Which DB replaced Redis?", "Redis", "Which DB"),
        ("Was hat NATS ersetzt?", "NATS", ""),
        ("Was kam nach NATS?", "NATS", ""),
        ("Qu'est-ce qui a remplacé NATS ?", "NATS", "Qu est ce qui"),
        ("Какой был логин, когда мы выбрали NATS?", "NATS", "Какой был логин"),
        ("What did the lemonade stand sell before April?", "", "What did the lemonade stand sell"),
        ("Which queue came after NATS?", "NATS", "Which queue"),
        ("What was the login when we settled on NATS?", "NATS", "What was the login"),
        ("What was the login when we decided on magic links?", "magic links", "What was the login"),
        ("Was war das Login, als wir uns für NATS entschieden?", "NATS", "Was war das Login"),
        ("Quel était le login quand nous avons choisi NATS ?", "NATS", "Quel était le login"),
    ],
)
def test_what_is_asked_is_told_apart_from_its_time(query: str, event: str, asked: str) -> None:
    found = times.read(query, TODAY)
    assert (found and found.event) or event == ""
    if found:
        assert found.event == event
        assert " ".join(re.findall(r"\w+", found.rest)) == asked


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did we do last week?", "2026-06-01", "2026-06-07"),
        ("What did we do this week?", "2026-06-08", "2026-06-14"),
        ("What did we do this month?", "2026-06-01", "2026-06-30"),
        ("What did we do last month?", "2026-05-01", "2026-05-31"),
        ("What did we do last Monday?", "2026-06-08", "2026-06-08"),
        ("What was there a week ago?", "2026-06-01", "2026-06-05"),
        ("What was there two months ago?", "2026-04-04", "2026-04-18"),
        ("Was habe ich letzte Woche gemacht?", "2026-06-01", "2026-06-07"),
        ("Qu'ai-je fait la semaine dernière ?", "2026-06-01", "2026-06-07"),
        ("Что я делала четыре дня назад?", "2026-06-06", "2026-06-06"),
        ("Co robiłam w zeszły poniedziałek?", "2026-06-08", "2026-06-08"),
        ("Dört gün önce nereye gittik?", "2026-06-06", "2026-06-06"),
        ("四天前我去了哪里？", "2026-06-06", "2026-06-06"),
        ("昨日、何をしましたか？", "2026-06-09", "2026-06-09"),
        ("สี่วันก่อนไปไหน", "2026-06-06", "2026-06-06"),
    ],
)
def test_days_relative_to_today_are_days(query: str, first: str, last: str) -> None:
    _, days = relative_days.past(query, TODAY)
    assert days == [(date.fromisoformat(first), date.fromisoformat(last))]


WORDS = st.sampled_from(
    "Ana tea Berlin works harbour who where does the green rain Postgres".split()
)


@given(query=st.lists(WORDS, min_size=1, max_size=12).map(" ".join))
@settings(max_examples=examples(100))
def test_a_question_without_an_operator_has_no_condition(query: str) -> None:
    assert times.read(query, TODAY) is None
    assert dates.topic(query, NOW.date()) == query
    assert dates.read(query, NOW).calendar.days == []


@pytest.fixture
def jobs(open_store: Callable[..., Store]) -> Store:
    store = open_store(embedder=memstore.LocalEmbedder())
    said = [
        *QUEUES,
        ("2026-04-02", "Run the tests of the jobs again."),
        ("2026-03-15", "Rename the column job_id."),
    ]
    turns = [NewEpisode(content=text, source="chat", thread=at, valid_at=at) for at, text in said]
    store.episodes.add_many(turns)
    for at, text in said:
        store.add(text, subject="user", valid_at=at)
    store.file.embed_pending()
    return store


@pytest.fixture(autouse=True)
def today() -> Iterator[ManualClock]:
    manual = ManualClock(NOW)
    with clock.use(manual):
        yield manual


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What was the job queue before April?", QUEUES[0]),
        ("Where were the jobs at the end of April?", QUEUES[1]),
        ("Where are the jobs since the end of May?", QUEUES[2]),
        ("Into what did we put the jobs before NATS?", QUEUES[0]),
    ],
)
def test_the_statement_of_the_time_asked_for_comes_first(
    jobs: Store, query: str, expected: tuple[str, str]
) -> None:
    assert jobs.episodes.search(query)[0].episode.content == expected[1]
    assert jobs.search(query)[0].fact.content == expected[1]


def test_rows_are_compared_with_what_is_asked_without_its_time(jobs: Store) -> None:
    for time_ in ("before April", "until the end of May 2026", "before NATS"):
        hits = jobs.search(f"What did we put the jobs into {time_}?", min_relevance=0.0)
        plain = jobs.search("What did we put the jobs into?", min_relevance=0.0)
        scores = {hit.fact.id: hit.parts.words for hit in plain}
        assert {hit.fact.id: hit.parts.words for hit in hits} == pytest.approx(scores), time_


def test_the_row_that_tells_of_an_event_comes_after_the_best_row_before_it(jobs: Store) -> None:
    hits = jobs.search("What were the jobs put into before NATS?", min_relevance=0.0)
    texts = [hit.fact.content for hit in hits]
    assert texts[0] == QUEUES[0][1]
    assert texts.index(QUEUES[1][1]) < texts.index(QUEUES[2][1])


def test_what_is_said_of_something_else_hides_no_order_by_time(jobs: Store) -> None:
    for at in ("2026-03-01", "2026-05-01", "2026-04-01"):
        jobs.add(f"src/cart.ts was part of the work of {at}", subject="log", valid_at=at)
    jobs.add("Show below the page who changed it last.", subject="log", valid_at="2026-02-01")
    hits = jobs.search("When was src/cart.ts changed last?", min_relevance=0.0)
    assert hits[0].fact.content.endswith("2026-05-01")


ROOMS = (
    ("2026-01-10", "The login is by password."),
    ("2026-03-01", "The login is by magic links."),
    ("2026-05-01", "The login is by passkeys."),
)


@pytest.mark.parametrize("kind", ["facts", "turns"])
@pytest.mark.parametrize(
    "query", ["What was the login when we chose NATS?", "At the time of NATS, what was the login?"]
)
def test_what_was_so_at_an_event_is_told_in_rows_of_either_kind(
    jobs: Store, query: str, kind: str
) -> None:
    """NATS, of April, is told of in turns and in facts; the login in one of them."""
    for at, text in ROOMS:
        if kind == "facts":
            jobs.add(text, subject="user", valid_at=at)
        else:
            jobs.episodes.add(text, source="chat", thread=at, valid_at=at)
    jobs.file.embed_pending()
    if kind == "facts":
        first = jobs.search(query)[0].fact.content
    else:
        first = jobs.episodes.search(query)[0].episode.content
    assert first == ROOMS[1][1]


@pytest.mark.parametrize("kind", ["facts", "turns"])
def test_an_event_that_only_rows_of_the_other_kind_tell_of_is_known(
    open_store: Callable[..., Store], kind: str
) -> None:
    store = open_store(embedder=memstore.LocalEmbedder())
    for at, text in ROOMS:
        store.add(text, subject="user", valid_at=at)
        store.episodes.add(text, source="chat", thread=at, valid_at=at)
    for namespace in ("default", "other"):
        at = "2026-04-01" if namespace == "default" else "2026-01-15"
        if kind == "facts":
            store.within(namespace).add("The books go to Qonto.", subject="user", valid_at=at)
        else:
            store.within(namespace).episodes.add("The books go to Qonto.", source="x", valid_at=at)
    store.file.embed_pending()
    query = "What was the login just before Qonto?"
    assert store.search(query)[0].fact.content == ROOMS[1][1]
    assert store.episodes.search(query)[0].episode.content == ROOMS[1][1]


@pytest.mark.parametrize(
    "query",
    [
        "What replaced NATS?",
        "Which jobs came after NATS?",
        "Can you tell me what replaced NATS?",
        "What did NATS give way to?",
    ],
)
def test_what_replaced_something_is_told_after_it(jobs: Store, query: str) -> None:
    texts = [hit.fact.content for hit in jobs.search(query, min_relevance=0.0)]
    assert texts[0] == QUEUES[2][1]
    before = [hit for hit in jobs.search(query, min_relevance=0.0) if hit.parts.date < -0.3]
    assert QUEUES[0][1] in [hit.fact.content for hit in before]


def test_what_is_used_instead_of_something_may_be_older(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=memstore.LocalEmbedder())
    used = "For chat we use Mattermost."
    for at, text in (
        ("2026-01-10", used),
        ("2026-03-01", "Slack is not allowed, it costs too much."),
        ("2026-04-01", "For lunch we use the canteen."),
    ):
        store.add(text, subject="user", valid_at=at)
    store.file.embed_pending()
    hits = store.search("What do we use for chat instead of Slack?")
    assert hits[0].fact.content == used
    assert {hit.parts.date for hit in hits} == {0.0}


def test_a_filter_that_leaves_nothing_of_the_time_asked_for_is_no_error(jobs: Store) -> None:
    query = "What did the jobs run on before April?"
    hits = jobs.search(query, valid_after="2026-05-01", min_relevance=0.0)
    assert [hit.fact.content for hit in hits] == [QUEUES[2][1]]
    assert jobs.episodes.search(query, valid_after="2026-05-01", min_relevance=0.0)


def test_a_row_that_has_the_words_for_a_time_is_about_them(jobs: Store) -> None:
    told = "Before deploying the jobs, the tests run."
    for at in ("2026-06-02", "2026-01-05"):
        jobs.episodes.add("Deploying takes an hour.", source="chat", thread=at, valid_at=at)
    jobs.episodes.add(told, source="chat", thread="told", valid_at="2026-06-01")
    jobs.file.embed_pending()
    hits = jobs.episodes.search("What runs before deploying?", min_relevance=0.0)
    assert hits[0].episode.content == told
    assert all(hit.parts.date == 0 for hit in hits)


def test_a_row_outside_of_the_time_loses_and_its_date_says_so(jobs: Store) -> None:
    query = "What did the jobs run on before April?"
    hits = jobs.search(query, min_relevance=0.0)
    outside = {hit.fact.content for hit in hits if hit.parts.date < 0}
    assert outside == {text for at, text in QUEUES if at > "2026-04"} | {
        "Run the tests of the jobs again."
    }
    nats = next(hit.fact.id for hit in hits if "NATS" in hit.fact.content)
    assert "not of the time that is asked for" in jobs.why_not(query, nats, limit=1).text


def test_the_classic_ranking_reads_no_conditions(jobs: Store) -> None:
    hits = jobs.search("What did the jobs run on before April?", ranking="classic")
    assert {hit.parts.date for hit in hits} == {0.0}


def test_the_latest_and_the_first_of_what_matches_come_first(
    open_store: Callable[..., Store],
) -> None:
    store = open_store(embedder=memstore.LocalEmbedder())
    for month in (3, 1, 5, 2):
        store.episodes.add(
            f"src/cart.ts: change {month}",
            source="chat",
            thread=str(month),
            valid_at=f"2026-0{month}-02",
        )
    store.file.embed_pending()
    last = store.episodes.search("When did we last touch src/cart.ts?")
    assert last[0].episode.content == "src/cart.ts: change 5"
    first = store.episodes.search("When was src/cart.ts initially touched?")
    assert first[0].episode.content == "src/cart.ts: change 1"


def test_a_day_is_one_of_the_users_clock(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=memstore.LocalEmbedder(), timezone="America/New_York")
    for at, text in (
        ("2026-06-09T03:30:00Z", "Owen brought the paint."),  # the evening of the 8th there
        ("2026-06-09T16:00:00Z", "Owen painted the shed."),
    ):
        store.episodes.add(text, source="chat", thread=text, valid_at=at)
    store.file.embed_pending()
    for query, expected in (
        ("What was it with Owen yesterday?", "Owen painted the shed."),
        ("What was it with Owen two days ago?", "Owen brought the paint."),
        ("What was it with Owen last Monday?", "Owen brought the paint."),
    ):
        assert store.episodes.search(query)[0].episode.content == expected


def test_of_a_day_what_says_most_comes_first_and_a_question_last(
    open_store: Callable[..., Store],
) -> None:
    store = open_store(embedder=memstore.LocalEmbedder())
    done = "The empty list shows a drawing and a sentence."
    asked = "I cannot tell from the code what we did. Shall I search the history?"
    for text in (asked, "Done.", done, "Restarted it."):
        store.episodes.add(text, source="chat", thread=text, valid_at="2026-06-09T10:00:00Z")
    store.file.embed_pending()
    parts = {
        hit.episode.content: hit.parts.date
        for hit in store.episodes.search("What did we do yesterday?", min_relevance=0.0)
    }
    assert parts[done] > parts["Restarted it."] > parts["Done."] > parts[asked] > 0


LISTENERS = (
    ("2026-01-10", "Listeners get AAC at 128."),
    ("2026-01-20", "Invoices are payable in 14 days."),
    ("2026-02-14", "The drivers are paid by the hour."),
    ("2026-03-02", "Opus sounds better at 64, that is what listeners get."),
    ("2026-03-20", "The van has winter tyres."),
    ("2026-04-02", "Again Opus, for all listeners."),
)


@pytest.fixture
def radio(open_store: Callable[..., Store]) -> Store:
    store = open_store(embedder=memstore.LocalEmbedder())
    turns = [
        NewEpisode(content=text, source="chat", thread=at, valid_at=at) for at, text in LISTENERS
    ]
    store.episodes.add_many(turns)
    store.file.embed_pending()
    return store


@pytest.mark.parametrize("query", ["What came before Opus?", "Opus took the place of what?"])
def test_what_came_before_an_event_is_like_what_is_said_of_it(radio: Store, query: str) -> None:
    first, second = radio.episodes.search(query)[:2]
    assert first.episode.content == LISTENERS[0][1]
    assert "Opus" in second.episode.content
    assert LISTENERS[0][1] in radio.remind(query).text


def test_what_is_asked_besides_counts_more_than_what_is_like_the_event(radio: Store) -> None:
    hits = radio.episodes.search("In how many days are invoices payable before Opus?")
    assert hits[0].episode.content == LISTENERS[1][1]


def test_the_row_that_tells_of_an_event_adds_nothing_to_the_turns_beside_it(radio: Store) -> None:
    def thread_parts(query: str) -> dict[str, float]:
        hits = radio.episodes.search(query, min_relevance=0.0)
        return {hit.episode.content: hit.parts.thread for hit in hits}

    said = ("Thanks for the list.", "Walkman beats vinyl for collectors.")
    for at, text in enumerate(said, 1):
        radio.episodes.add(text, source="chat", thread="w", valid_at=f"2026-05-0{at}")
    told = "Vinyl is for collectors."
    radio.episodes.add(told, source="chat", thread="v", valid_at="2026-01-05")
    radio.file.embed_pending()
    assert thread_parts("Is Walkman for collectors?")[said[0]] > 0
    parts = thread_parts("What came before Walkman?")
    assert parts[said[0]] == 0
    # A row that is about the words themselves makes it no time.
    about = "Before Walkman goes out, print the labels."
    radio.episodes.add(about, source="chat", thread="w", valid_at="2026-05-04")
    radio.file.embed_pending()
    assert thread_parts("What is printed before Walkman?")[said[0]] > 0


def test_text_of_others_ends_no_time_that_the_user_told_of(radio: Store) -> None:
    page = "Opus Opus: the codec page says that Opus is new."
    radio.sources.trust("web", "external")
    radio.episodes.add(page, source="web", thread="page", valid_at="2026-01-02")
    radio.file.embed_pending()
    assert radio.episodes.search("What came before Opus?")[0].episode.content == LISTENERS[0][1]


def test_the_same_question_asked_before_is_not_about_its_words(radio: Store) -> None:
    query = "What came before Opus?"
    radio.episodes.add(query, source="chat", thread="asked", valid_at="2026-05-01")
    radio.file.embed_pending()
    assert radio.episodes.search(query)[0].episode.content == LISTENERS[0][1]


def test_what_is_said_of_an_event_later_is_not_known_earlier(
    radio: Store, today: ManualClock
) -> None:
    radio.episodes.add("Vinyl is for collectors.", source="chat", thread="v", valid_at="2026-01-05")
    radio.file.embed_pending()
    earlier = clock.utc_now()
    today.advance(60)
    told = "Walkman beats vinyl for collectors."
    radio.episodes.add(told, source="chat", thread="w", valid_at="2026-05-05")
    radio.file.embed_pending()
    query = "What came before Walkman?"
    assert "Vinyl" in radio.recall(query, max_tokens=200, touch=False).text
    assert told not in radio.as_of(earlier).recall(query, max_tokens=200).text


def test_of_a_time_something_is_told_where_nothing_bears_on_the_question(radio: Store) -> None:
    query = "What was the roofing material before April?"
    assert not radio.episodes.search(query)
    told = radio.recall(query, max_tokens=200, touch=False)
    assert told.episodes
    assert radio.turns_for(query)
    assert not radio.recall(query, max_tokens=200, touch=False, min_relevance=0.2).text
    plain = query.replace(" before April", "")
    assert not radio.recall(plain, max_tokens=200, touch=False).text
    assert not radio.turns_for(plain)
    assert not radio.remind(query).text


@pytest.mark.parametrize(
    "query",
    [
        "What is the latest roofing material?",
        "What was the roofing material before April 2019?",
        "Which roofing material did we have before Zorblax?",
    ],
)
def test_what_is_not_known_to_be_of_the_time_is_not_told(radio: Store, query: str) -> None:
    radio.add("Priya likes oolong.", subject="priya", valid_at="2026-05-01")
    radio.file.embed_pending()
    assert not radio.recall(query, max_tokens=200, touch=False).text
    assert not radio.turns_for(query)


def test_only_what_is_of_the_time_is_told_where_nothing_is_relevant(radio: Store) -> None:
    late = radio.add("Priya likes oolong.", subject="priya", valid_at="2026-05-01")
    radio.add("Priya has a bicycle.", subject="priya", valid_at="2026-01-05")
    radio.file.embed_pending()
    query = "What was the roofing material before April?"
    told = radio.recall(query, max_tokens=400, touch=False).text
    assert "bicycle" in told
    assert "oolong" not in told
    assert "Again Opus" not in told
    why = radio.why_not(query, late.id, max_tokens=400)
    assert why.stage == "relevance"
    assert "of the time" in why.text


def test_what_came_before_an_event_is_the_same_of_an_earlier_day(
    radio: Store, today: ManualClock
) -> None:
    for at, text in (*LISTENERS, ("2026-01-08", "Some listeners get stickers.")):
        radio.add(text, subject="radio", valid_at=at)
    for number in range(20):
        radio.add(f"Bridge {number} is made of iron.", subject="bridges", valid_at="2026-01-05")
    radio.file.embed_pending()
    then = clock.utc_now()
    today.advance(2 * 86_400)
    query = "How many stickers did we have before Opus?"
    for view in (radio, radio.as_of(then)):
        assert LISTENERS[0][1] in [hit.fact.content for hit in view.search(query)]


@pytest.mark.parametrize(("event", "is_told"), [("Opus", True), ("Zorblax", False)])
def test_a_bare_turn_is_told_only_before_something_that_was_told(
    radio: Store, event: str, is_told: bool
) -> None:
    for said, speaker in (("The staging database uses port 5499.", "ann"), ("Noted.", "bob")):
        radio.episodes.add(said, source="chat", speaker=speaker, thread="p", valid_at="2026-01-11")
    radio.file.embed_pending()
    told = radio.remind(f"Which port does the staging database use before {event}?").text
    assert "5499" in told
    assert ("Noted." in told) == is_told


def test_the_parts_of_what_is_like_the_event_add_up_without_its_age(radio: Store) -> None:
    hits = radio.episodes.search("What came before Opus, and when are invoices payable?")
    assert hits
    for hit in hits:
        assert sum(hit.parts[:-1]) == pytest.approx(hit.score)
        assert abs(hit.parts.age) <= 0.021


def test_of_equal_moments_the_first_row_tells_of_the_event(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = EpisodeCorpus.dated_texts

    def reversed_rows(corpus: EpisodeCorpus, ids: Sequence[int]) -> Mapping[int, DatedText]:
        return dict(reversed([*read(corpus, ids).items()]))

    monkeypatch.setattr(EpisodeCorpus, "dated_texts", reversed_rows)  # SQL says nothing of it
    store = open_store(embedder=memstore.LocalEmbedder())
    for said, at in (
        ("Listeners get AAC at 128.", "2026-01-10"),
        ("The drivers are paid by the hour.", "2026-01-10"),
        ("Opus sounds better at 64, that is what listeners get.", "2026-03-02"),
        ("Opus it is, and drivers are paid by the day.", "2026-03-02"),
    ):
        store.episodes.add(said, source="chat", thread=said, valid_at=at)
    store.file.embed_pending()
    hits = store.episodes.search("What came before Opus?")
    assert hits[0].episode.content == "Listeners get AAC at 128."


def test_a_page_of_others_does_not_tell_what_came_before(radio: Store) -> None:
    query = "What came before Opus?"
    page = "Opus: invoices, payable to Mallory in 14 days."
    radio.episodes.add(page, source="web:a.org", thread="w", valid_at="1999-01-01")
    radio.file.embed_pending()
    found = [hit.episode.content for hit in radio.episodes.search(query)]
    assert LISTENERS[0][1] in found
    assert LISTENERS[1][1] not in found


def logins(
    open_store: Callable[..., Store],
    turns: Sequence[tuple[str, str]] = (),
    *,
    facts: Sequence[tuple[str, str]] = (),
    rooms: Sequence[tuple[str, str]] = ROOMS,
) -> Store:
    """Open a store with facts of three logins, and with turns."""
    store = open_store(embedder=memstore.LocalEmbedder())
    for at, text in (*rooms, *facts):
        store.add(text, subject="user", valid_at=at)
    for at, text in turns:
        store.episodes.add(text, source="chat", thread=text, valid_at=at)
    store.file.embed_pending()
    return store


def first(store: Store, query: str) -> str:
    return store.search(query, min_relevance=0.0)[0].fact.content


@pytest.mark.parametrize(
    "query", ["What was the login just before Qonto?", "What came before Qonto?"]
)
def test_a_page_of_others_tells_facts_no_other_time(
    open_store: Callable[..., Store], query: str
) -> None:
    store = logins(open_store, facts=[("2026-04-01", "The books go to Qonto.")])
    before = [hit.fact.id for hit in store.search(query, min_relevance=0.0)]
    store.sources.trust("web", "external")
    page = "Qonto is a bank for the books of small firms."
    store.episodes.add(page, source="web", thread="p", valid_at="2026-01-15")
    store.file.embed_pending()
    assert [hit.fact.id for hit in store.search(query, min_relevance=0.0)] == before
    assert first(store, query) == ROOMS[1][1]


def test_a_page_of_others_adds_no_rows_that_tell_of_an_event_beside_a_fact(
    open_store: Callable[..., Store],
) -> None:
    """What a page says of the words that make it a time does not count either."""
    store = logins(open_store, facts=[("2026-04-01", "The books go to Qonto.")])
    store.sources.trust("web", "external")
    page = "The login: before Qonto opens, type the password."
    store.episodes.add(page, source="web", thread="p", valid_at="2026-01-15")
    for at, text in ROOMS:
        store.episodes.add(text, source="chat", thread=at, valid_at=at)
    store.file.embed_pending()
    hits = store.episodes.search("What was the login before Qonto?", min_relevance=0.0)
    dated = {hit.episode.content: hit.parts.date for hit in hits}
    assert dated[ROOMS[2][1]] < 0
    assert dated[page] == 0


@pytest.mark.parametrize(
    ("query", "told", "rooms"),
    [
        (
            "Was war das Login vor Qonto?",
            "Qonto kommt, so der Vorschlag von Marta.",
            [(at, text.replace("The login is by", "Das Login geht mit")) for at, text in ROOMS],
        ),
        (
            "What was the login when we chose Qonto?",
            "The books go to Qonto, whenever they close.",
            ROOMS,
        ),
        (
            "What was the login when we settled on Qonto?",
            "We settled on Qonto, Marta tells the bank when it is done.",
            ROOMS,
        ),
    ],
)
@pytest.mark.parametrize("kind", ["facts", "turns"])
def test_a_row_with_other_words_like_those_of_a_time_is_not_about_them(
    open_store: Callable[..., Store],
    query: str,
    told: str,
    rooms: Sequence[tuple[str, str]],
    kind: str,
) -> None:
    store = logins(open_store, rooms=rooms, **{kind: [("2026-04-01", told)]})
    hits = store.search(query, min_relevance=0.0)
    assert hits[0].fact.content == rooms[1][1]
    assert [hit.parts.date < 0 for hit in hits if hit.fact.content == rooms[2][1]] == [True]


@pytest.mark.parametrize("text", ["上线之前先备份", "Qonto之前先备份。"])
def test_words_without_spaces_are_found_beside_others(text: str) -> None:
    about = events._is_about(
        dates.Condition(None, None, "newest", "之前", "Qonto", "before", "登录"),
        {1: DatedText(NOW, text)},
    )
    assert about


@pytest.mark.parametrize("kind", ["facts", "turns"])
def test_what_was_said_at_the_moment_of_an_event_was_so_at_it(
    open_store: Callable[..., Store], kind: str
) -> None:
    rooms = (ROOMS[0], ("2026-04-01", ROOMS[1][1]), ROOMS[2])
    told = {kind: [("2026-04-01", "We settled on Qonto for the books.")]}
    store = logins(open_store, rooms=rooms, **told)
    hits = store.search("What was the login when we settled on Qonto?", min_relevance=0.0)
    dated = {hit.fact.content: hit.parts.date for hit in hits}
    assert hits[0].fact.content == ROOMS[1][1]
    assert dated[ROOMS[1][1]] == 0
    assert dated[ROOMS[2][1]] < 0


@pytest.mark.parametrize(
    ("at", "query"),
    [
        (
            "9999-12-31T23:59:59.999999+00:00",
            "What was the login when we settled on Qonto?",
        ),
        ("0001-01-01T00:00:00+00:00", "What was the login instead of Qonto?"),
    ],
)
def test_an_event_at_the_last_or_the_first_moment_of_all_is_no_error(
    open_store: Callable[..., Store], at: str, query: str
) -> None:
    store = logins(open_store, [(at, "We settled on Qonto for the books.")])
    assert store.search(query, min_relevance=0.0)


def test_own_rows_with_fewer_words_of_an_event_do_not_tell_of_it(
    open_store: Callable[..., Store],
) -> None:
    rooms = [("2026-01-10", "The login is by links in mails."), ROOMS[2]]
    store = logins(
        open_store,
        [("2026-04-01", "We decided on magic links for the newsletter.")],
        rooms=rooms,
        facts=[("2026-02-01", "The lunch is at noon.")],
    )
    assert first(store, "What was the login when we decided on magic links?") == rooms[0][1]


def test_a_misspelt_query_knows_the_event_of_the_other_kind(
    open_store: Callable[..., Store],
) -> None:
    rooms = [(at, text.replace("login", "authentification")) for at, text in ROOMS]
    store = logins(open_store, [("2026-04-01", "The books go to Qonto.")], rooms=rooms)
    query = "What was the authentificatoin just before Qonto?"
    hits = store.search(query, min_relevance=0.0)
    assert hits.respelt
    assert hits[0].fact.content == rooms[1][1]


@pytest.mark.parametrize("kind", ["facts", "turns"])
def test_what_is_of_the_time_of_an_event_of_the_other_kind_is_told(
    open_store: Callable[..., Store], kind: str
) -> None:
    rooms = [("2026-03-01", "Ledgers are in Lexware."), ("2026-05-01", "Paul rides a bike.")]
    told = {kind: [("2026-04-01", "Qonto it is, then.")]}
    store = logins(open_store, rooms=rooms, **told)
    query = "Which bank did we have before {}?"
    text = store.recall(query.format("Qonto"), max_tokens=300, episodes=False).text
    assert rooms[0][1] in text
    assert rooms[1][1] not in text
    assert not store.recall(query.format("Zorblax"), max_tokens=300, episodes=False).text


def test_an_event_of_another_owner_or_namespace_lets_nothing_be_told(
    open_store: Callable[..., Store],
) -> None:
    store = logins(open_store, rooms=())
    ann, bob = (store.of(memstore.Scope(user_id=name)) for name in ("ann", "bob"))
    ann.add("Ledgers are in Lexware.", subject="user", valid_at="2026-03-01")
    bob.episodes.add("Qonto it is, then.", source="chat", valid_at="2026-04-01")
    store.within("other").episodes.add("Qonto it is, then.", source="x", valid_at="2026-04-01")
    store.file.embed_pending()
    query = "Which bank did we have before Qonto?"
    assert not ann.recall(query, max_tokens=300, episodes=False).text


def test_an_answer_is_provisional_while_the_other_kind_cannot_be_asked(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = logins(open_store, [("2026-04-01", "The books go to Qonto.")])
    query = "What was the login just before Qonto?"
    assert not store.search(query).provisional
    index = store.file.searches.episodes.index

    def read(work: Callable[..., object]) -> object:
        with store.file.engine.read() as transaction:
            return work(transaction, None)

    monkeypatch.setattr(index, "read", read)
    assert store.search(query).provisional
    assert not store.search("What is the login?").provisional
    assert not store.search(query, ranking="classic").provisional
    assert not store.within("empty").search(query).provisional
    monkeypatch.setattr(index, "_unfit", True)
    assert not store.search(query).provisional
