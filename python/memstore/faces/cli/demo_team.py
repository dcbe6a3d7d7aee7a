"""The memory of a made-up team that ``memstore demo --web`` shows: 300 sessions in 18 months.

It is the same each time, except that its days count back from now. Each session is kept as hooks
keep one: its turns, the trace of what was done, and the facts that were drawn from it.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.episodes import NewEpisode
from memstore.domain.records import NewFact
from memstore.episodes import traces
from memstore.named import NamedTuple
from memstore.store.store import by_actor, for_project, in_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.domain.episodes import Episode
    from memstore.store.store import Store

PROGRAM: Final = "web"
"""Through which the person acts."""

HARBOUR: Final = "~/work/harbour"
"""The project that is shown first."""

DAYS: Final = 540
LAST: Final = timedelta(minutes=18)
"""How long ago the last session ended."""

MINUTE: Final = timedelta(minutes=1)
BETWEEN: Final = timedelta(minutes=4)
"""How long a turn takes."""

WEEKDAYS: Final = 5
LATELY: Final = timedelta(days=4)
"""In these days there are sessions at weekends, too, so that there is one today."""

SEARCHED: Final = timedelta(days=29)
"""How long what agents asked is kept."""

DOUBTED: Final = timedelta(days=1, hours=2)
"""How long ago a page of others said what does not go with what is believed."""


class Claim(NamedTuple):
    """A fact that a session leaves; what names the same key is replaced by it.

    Attributes:
        text: the claim, which one turn has in these words.
        key: under which the next one replaces it; ``None`` to keep both.
    """

    subject: str
    category: str
    text: str
    key: str | None = None


class Script(NamedTuple):
    """What is said in a session; ``{part}``, ``{other}``, ``{number}`` and ``{day}`` vary.

    Attributes:
        turns: the first is the request; from then on an agent and the person take turns.
        claims: subject, category, text and key, each with the same braces.
    """

    turns: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    changed: tuple[str, ...] = ()
    committed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Project(NamedTuple):
    """A project: its namespace, its parts, who works on it, and how many sessions it has."""

    name: str
    parts: tuple[str, ...]
    hosts: tuple[str, ...]
    sessions: int
    scripts: tuple[Script, ...]


# -- what is said ----------------------------------------------------------------------------------

BUILDING: Final = (
    Script(
        (
            "Why does {part} time out when {other} is slow? Find out, and fix it.",
            "I will look at src/{part}/client.py and at what it waits for.",
            "Found it: {part} waits {number} seconds for {other}, longer than the gateway does. I "
            "set it to 3 seconds and added a test.",
            "Good. Is it retried, too?",
            "Once, and only what can safely be sent twice. All {tests} tests pass.",
        ),
        (
            Claim(
                "{part}",
                "project",
                "{part} waits {number} seconds for {other}, longer than the gateway does",
                "{part} waits",
            ),
        ),
        ("src/{part}/client.py", "tests/test_{part}_client.py"),
        ("{part}: wait at most 3 seconds for {other}",),
    ),
    Script(
        (
            "The staging system of {part} moves on {day}, to machine {number}. Change its port "
            "everywhere, and tell me what else knows it.",
            "Which port shall it be?",
            "Staging of {part} listens on port {port}. The deploy script and the checks know it.",
            "I changed the deploy script, two checks and the page for newcomers.",
        ),
        (Claim("{part}", "project", "Staging of {part} listens on port {port}", "{part} port"),),
        ("deploy/staging.toml", "checks/{part}.toml", "docs/newcomers.md"),
        ("staging of {part}: port {port}",),
    ),
    Script(
        (
            "How long do the tests of {part} take, and which are the slowest?",
            "The tests of {part} take {number} seconds. Half of it is one test that starts a "
            "database; the others take less than a second each.",
            "Start the database once for all of them.",
            "Done: they share it now, each in a transaction that is rolled back.",
        ),
        (Claim("{part}", "project", "The tests of {part} take {number} seconds", "{part} tests"),),
        ("tests/conftest.py",),
        ("tests of {part} share one database",),
        ("pytest tests/{part}",),
    ),
    Script(
        (
            "Read the changelog of the library that {part} renders times with. What breaks for us?",
            "Two things: months are spelt out by default, and a zone without a name is refused.",
            "Then we stay: {part} pins the version before that until the printed plans are gone.",
            "I pinned it and left a note beside it.",
        ),
        (
            Claim(
                "{part}",
                "decision",
                "{part} pins the version before that until the printed plans are gone",
                "{part} pins",
            ),
        ),
        ("requirements.txt",),
    ),
    Script(
        (
            "Review the last change of {part} before I merge it. Be strict.",
            "Three remarks: a query runs in a loop, an error is swallowed, and a name says less "
            "than it could.",
            "Fix the first two. Names of {part} follow the glossary in docs/words.md, so leave it.",
            "Both are fixed, and the loop is one query now.",
        ),
        (
            Claim(
                "{part}",
                "project",
                "Names of {part} follow the glossary in docs/words.md",
                "{part} names",
            ),
        ),
        ("src/{part}/views.py", "src/{part}/queries.py"),
        ("{part}: one query instead of {number}",),
    ),
    Script(
        (
            "Plan how {part} is to be split from {other}, step by step. Do not touch any file "
            "before I say so.",
            "First the shared tables get owners, then reads go through one module, then writes, "
            "and at last the tables move. Each step can be released alone.",
            "Who has to know about it?",
            "Whoever reads the tables of both: two reports and the nightly export.",
            "{part} and {other} share the table of berths, so that moves last. Write the plan "
            "down.",
            "It is in docs/plans/{part}.md, with what each step can break.",
        ),
        (
            Claim(
                "{part}", "decision", "{part} and {other} share the table of berths", "{part} table"
            ),
        ),
        ("docs/plans/{part}.md",),
        ("plan for {part}",),
    ),
    Script(
        (
            "{part} forgot a booking last night. What happened at {hour}:12?",
            "The log says that {other} restarted, and {part} kept its old connection for a minute.",
            "Is anything lost?",
            "One booking, which is in the outbox and was sent again. The cause: {part} does not "
            "notice that {other} restarts until a request fails.",
            "Make it notice.",
            "It asks every ten seconds now. The test restarts {other} in the middle.",
        ),
        (
            Claim(
                "{part}",
                "project",
                "{part} does not notice that {other} restarts until a request fails",
            ),
        ),
        ("src/{part}/connection.py", "tests/test_{part}_restart.py"),
        ("{part} notices when {other} restarts",),
        ("pytest tests/test_{part}_restart.py", "pytest tests/test_{part}_restart.py"),
    ),
    Script(
        (
            "Which Python does {part} need in production?",
            "{part} runs on Python 3.{minor} in production, as its image says.",
            "And in the checks?",
            "The same, and one newer, to see early what breaks.",
        ),
        (
            Claim(
                "{part}",
                "project",
                "{part} runs on Python 3.{minor} in production",
                "{part} python",
            ),
        ),
    ),
    Script(
        (
            "Write the release notes of {part} from the commits since the last tag.",
            "There are {number} commits; nine of them are worth a line. I grouped them by what a "
            "user notices.",
            "Release day of {part} is {day}, so it goes out then. Shorter, please.",
            "Six lines now.",
        ),
        (Claim("{part}", "project", "Release day of {part} is {day}", "{part} release"),),
        ("CHANGELOG.md",),
        ("release notes of {part}",),
    ),
    Script(
        (
            "Explain to me how {part} decides which berth a ship gets.",
            "By length first, then by the tide at the hour of arrival, then by who waits longest.",
            "What if two are alike?",
            "Then the older request wins; {part} breaks ties by the time of the request, and says "
            "so in its answer.",
        ),
        (
            Claim(
                "{part}", "project", "{part} breaks ties by the time of the request", "{part} ties"
            ),
        ),
    ),
    Script(
        (
            "The dates in the mails of {part} are wrong for readers in Lisbon. Correct it.",
            "The template formats them in the zone of the server. I take the zone of the reader, "
            "which {other} knows.",
            "Test it around the change of the clocks.",
            "Added: the hour that is missing and the hour that comes twice.",
        ),
        (),
        ("src/{part}/mails.py", "tests/test_{part}_mails.py"),
        ("{part}: dates in the zone of the reader",),
    ),
    Script(
        (
            "What would it cost to keep the positions of {part} for a year instead of a month?",
            "About {number} GB a month, compressed; the queries stay as fast, since they ask for "
            "days.",
            "Do it. Positions of {part} are kept for a year.",
            "The job that deletes them runs once a week now.",
        ),
        (
            Claim(
                "{part}", "decision", "Positions of {part} are kept for a year", "{part} positions"
            ),
        ),
        ("jobs/expire.toml",),
        ("keep positions of {part} for a year",),
    ),
)

WRITING: Final = (
    Script(
        (
            "Make one page of my notes about {part}.",
            "They are from three days. I kept the order, and what you had marked stands on top.",
            "The talk about {part} is {number} minutes long, so half a page will do.",
            "Cut to half a page.",
        ),
        (Claim("{part}", "note", "The talk about {part} is {number} minutes long", "{part} talk"),),
        ("{part}.md",),
    ),
    Script(
        (
            "Translate the notice about {part} into Portuguese and Arabic.",
            "Both are below: «O aviso vale desde segunda-feira.» «يسري الإشعار من الاثنين»",
            "The harbour office reads notices about {part} first, so send it there.",
            "It is in the folder that they read.",
        ),
        (
            Claim(
                "{part}",
                "note",
                "The harbour office reads notices about {part} first",
                "{part} notices",
            ),
        ),
        ("{part}-notice.md",),
    ),
    Script(
        (
            "What did we agree on about {part} last time?",
            "That the short version is printed, and the long one is only on the site.",
        ),
    ),
)

PARTS: Final = (
    "berths", "tides", "gateway", "arrivals", "pilots", "invoices", "search", "maps", "mail", "pos",
)  # fmt: skip

PROJECTS: Final = (
    Project(HARBOUR, PARTS, ("claude-code", "codex", "claude-code", "gemini-cli"), 214, BUILDING),
    Project(
        "~/work/ferries", ("plans", "fares", "boards", "alerts", "feeds"), ("codex",), 62, BUILDING
    ),
    Project("~/notes", ("festival", "lockage", "museum", "regatta"), ("gemini-cli",), 24, WRITING),
)
DAYS_OF_RELEASE: Final = ("Tuesday", "Thursday", "Monday", "Wednesday")

ABOUT_THE_USER: Final = (
    ("preference", "Mira wants small commits, one for each change", True),
    ("preference", "Mira wants no new dependency without being asked first", True),
    ("identity", "Mira leads the harbour project and works from Lisbon", False),
    ("preference", "Mira reads answers on a phone: short ones first", False),
    ("preference", "ミラさんは朝に緑茶を飲みます", False),
)
"""Category, text, and whether it is pinned."""

TASKS: Final = (
    ("Renew the certificate of harbour.example", "user", "high", 4),
    ("Ask the pilots about the new zones", "user", "normal", None),
    ("Move the staging systems to arm64", "agent", "normal", 21),
    ("Remove the printed plans", "agent", "low", None),
)
"""What, whose, how urgent, and in how many days."""

READ: Final = (
    ("berths", "Staging of berths is switched off in 2027"),
    ("gateway", "gateway runs on Python 3.14 in production"),
    ("tides", "The tests of tides take 4 seconds"),
)
"""What a page of others says, which does not go with what is believed."""

READER: Final = "web:vendor.example"

PROMPTS: Final = (
    "which port does staging of {part} use?",
    "how long do the tests of {part} take?",
    "what did we decide about {part}?",
    "when is {part} released?",
    "which Python does {part} need?",
)


# -- how it is written -----------------------------------------------------------------------------


class _Then(clock.Clock):
    """The clock of the made-up team, which is set before each step."""

    def __init__(self) -> None:
        self.at = clock.utc_now()

    def utc_now(self) -> datetime:
        return self.at


class _Session(NamedTuple):
    """One session to be written."""

    began: datetime
    number: int
    project: Project
    script: Script
    host: str
    values: dict[str, object]

    @property
    def ended(self) -> datetime:
        return self.began + BETWEEN * (len(self.script.turns) - 1)


def fill(store: Store) -> Store:
    """Write the memory of the team into an empty file; return the store of its first project."""
    then, now = _Then(), clock.utc_now()
    with clock.use(then):
        believed: dict[tuple[str, str], int] = {}
        then.at = now - timedelta(days=DAYS)
        _about_the_user(store)
        then.at += MINUTE
        _to_do(store, then, now)
        is_doubted = False
        for session in sorted(_sessions(now), key=lambda one: one.ended):
            if session.ended > now - DOUBTED and not is_doubted:
                is_doubted = True
                then.at = now - DOUBTED
                _doubt(store, then)
            then.at = session.ended
            _write(store, session, believed)
    return for_project(store, HARBOUR, store.namespace, PROGRAM)


def _sessions(now: datetime) -> Iterator[_Session]:
    """Yield the sessions of each project: on working days, and more of them lately."""
    for place, project in enumerate(PROJECTS):
        for number in range(project.sessions):
            left = 1 - number / max(1, project.sessions - 1)
            passed = timedelta(days=round(DAYS * left**1.7) + 2 * place * (left == 0))
            began = now - LAST - passed - timedelta(minutes=24 + 97 * (number % 5) * (left > 0))
            if began.weekday() >= WEEKDAYS and now - began > LATELY:
                began -= timedelta(days=2)
            yield _Session(began, number, project, *_chosen(project, number))


def _chosen(project: Project, number: int) -> tuple[Script, str, dict[str, object]]:
    """Return what a session is about, and what stands for the braces."""
    parts = project.parts
    script = project.scripts[number * 5 % len(project.scripts)]
    part = parts[(number * 3 + number // len(project.scripts)) % len(parts)]
    if "port" in script.turns[0] and number % 2:  # one of the chains is long
        part = parts[0]
    other = parts[(parts.index(part) + 1 + number % (len(parts) - 1)) % len(parts)]
    values: dict[str, object] = {
        "part": part,
        "other": parts[0] if other == part else other,
        "number": 5 + number * 37 % 83,
        "tests": 180 + number,
        "port": 5000 + number * 1237 % 4000,
        "minor": 11 + number * 4 // max(1, project.sessions),
        "day": DAYS_OF_RELEASE[number % len(DAYS_OF_RELEASE)],
        "hour": f"{number % 24:02}",
    }
    return script, project.hosts[number % len(project.hosts)], values


def _write(store: Store, session: _Session, believed: dict[tuple[str, str], int]) -> None:
    """Write one session: its turns, its trace, its facts, and the prompts that it asked."""
    name = f"{session.project.name} {session.number}"
    thread = uuid.uuid5(uuid.NAMESPACE_URL, name)
    own = by_actor(store.within(session.project.name, source=session.host), "agent")
    own = in_run(own, thread.bytes)
    texts = [turn.format_map(session.values) for turn in session.script.turns]
    said = [
        NewEpisode(
            content=text,
            source=session.host,
            thread=str(thread),
            seq=place,
            speaker="assistant" if place % 2 else "user",
            valid_at=session.began + place * BETWEEN,
        )
        for place, text in enumerate(texts)
    ]
    done = traces.new_trace(
        source=session.host,
        session=str(thread),
        changed=[one.format_map(session.values) for one in session.script.changed],
        committed=[one.format_map(session.values) for one in session.script.committed],
        failed=[one.format_map(session.values) for one in session.script.failed],
        began=clock.to_text(session.began),
        ended=clock.to_text(session.ended),
    )
    turns = own.episodes.add_many([*said, *([done] if done else [])])
    learnt = _learn(own, session, turns, believed)
    if clock.Clock().utc_now() - session.ended < SEARCHED:
        _ask(own, session, learnt, turns)


def _learn(
    own: Store,
    session: _Session,
    turns: Sequence[Episode],
    believed: dict[tuple[str, str], int],
) -> list[int]:
    """Store what a session leaves, each beside the turn that has its words."""
    facts, keys = [], []
    for claim in session.script.claims:
        text = claim.text.format_map(session.values)
        key = (own.namespace, (claim.key or claim.text).format_map(session.values))
        known = believed.get(key)
        if known is not None and own.get(known).content == text:
            own.confirm(known)
            continue
        new = NewFact(
            content=text,
            subject=claim.subject.format_map(session.values),
            category=claim.category,
            episode_id=next((turn.id for turn in turns if text in turn.content), None),
            supersedes=known,
        )
        facts.append(new)
        keys.append(key)
    stored = own.add_many(facts)
    believed.update(zip(keys, (fact.id for fact in stored), strict=True))
    return [fact.id for fact in stored]


def _ask(own: Store, session: _Session, facts: Sequence[int], turns: Sequence[Episode]) -> None:
    """Record what an agent asked in a session, and what it was given."""
    for place in range(1 + session.number % 3):
        text = PROMPTS[(session.number + place) % len(PROMPTS)].format_map(session.values)
        own.searches.record(
            text,
            facts=facts,
            episodes=[turn.id for turn in turns[:2]],
            tool="memory_search",
            tokens=60 + 23 * (session.number + place) % 90,
            milliseconds=4.0 + (session.number + place) % 7,
        )


def _about_the_user(store: Store) -> None:
    own = by_actor(store.within(source="cli"), "user")
    for category, text, is_pinned in ABOUT_THE_USER:
        fact = own.add(text, subject="mira", category=category)
        if is_pinned:
            own.pin(fact.id)


def _to_do(store: Store, then: _Then, now: datetime) -> None:
    own = by_actor(store.within(HARBOUR, source="cli"), "user")
    for text, owner, priority, days in TASKS:
        due = None if days is None else (now + timedelta(days=days)).date().isoformat()
        own.tasks.create(text, scope=owner, priority=priority, due=due, project="harbour")
        then.at += MINUTE


def _doubt(store: Store, then: _Then) -> None:
    """Let a page of others say what does not go with what is believed, and take back a fact."""
    own = store.within(HARBOUR, source="docs-crawler")
    for subject, text in READ:
        then.at += MINUTE
        old = own.list(subject=subject, limit=1, newest_first=True)
        own.add(text, subject=subject, source=READER, supersedes=old[0].id)
    person = by_actor(store.within(HARBOUR, source=PROGRAM), "user")
    then.at += MINUTE
    person.delete(person.list(subject=PARTS[-1], limit=1)[0].id)
