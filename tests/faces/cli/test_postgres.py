"""The command line on a server: the same commands, with a URL for the file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support import postgres
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

from memstore.database.postgres import checks as checking
from memstore.database.postgres.schema import tables
from memstore.faces import background
from memstore.faces.cli.postgres import REMEDIES

PASSWORD = "p%41ss-word"

pytestmark = pytest.mark.process


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.database() as url:
        yield url


def test_commands_work_on_a_server(cli: CommandLine, url: str, tmp_path: Path) -> None:
    stored = cli.json("add", "The quay is open", "--subject", "quay", "--db", url)
    assert cli.json("get", stored["id"], "--db", url)["content"] == "The quay is open"
    assert "The quay is open" in cli("search", "quay", "--db", url).out
    assert cli.json("verify", "--db", url)["verified"]
    assert cli("doctor", "--db", url).code == 0
    code, text = cli.error("backup", tmp_path / "copy.db", "--db", url)
    assert code == 3
    assert "pg_dump" in text


def test_copy_brings_a_file_to_a_server(cli: CommandLine, url: str) -> None:
    cli.add("The quay is open")
    head = cli.json("status")["head"]
    told = cli("copy", cli.db, url).out
    assert "the copy has 1 fact, 0 episodes, " in told
    assert " and 1 line of the journal, whose head is " in told
    assert cli.json("status", "--db", url)["head"] == head
    cli.add("The quay is closed")
    head = cli.json("status")["head"]
    assert cli.json("copy", cli.db, url)["head"] == head  # what came since
    cli.json("add", "The gate is open", "--subject", "gate", "--db", url)
    code, text = cli.error("copy", cli.db, url)
    assert code != 0
    assert "no earlier copy to which nobody else wrote" in text
    assert "Name another database, or a namespace of it" in text


def test_a_server_that_is_away_is_named_without_the_password(cli: CommandLine) -> None:
    code, text = cli.error("status", "--db", "postgresql://ana:secret@127.0.0.1:1/db")
    assert code == 3
    assert "postgresql://ana@127.0.0.1:1/db" in text
    assert "secret" not in text


def test_a_memory_that_is_missing_is_not_said_to_be_old(
    cli: CommandLine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMSTORE_READ_ONLY", "1")
    code, text = cli.error("list", "--db", url, "--namespace", "new")
    assert code == 3
    assert "holds no memory of the namespace" in text


def test_a_mistyped_namespace_is_refused_and_not_created(cli: CommandLine, url: str) -> None:
    code, text = cli.error("search", "quay", "--db", url)
    assert (code, "holds no memory of the namespace 'default'. memstore add" in text) == (3, True)
    cli("add", "The quay is open", "--subject", "quay", "--db", url, "--namespace", "team")
    for command in (["search", "quay"], ["get", "1"], ["list"], ["status"], ["delete", "1"]):
        code, text = cli.error(*command, "--db", url, "--namespace", "taem")
        assert code == 3
        assert "the namespaces of its memories are 'team'. memstore add creates it" in text
    with postgres.psycopg.connect(url) as connection:
        assert connection.execute("SELECT tenant FROM memstore_tenants").fetchall() == [("team",)]
    assert cli("add", "text", "--subject", "s", "--db", url, "--namespace", "taem").code == 0


@pytest.fixture
def with_password(url: str) -> str:
    """The same with a password, which this server does not ask for."""
    return url.replace("postgres:@", f"postgres:{PASSWORD}@") + f"&sslpassword={PASSWORD}"


def test_a_suggested_command_has_no_password(cli: CommandLine, with_password: str) -> None:
    added = cli("add", "The quay is open", "--subject", "quay", "--db", with_password)
    assert (added.code, added.out) == (0, "stored as #1\n")
    answer = cli("delete", 1, "--db", with_password)
    (suggested,) = re.findall(r"memstore (restore .*) brings it back", answer.out)
    assert PASSWORD not in answer.out + answer.err
    assert cli(*shlex.split(suggested)).out == "restored #1; active now: #1\n"
    cli("episode", "add", "The gate is green", "--thread", "t", "--db", with_password)
    shown = cli("distil", "--show", "--db", with_password).out
    assert "--db " in shown
    assert PASSWORD not in shown


def test_a_process_in_the_background_has_no_password_in_its_arguments(
    cli: CommandLine, with_password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[Sequence[str], Mapping[str, str]]] = []

    def start(words: Sequence[str], *, log: str, environment: Mapping[str, str]) -> None:
        started.append((words, environment))

    monkeypatch.setattr(background, "start", start)
    cli("add", "The quay is open", "--subject", "quay", "--db", with_password)
    learn = ("learn", "--background", "--generator", "ollama", "--generator-model", "m")
    assert cli(*learn, "--db", with_password, "--user", "ana").code == 0
    [(words, environment)] = started
    assert PASSWORD not in " ".join(words)
    assert {"--generator=ollama", "--user", "ana"} <= {*words}
    assert environment == {"MEMSTORE_DB": with_password}


def test_an_erasure_says_that_the_server_decides_about_bytes(cli: CommandLine, url: str) -> None:
    for content in ("The quay is open", "The gate is green"):
        cli("add", content, "--subject", "quay", "--db", url)
    for which in (("1",), ("--subject", "quay")):
        code, text = cli.error("erase", *which, "--yes", "--prove", "quay", "--db", url)
        assert (code, "nothing was erased" in text) == (2, True)
        answer = cli("erase", *which, "--yes", "--db", url)
        assert (answer.code, "another process" in answer.err) == (0, False)
        assert "is up to the server" in answer.err


def test_hosts_are_not_set_up_with_a_server(cli: CommandLine, with_password: str) -> None:
    code, text = cli.error("setup", "claude-code", "--user", "ana", "--db", with_password)
    assert code == 2
    assert "memstore setup --server URL" in text
    assert PASSWORD not in text


def test_a_namespace_of_another_memory_is_named_with_its_flag(cli: CommandLine, url: str) -> None:
    cli("add", "The quay is open", "--subject", "quay", "--db", url, "--namespace", "other")
    cli("add", "The gate is open", "--subject", "gate", "--db", url)
    code, text = cli.error("search", "quay", "--namespaces", "other", "--db", url)
    assert code == 1
    assert "--namespace" in text


# -- setting a server up ---------------------------------------------------------------------------


def checks(cli: CommandLine, url: str) -> tuple[int, dict[str, dict[str, str]]]:
    answer = cli("postgres", "check", "--db", url, "--json")
    found = json.loads(answer.out)
    assert found["ready"] == (answer.code == 0)
    return answer.code, {one["name"]: one for one in found["checks"]}


def test_init_makes_what_check_says_is_missing(cli: CommandLine, url: str) -> None:
    code, found = checks(cli, url)
    assert code == 1
    assert found["schema"]["state"] == "wrong"
    assert "postgres init" in found["schema"]["remedy"]
    with postgres.a_role(url) as (owner, app):
        names = ("--owner", owner, "--app", app)
        assert cli("postgres", "init", "--db", url, "--roles", *names).code == 0
        code, found = checks(cli, url)
        assert code == 0
        assert found["rights"]["state"] == "weak"
        assert found["durability"]["state"] == "weak"  # as the tests' server is
        assert "synchronous_commit = off" in found["durability"]["text"]
        as_app = postgres.as_user(url, app)
        code, found = checks(cli, as_app)
        assert code == 0
        for name in ("address", "version", "encoding", "schema", "migrations", "writing", "rights"):
            assert (name, found[name]["state"]) == (name, "right")
            assert found[name]["remedy"] is None
        assert found["clock"]["state"] == found["pooler"]["state"] == "right"
        with postgres.psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"REVOKE INSERT ON memstore_facts FROM {app}")
            connection.execute("DROP INDEX idx_memstore_claim")
        code, found = checks(cli, as_app)
        assert code == 1
        assert found["schema"]["text"] == "missing: index idx_memstore_claim"
        with postgres.psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE INDEX idx_memstore_claim ON memstore_facts (claim_hash)")
        code, found = checks(cli, as_app)
        assert (code, found["writing"]["text"]) == (1, "this user lacks INSERT on memstore_facts")


def test_check_shows_no_password_and_says_what_to_do(cli: CommandLine) -> None:
    answer = cli("postgres", "check", "--db", "postgresql://ana:secret@127.0.0.1:1/db")
    assert answer.code == 1
    assert "address\twrong\tcannot open postgresql://ana@127.0.0.1:1/db" in answer.out
    assert "pg_hba.conf" in answer.out
    assert "secret" not in answer.out + answer.err


def test_files_are_not_set_up_as_a_server(cli: CommandLine) -> None:
    for command in ("init", "check"):
        code, text = cli.error("postgres", command)
        assert code == 2
        assert "must be the URL of a database" in text


def test_roles_prints_sql_for_an_administrator(cli: CommandLine, url: str) -> None:
    cli("postgres", "init", "--db", url)
    with postgres.a_role(url) as (owner, app):
        printed = cli("postgres", "roles", "--owner", owner, "--app", app, "--row-level-security")
        with postgres.psycopg.connect(url, autocommit=True) as connection:
            connection.execute(printed.out)
        code, found = checks(cli, postgres.as_user(url, app))
        assert code == 0
        assert found["row_security"]["state"] == "right"
        assert checks(cli, url)[1]["row_security"]["state"] == "weak"
    code, text = cli.error("postgres", "roles", "--app", "a; DROP TABLE x")
    assert code == 2
    assert "must be lower-case letters" in text


def test_a_server_that_may_lose_writes_is_named(cli: CommandLine, url: str) -> None:
    cli("postgres", "init", "--db", url)
    for command in ("status", "doctor"):
        assert "synchronous_commit = off" in cli(command, "--db", url).err
    assert cli.json("status", "--db", url)["weakened_by"] == "synchronous_commit = off"


@pytest.mark.parametrize(
    ("is_direct", "threshold", "state"),
    [(True, 5, "right"), (False, None, "right"), (False, 5, "weak")],
)
def test_a_pooler_and_prepared_statements_are_weak(
    is_direct: bool, threshold: int | None, state: str
) -> None:
    assert checking.pooler(is_direct, threshold).state == state


def test_every_check_has_a_remedy() -> None:
    text = Path(checking.__file__).read_text("utf-8")
    assert {*re.findall(r'Checked\(\s*"(\w+)"', text)} == {*REMEDIES}


def test_distribute_prints_statements_for_every_table_and_names_what_is_missing(
    cli: CommandLine, url: str
) -> None:
    printed = cli("postgres", "distribute", "--dry-run").out
    named = re.findall(r"create_distributed_table\('(\w+)', 'tenant'", printed)
    assert {*named} == {*tables.rows()} - {"memstore_namespaces"}
    assert "create_reference_table('memstore_namespaces')" in printed
    created = [*re.findall(r"CREATE TABLE (memstore_\w+)", tables.text())]
    assert named == [name for name in created if name != "memstore_namespaces"]
    here = ""
    for table, refers in re.findall(r"CREATE TABLE (\w+)|REFERENCES (\w+)", tables.text()):
        here = table or here
        if refers and here != "memstore_namespaces":  # it leads to a table that is distributed
            assert named.index(refers) <= named.index(here)
    code, text = cli.error("postgres", "distribute", "--db", url)
    assert (code, "memstore postgres init" in text) == (3, True)
    cli("postgres", "init", "--db", url)
    code, text = cli.error("postgres", "distribute", "--db", url)
    assert (code, "CREATE EXTENSION citus" in text) == (3, True)
