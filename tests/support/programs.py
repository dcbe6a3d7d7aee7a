"""Shared by the programs that tests start."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Letters:
    """An embedder that counts letters."""

    model = "letters-26"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[text.count(chr(97 + i)) + 0.5 for i in range(26)] for text in texts]
        return np.array(rows, dtype=np.float32)


LETTERS = f"""
from __future__ import annotations
import numpy as np
{inspect.getsource(Letters)}"""
"""The same, as the beginning of a program's text."""

KILLING = """
import ctypes, json, os, shutil, signal, sys
folder = sys.argv[1]
WRITE, SYNC, TRUNCATE, OPEN, REMOVE, RENAME = (1 << n for n in range(6))
KILLED = -1
faults = ctypes.CDLL(None)
faults.faults_disarm.restype = ctypes.c_uint64
faults.faults_arm.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int, ctypes.c_bool]

def in_child(call):
    # Runs it in a process of its own; returns how it ended, and its answer.
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(out)
            os.write(into, json.dumps(call()).encode())
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(into)
    with open(out, "rb") as answer:
        text = answer.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return None
    assert status == 0, "a child failed: see above"
    return json.loads(text)

def counted(path, place):
    faults.faults_watch(os.fsencode(os.path.dirname(path)), -1)
    faults.faults_arm(WRITE | SYNC | TRUNCATE | REMOVE | RENAME, place, KILLED, False)
    run_job(path)
    return faults.faults_disarm()

def fresh(name):
    os.mkdir(f"{folder}/{name}")
    for one in os.listdir(f"{folder}/base"):
        shutil.copy(f"{folder}/base/{one}", f"{folder}/{name}/{one}")
    return f"{folder}/{name}/memory.db"
"""
"""Functions of a program that kills its own job, `run_job(path)`, before a call on a file."""
