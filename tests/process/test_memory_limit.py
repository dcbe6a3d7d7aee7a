"""The kernel under a limit of memory: what does not fit is an error, and not the process's end."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space"),
]

LIMITED = """
import collections.abc, resource
import numpy as np
from memstore import _kernel

blob = bytes(4 * 65_536)
ids = np.arange(8_192)
matrix = np.zeros((8_192, 65_536), np.float32)  # two gigabytes that nobody has touched
rows = _kernel.Rows(65_536)
rows.put_blobs(ids[:2], ids[:2], [blob] * 2)

class Liar(collections.abc.Sequence):
    def __len__(self): return 2**44
    def __getitem__(self, index): raise IndexError

with open("/proc/self/statm") as statm:
    taken = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**30, -1))

def refused(call):
    try:
        call()
    except MemoryError as error:
        return str(error)
    raise AssertionError("it had room")

told = refused(lambda: rows.put_blobs(ids, ids, [blob] * len(ids)))
assert told == "there is no memory for 8192 more rows", told
assert len(rows) == 2
refused(lambda: rows.put(ids, ids, matrix))
refused(lambda: rows.scan(matrix, 1))
refused(lambda: _kernel.encode_many(matrix))
refused(lambda: _kernel.decode_many([blob] * 2**15, 65_536))
assert _kernel.decode_many(Liar(), 4).shape == (0, 4)
found = rows.scan(np.ones((1, 65_536), np.float32), 2**62)
assert [len(hits) for hits in found[0]] == [0, 0]  # rows of zeros are like nothing
rows.put_blobs(ids[:9], ids[:9], [blob] * 9)
assert len(rows) == 9
print("alive")
"""


def test_what_does_not_fit_is_refused_and_the_process_goes_on() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "alive"), ended.stderr
