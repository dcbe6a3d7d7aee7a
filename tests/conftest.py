"""Shared by many tests: stores on real files, and an embedder with predictable answers."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from tests.support.builds import skip_without_model
from tests.support.clock import ManualClock
from tests.support.embedders import WordEmbedder
from tests.support.examples import QUICK as QUICK_EXAMPLES
from tests.support.model_server import ModelServer

import memstore
from memstore import InvalidArgument, Store
from memstore.database.sqlite import engine as sqlite_engine
from memstore.domain import clock
from memstore.providers import local

if TYPE_CHECKING:
    from tests.support.postgres import Databases

QUICK = "not process and not slow"
PROCESSES_STARTED = ("subprocess.Popen", "os.fork", "os.posix_spawn")

EXPLAINED = pytest.StashKey["list[Any]"]()
"""With ``--partitions``, what was explained by each process: see ``Plans.found``."""

SYNCHRONOUS = dict(sqlite_engine.SYNCHRONOUS)

_unmarked: list[str] = []
"""The test that is running, if it may not start a process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("memstore")
    group.addoption("--all", action="store_true", help="also what is marked process or slow")
    group.addoption(
        "--kills", type=int, default=10, metavar="N", help="rounds of kills (default 10)"
    )
    group.addoption(
        "--soak", type=float, default=5, metavar="SECONDS", help="length of the soak (default 5)"
    )
    group.addoption("--all-faults", action="store_true", help="let every call on a file fail once")
    group.addoption(
        "--power-cuts", type=int, default=20, metavar="N", help="cuts of the power (default 20)"
    )
    group.addoption("--screenshots", metavar="FOLDER", help="keep pictures of the web pages there")
    group.addoption(
        "--inputs", type=int, default=50, metavar="N", help="hostile inputs (default 50)"
    )
    group.addoption(
        "--histories", type=int, default=60, metavar="N", help="of syncing devices (default 60)"
    )
    group.addoption(
        "--engine",
        choices=["sqlite", "postgres"],
        default="sqlite",
        help="what stores the files that tests open (default sqlite)",
    )
    group.addoption(
        "--partitions",
        action="store_true",
        help="with --engine postgres: each statement is answered by one partition of the tables",
    )
    group.addoption("--pooler", action="store_true", help="reach the server through PgBouncer")
    group.addoption(
        "--examples", type=int, metavar="N", help="of a property that names no number (default 100)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the quick tests on every core by default; a named file in one process, completely."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell does for a job with "&"
        signal.signal(signal.SIGINT, signal.default_int_handler)  # or programs inherit it
    option = config.option
    if not (option.all or option.markexpr or any(".py" in name for name in config.args)):
        option.markexpr = QUICK
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    worker = hasattr(config, "workerinput")  # is given the same arguments
    if option.numprocesses is None and not (named or worker):
        option.numprocesses = "auto"
        option.dist = "worksteal"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    if item.get_closest_marker("model"):
        skip_without_model()
    if item.config.getoption("--engine") != "sqlite":
        from tests.support import on_postgres

        if reason := on_postgres.difference(item.nodeid):  # before a fixture makes a file for it
            pytest.skip(f"on PostgreSQL: {reason}")
    try:
        return (yield)
    except InvalidArgument as error:
        _skip_if_without_model(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    try:
        return (yield)
    except InvalidArgument as error:
        _skip_if_without_model(error)
        raise


def _skip_if_without_model(error: InvalidArgument) -> None:
    """Skip what asks for the built-in embedder in a build that does not have it."""
    if not local.HAS_MODEL and error.remedy is local.NO_MODEL.remedy:
        skip_without_model()


def _use_own_folders(config: pytest.Config) -> None:
    """Keep every test, and every program that one starts, out of the user's own folders."""
    folder = TemporaryDirectory(prefix="memstore-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA"):
        os.environ[name] = str(Path(folder.name, name))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[EXPLAINED] = []
    _use_own_folders(config)
    sys.addaudithook(_refuse_processes)
    if config.getoption("--engine") != "sqlite":  # else each of thousands of tests would ask
        config.pluginmanager.import_plugin("tests.support.served_fixtures")
    # No deadlines, because machines are busy. The same examples each time, unless a seed is given.
    settings.register_profile(
        "memstore",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=config.getoption("--hypothesis-seed") is None,
    )
    settings.register_profile(
        "quick", settings.get_profile("memstore"), max_examples=QUICK_EXAMPLES
    )
    is_quick = config.option.markexpr == QUICK
    settings.load_profile("quick" if is_quick else "memstore")
    if is_quick:  # the power stays on; waiting for the disk is a quarter of the time
        sqlite_engine.SYNCHRONOUS.update(dict.fromkeys(SYNCHRONOUS, "OFF"))
    if (number := config.getoption("--examples")) is not None:
        settings.register_profile("long", settings(), max_examples=number)
        settings.load_profile("long")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have counted, so that a long run shows its figures."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in getattr(report, "user_properties", ()):
                if name == "counts":
                    terminalreporter.write_line(f"{report.nodeid}: {value}")
    if explained := terminalreporter.config.stash[EXPLAINED]:
        from tests.support.partitions import Plans

        every = Plans()
        for found in explained:
            every.add(*found)
        terminalreporter.write_line(every.counts)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a process of several explained to the first one."""
    if (sent := getattr(session.config, "workeroutput", None)) is not None:
        sent["explained"] = session.config.stash[EXPLAINED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[EXPLAINED] += getattr(node, "workeroutput", {}).get("explained", [])


def _refuse_processes(event: str, _: object) -> None:
    if event in PROCESSES_STARTED and _unmarked:
        raise RuntimeError(f"{_unmarked[0]} starts a process: mark it process")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    serving = item.config.getoption("--engine") != "sqlite"  # a server is started
    if item.get_closest_marker("process") is None and not serving:
        _unmarked.append(item.nodeid)
    try:
        return (yield)
    finally:
        _unmarked.clear()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commits wait for the disk, as they do outside of quick runs."""
    for durability, value in SYNCHRONOUS.items():
        monkeypatch.setitem(sqlite_engine.SYNCHRONOUS, durability, value)


@pytest.fixture(scope="session")
def databases(pytestconfig: pytest.Config) -> Iterator[object]:
    """With ``--engine postgres``, the databases that tests use."""
    if pytestconfig.getoption("--engine") == "sqlite":
        yield None
        return
    with closing(_databases(pytestconfig, is_last=True)) as made:
        yield made


@pytest.fixture(scope="module")
def server_databases(pytestconfig: pytest.Config) -> Iterator[object]:
    """The databases of a real server, for the tests that name its URL."""
    with closing(_databases(pytestconfig)) as made:
        yield made


def _databases(config: pytest.Config, *, is_last: bool = False) -> Databases:
    from tests.support.postgres import Databases  # skips without a driver

    if not config.getoption("--partitions"):
        return Databases(is_last=is_last)
    from tests.support import partitions

    return Databases(partitions.schema, is_last=is_last)


@pytest.fixture(scope="session")
def plans(pytestconfig: pytest.Config) -> Iterator[object]:
    """With ``--partitions``, which partitions answer the statements that are sent."""
    if not pytestconfig.getoption("--partitions"):
        yield None
        return
    from tests.support.partitions import Plans

    with closing(Plans()) as made:
        yield made
    pytestconfig.stash[EXPLAINED].append(made.found)


@pytest.fixture
def url(server_databases: object) -> Iterator[str]:
    from tests.support.postgres import Databases

    assert isinstance(server_databases, Databases)
    taken = server_databases.take()
    yield taken
    server_databases.give_back(taken)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty file to copy: creating one takes four times as long as opening one."""
    path = tmp_path_factory.mktemp("blank") / "memory.db"
    memstore.open(path, embedder=None).close()
    return path


@pytest.fixture(scope="module")
def new_memory(
    empty_file: Path, tmp_path_factory: pytest.TempPathFactory, databases: object
) -> Callable[[], AbstractContextManager[Path | str]]:
    """Return what gives each example of a property an empty memory, by its path or URL."""

    @contextmanager
    def new() -> Iterator[Path | str]:
        if databases is None:
            yield shutil.copy(empty_file, tmp_path_factory.mktemp("example"))
            return
        from tests.support import on_postgres

        with (
            pytest.MonkeyPatch.context() as monkeypatch,
            on_postgres.at_a_url(databases, monkeypatch) as url,  # type: ignore[arg-type]
        ):
            yield url

    return new


@pytest.fixture
def open_store(
    path: Path, embedder: WordEmbedder, empty_file: Path, databases: object
) -> Iterator[Callable[..., Store]]:
    """Opens stores on the test's file (or another) and closes them at the end.

    A file that is missing is a copy of the empty one; one in a missing folder is created. A bare
    name is that of a file in the test's folder.
    """
    opened: list[Store] = []

    def open_(at: Path | str | None = None, **options: object) -> Store:
        if at is None or Path(at).name == at != ":memory:":
            at = path.with_name(at or path.name)
        options.setdefault("embedder", embedder)
        if databases is None and _is_missing(at) and not options.get("read_only"):
            shutil.copy(empty_file, at)
        store = memstore.open(at, **options)  # type: ignore[arg-type]
        opened.append(store)
        return store

    yield open_
    for store in opened:
        store.close()


def _is_missing(at: Path | str) -> bool:
    file = Path(at)
    return file.suffix == ".db" and file.parent.is_dir() and not os.path.lexists(file)


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Store:
    return open_store()


@pytest.fixture(scope="module")
def fresh() -> Iterator[Callable[[], Store]]:
    """Yield an empty store for each example of a property: a namespace of one file in memory."""
    with memstore.open(":memory:", embedder=None) as whole:
        names = itertools.count()
        yield lambda: whole.within(f"example {next(names)}")


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every request on this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def manual_clock() -> Iterator[ManualClock]:
    """Stop the time; see ``ManualClock``."""
    manual = ManualClock()
    with clock.use(manual):
        yield manual


@pytest.fixture
def model_server(no_proxy: None, manual_clock: ManualClock) -> Iterator[ModelServer]:
    """A language model with scripted replies; see ``ModelServer``."""
    with ModelServer.running() as server:
        yield server
