"""Other users of the file in the same process: another SQLite, or a plain ``open()``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.raw import raw

import memstore
from memstore._kernel import locks

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there, locks belong to a handle"),
]

STRANGER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=0.1) as there:
    try:
        there.execute("UPDATE memstore_meta SET value = value")
    except sqlite3.OperationalError as error:
        print(error)
"""


def run(code: str, *argv: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, argv)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def contents(path: Path) -> list[str]:
    with memstore.open(path, embedder=None) as store:
        assert store.file.doctor() == []
        return [fact.content for fact in store.list()]


FOREIGN = {
    "another SQLite": "there = sqlite3.connect(path)\n"
    "there.execute('SELECT 1 FROM memstore_facts').fetchone()\nthere.close()",
    "another SQLite that writes": "there = sqlite3.connect(path)\n"
    "there.execute('UPDATE memstore_meta SET value = value')\nthere.commit()\nthere.close()",
    "a reader of bytes": "open(path, 'rb').read()",
    "a reader of the log": "open(path + '-wal', 'rb').read()\nopen(path + '-shm', 'rb').read()",
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=list(FOREIGN))
def test_acknowledged_writes_survive_other_users_in_the_process(path: Path, foreign: str) -> None:
    done = run(
        "import memstore, os, signal, sqlite3, sys\n"
        "path = sys.argv[1]\n"
        "store = memstore.open(path, embedder=None)\n"
        "store.add('base', subject='a')\n"
        f"{foreign}\n"
        "for n in range(20):\n    store.add(f'fact {n}', subject='a')\n"
        "os.kill(os.getpid(), signal.SIGKILL)",
        path,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert contents(path) == ["base", *(f"fact {n}" for n in range(20))]


def test_closing_a_store_keeps_the_locks_of_others(path: Path) -> None:
    code = (
        "import memstore, sqlite3, subprocess, sys\n"
        "store = memstore.open(sys.argv[1], embedder=None)\n"
        "store.add('base', subject='a')\n"
        "there = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "there.execute('BEGIN IMMEDIATE')\n"
        "store.close()\n"
        "subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]], check=True)\n"
        "there.execute('ROLLBACK')"
    )
    done = run(code, path, STRANGER)
    assert (done.stdout, done.stderr) == ("database is locked\n", "")


def test_locks_end_with_their_process_even_if_a_child_lives_on(path: Path) -> None:
    code = (
        "import memstore, os, signal, sys, time\n"
        "store = memstore.open(sys.argv[1], embedder=None)\n"
        "store.add('base', subject='a')\n"
        "with store.file.engine.write():\n"
        "    read, write = os.pipe()\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os.close(write)\n"
        "        os.read(int(sys.argv[2]), 1)\n"  # until the test is done with it
        "        os._exit(0)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    until, done = os.pipe()
    process = subprocess.run(
        [sys.executable, "-c", code, str(path), str(until)],
        pass_fds=[until],
        timeout=60,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.returncode == -signal.SIGKILL
    os.close(until)
    with memstore.open(path, embedder=None, wait_seconds=1) as store:
        store.add("after", subject="a")
    os.close(done)
    assert contents(path) == ["base", "after"]


def test_a_child_that_closes_what_it_inherited_leaves_the_locks_alone(path: Path) -> None:
    code = (
        "import memstore, os, subprocess, sys\n"
        "store = memstore.open(sys.argv[1], embedder=None)\n"
        "store.add('base', subject='a')\n"
        "with store.file.engine.write():\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        store.close()\n"
        "        os.closerange(3, 100)\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
        "    subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]], check=True)"
    )
    assert run(code, path, STRANGER).stdout == "database is locked\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/locks")
def test_the_kernel_shows_locks_of_open_file_descriptions(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("base", subject="a")
        assert store.status().locks == "open file description"
        inode = path.stat().st_ino
        lines = Path("/proc/locks").read_text("utf-8").splitlines()
        ours = [line for line in lines if re.search(rf":{inode} ", line)]
        assert ours
        assert all("OFDLCK" in line for line in ours)


def test_system_without_description_locks_causes_a_warning(path: Path) -> None:
    code = (
        "import logging, memstore, sys\n"
        "from memstore._kernel import locks\n"
        "logging.basicConfig(format='%(levelname)s %(message)s')\n"
        "locks.pretend_process_locks(True)\n"
        "with memstore.open(sys.argv[1], embedder=None) as store:\n"
        "    store.add('base', subject='a')\n"
        "    store.add('more', subject='a')\n"
        "    print(store.status().locks)"
    )
    done = run(code, path)
    assert done.stdout == "process\n"
    assert done.stderr.count("WARNING") == 1
    assert "does not support locks on open file descriptions" in done.stderr


def test_a_file_already_open_in_apsw_is_refused(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("base", subject="a")
    code = (
        "import apsw, memstore, sys\n"
        "there = apsw.Connection(sys.argv[1])\n"
        "try:\n    memstore.open(sys.argv[1], embedder=None)\n"
        "except memstore.StorageError as error:\n    print(error.remedy.name)\n"
        "there.close()\n"
        "memstore.open(sys.argv[1], embedder=None).close()"
    )
    done = run(code, path)
    assert (done.stdout, done.returncode) == ("CLOSE_OTHERS\n", 0), done.stderr


def test_repeated_opening_alongside_another_store_keeps_few_descriptors(path: Path) -> None:
    memstore.open(path, embedder=None).close()
    with raw(path) as there:
        there.execute("SELECT * FROM memstore_meta").fetchall()
        before = len(os.listdir("/dev/fd"))
        for _ in range(50):
            with memstore.open(path, embedder=None) as store:
                store.count()
        assert len(os.listdir("/dev/fd")) < before + 20
    memstore.open(path, embedder=None).close()
    assert locks.locks_held()[2] == 0
