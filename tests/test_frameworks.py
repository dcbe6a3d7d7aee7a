"""The page about frameworks: its examples are the files, and an agent of each has a memory.

The agents run where their framework is installed; ``frameworks.yml`` installs each in turn.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from tests.support.host_models import HostModels, serving
from tests.test_package import import_file

import memstore
from memstore.adapters.frameworks import FRAMEWORKS

ROOT = Path(__file__).parents[1]
PROGRAM = import_file(ROOT / ".ci" / "frameworks.py")
LISTED: list[Any] = PROGRAM.listed()
WITH_EXAMPLE = [one for one in LISTED if one.example]
MEMORY = "memory.db"
CLAIM = "Ana moved to Lisbon"


def test_the_page_has_the_examples_and_versions_of_the_files() -> None:
    text = PROGRAM.PAGE.read_text("utf-8")
    assert PROGRAM.page(text) == text, "run: python .ci/frameworks.py page"


def test_the_page_shows_every_example_once_under_its_title() -> None:
    text = PROGRAM.PAGE.read_text("utf-8")
    shown = re.findall(r"^## (.*)\n[^#]*?<!-- example: (\S+) -->$", text, re.MULTILINE)
    assert shown == [(one.title, one.example) for one in WITH_EXAMPLE]
    assert sorted(file for _, file in shown) == sorted(
        file.name for file in PROGRAM.EXAMPLES.iterdir() if file.is_file()
    )


def test_no_example_hides_the_package_that_it_imports() -> None:
    for file in PROGRAM.EXAMPLES.glob("*.py"):
        assert not re.search(rf"^(from|import) {file.stem}\b", file.read_text("utf-8"), re.M)


PARTS = {"adk_memories", "adk_records", "langgraph_filters", "mem0_filters"}
SHARED = {"frameworks", "opened", "turns", "values", "waiting"}
"""What adapters are made of, and what they share."""


def test_every_adapter_is_listed_with_its_tests() -> None:
    modules = {file.stem for file in (ROOT / "python/memstore/adapters").glob("[!_]*.py")}
    modules -= {*PARTS, *SHARED}
    listed = {one.name for one in LISTED if not one.example}
    tested = {one.name for one in LISTED if not one.example and one.tests}
    assert modules <= listed
    assert {name for name in listed if name in modules} <= tested


def test_errors_name_the_versions_that_are_tested() -> None:
    listed = {one.name: one for one in LISTED if not one.example}
    for name, framework in FRAMEWORKS.items():
        assert f"{framework.package}=={framework.lowest}" in listed[name].lowest
        assert framework.newest == listed[name].newest


def test_the_workflow_tries_both_ends_of_the_versions() -> None:
    jobs = PROGRAM.jobs()
    for one in WITH_EXAMPLE:
        ends = [job["versions"] for job in jobs if job["name"] == one.name]
        assert ends == ["newest", "lowest"]


@pytest.mark.parametrize(
    ("alone", "together", "moved"),
    [
        ({"mcp": "2.10.0"}, {"mcp": "2.9.1", "apsw": "3.51"}, ["mcp 2.10.0 to 2.9.1"]),
        ({"mcp": "2.9.1", "strands-agents": "1.62.0"}, {"mcp": "2.10.0"}, []),
    ],
)
def test_what_is_older_beside_memstore_is_pushed_back(
    alone: dict[str, str], together: dict[str, str], moved: list[str]
) -> None:
    assert PROGRAM.pushed_back(alone, together) == moved


def started(example: Any, folder: Path) -> list[str]:
    """Return the command that runs an example, or skip it if its framework is not here.

    In the framework's own job, it is a failure.
    """
    wanted = os.environ.get("FRAMEWORK") == example.name
    name = PROGRAM.package(example.packages[0])
    if example.npm:
        installed = PROGRAM.NODE_FOLDER / "node_modules"
        node = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
        if not wanted and not (node and (installed / name).exists()):
            pytest.skip(f"needs Node 22.18 and the npm package {name}")
        assert node
        (folder / "node_modules").symlink_to(installed, target_is_directory=True)
        shutil.copy(PROGRAM.EXAMPLES / example.example, folder)
        return [node, str(folder / example.example)]
    try:
        version(name)
    except PackageNotFoundError:
        if wanted:
            raise
        pytest.skip(f"needs {' '.join(example.packages)}")
    return [sys.executable, str(PROGRAM.EXAMPLES / example.example)]


def runs(example: Any, folder: Path, models: HostModels) -> None:
    """Run an example whose model is the stub, as a reader does who has installed memstore."""
    home = folder / f"home {models.tool}"  # some keep the replies of a model there
    home.mkdir()
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    done = subprocess.run(
        started(example, folder),
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(home),
            "PATH": os.pathsep.join(programs),
            "NO_PROXY": "127.0.0.1",
            "OPENAI_BASE_URL": f"{models.url}/v1",
            "OPENAI_API_BASE": f"{models.url}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "none",
            "OTEL_SDK_DISABLED": "true",
            "CREWAI_DISABLE_TELEMETRY": "true",
            "MASTRA_TELEMETRY_DISABLED": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout


@pytest.mark.process
@pytest.mark.parametrize("example", WITH_EXAMPLE, ids=lambda one: f"{one.name}-example")
def test_an_agent_stores_a_fact_and_finds_it_when_it_runs_again(
    example: Any, tmp_path: Path
) -> None:
    with serving() as models:
        models.tool = "memory_store"
        models.arguments = {"content": CLAIM, "subject": "ana"}
        runs(example, tmp_path, models)
    with memstore.open(tmp_path / MEMORY, read_only=True) as store:
        assert [fact.content for fact in store.list()] == [CLAIM]
    with serving() as models:
        (tmp_path / "node_modules").unlink(missing_ok=True)
        models.tool, models.arguments = "memory_search", {"query": "where does Ana live?"}
        runs(example, tmp_path, models)
        assert CLAIM in json.dumps([request for _, request in models.requests])
