"""The options and the data of ``python -m pytest benches --benchmark-only``.

Memories are made once, in a folder, and used again by later runs and by other builds of the same
schema, so that ``--benchmark-compare`` compares the same searches over the same facts.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import memstore
from benches.engine import made
from memstore import Store

DEFAULT_SIZES = "1000,10000"
FOLDER = Path(__file__).with_name(".made")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("memstore")
    group.addoption(
        "--facts",
        default=DEFAULT_SIZES,
        metavar="N,N",
        help=f"how many facts the memories have, 1000 to 1000000 (default: {DEFAULT_SIZES})",
    )
    group.addoption(
        "--made",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help="where the memories are kept that were made (default: benches/.made)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "size" in metafunc.fixturenames:
        metafunc.parametrize("size", _sizes(metafunc.config.getoption("--facts")), scope="session")


def _sizes(text: str) -> list[int]:
    sizes = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(one.isascii() and one.isdigit() and int(one) >= 100 for one in sizes):
        raise pytest.UsageError(f"--facts takes numbers of 100 or more, not {text!r}")
    return [*map(int, sizes)]


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Path:
    """The folder of what was made for this schema."""
    schema = sorted(files("memstore.database.sqlite.schema").joinpath("v07").iterdir(), key=str)
    written = b"".join(one.read_bytes() for one in schema if one.name.endswith(".sql"))
    chosen: Path = request.config.getoption("--made")
    made_here = chosen / hashlib.sha256(written).hexdigest()[:12]
    made_here.mkdir(parents=True, exist_ok=True)
    return made_here


@pytest.fixture(scope="session")
def path(folder: Path, size: int) -> Path:
    """A file of so many facts, embedded, with its index beside it."""
    file = made.facts_file(folder, size)
    with memstore.open(file) as store:
        store.file.warm()
        store.file.save_index()
    return file


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The memory, with its index resident; benchmarks only read it."""
    with memstore.open(path) as store:
        store.file.warm()
        yield store


@pytest.fixture
def growing(path: Path, tmp_path: Path) -> Iterator[Store]:
    """A copy of the memory, for benchmarks that write."""
    for file in path.parent.glob(f"{path.name}*"):
        to = tmp_path / file.name
        shutil.copytree(file, to) if file.is_dir() else shutil.copyfile(file, to)
    with memstore.open(tmp_path / path.name) as store:
        store.file.warm()
        yield store
