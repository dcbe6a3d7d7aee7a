"""The kernel under a memory limit: out of memory is an error and does not end the process."""

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
from memstore._kernel import vectors
from memstore._kernel.codes import Codes

blob = bytes(4 * 65_536)
ids = range(16_384)
matrix = np.zeros((8_192, 65_536), np.float32)  # two gigabytes that nobody has touched
codes = Codes(65_536)
codes.put(ids[:2], ids[:2], [blob] * 2)

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

refused(lambda: codes.put(ids, ids, [blob] * len(ids)))
assert len(codes) == 2
refused(lambda: codes.scan(matrix.data, 1))
refused(lambda: vectors.encode_many(matrix))
refused(lambda: vectors.decode_many([blob] * 2**15, 65_536))
assert vectors.decode_many(Liar(), 4).shape == (0, 4)
assert codes.scan(np.ones(65_536, np.float32).data, 2**62) == [[]]  # all zeros
codes.put(ids[:9], ids[:9], [blob] * 9)
assert len(codes) == 9
print("alive")
"""


def test_out_of_memory_is_an_error_and_the_process_continues() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "alive"), ended.stderr
