"""A disk is really unmounted, in a user namespace, and mounted again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


def _can_mount() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        sys.platform != "linux" or not _can_mount(), reason="needs a namespace of its own to mount"
    ),
]

# The file system with the memory stays: it is bound to another folder.
MOUNTS = """
set -e
mount -t tmpfs none "$1/real"
mkdir "$1/real/disk"
mount -t tmpfs none "$1/real/disk"
mount --bind "$1/real/disk" "$1/disk"
exec "$2" "$3" "$1"
"""

UNDER_A_SERVER = """
import subprocess, sys
from pathlib import Path
from tests.process.conftest import RawClient

folder = Path(sys.argv[1])
path = folder / "disk" / "memory.db"
client = RawClient(path, "--embedder", "none", "--namespace", "default")
client.hello()
client.call("memory_store", content="before", subject="s")
for turn in range(2):
    subprocess.run(["umount", "-l", path.parent], check=True)
    for _ in range(2):
        assert repr(str(path)) in client.error("memory_store", content="void", subject="s")
    assert list(path.parent.iterdir()) == []
    subprocess.run(["mount", "--bind", folder / "real" / "disk", path.parent], check=True)
    client.call("memory_store", content=f"after {turn}", subject="s")
found = client.call("memory_list")["facts"]
assert sorted(fact["content"] for fact in found) == ["after 0", "after 1", "before"], found
subprocess.run(["umount", path.parent], check=False)
client.close()
"""

BEFORE_A_START = """
import json, subprocess, sys
from pathlib import Path

folder = Path(sys.argv[1])
path = folder / "disk" / "memory.db"
transcript = folder / "session.jsonl"
said = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user",
        "content": "Staging moves to port 5499 on Friday."}}
transcript.write_text(json.dumps(said) + "\\n")
event = {"session_id": "s", "transcript_path": str(transcript), "cwd": str(folder)}

def run(*words, given=""):
    return subprocess.run([sys.executable, "-m", "memstore", *words, "--db", str(path)],
                          input=given, capture_output=True, text=True)

added = run("add", "before", "--subject", "s")
assert added.returncode == 0, added.stderr
subprocess.run(["umount", path.parent], check=True)
refused = run("add", "void", "--subject", "s")
assert refused.returncode != 0
assert f"it was on the disk at '{path.parent}', which is not mounted" in refused.stderr
assert "Mount it; or name another file with --db." in refused.stderr
kept = run("hook", "keep", "--host", "claude-code", given=json.dumps(event))
assert (kept.returncode, "not mounted" in kept.stderr) == (0, True), kept.stderr
assert list(path.parent.iterdir()) == []
subprocess.run(["mount", "--bind", folder / "real" / "disk", path.parent], check=True)
kept = run("hook", "keep", "--host", "claude-code", given=json.dumps(event))
assert kept.stderr == ""
assert "5499" in run("episode", "list").stdout
assert "before" in run("list").stdout
path.unlink()  # for good: its disk is mounted
assert run("add", "anew", "--subject", "s").returncode == 0
subprocess.run(["umount", path.parent], check=True)
path.touch()  # the folder itself is used from now on
assert run("add", "on another disk", "--subject", "s").returncode == 0
path.unlink()
assert run("add", "anew", "--subject", "s").returncode == 0
"""


@pytest.mark.parametrize("program", [UNDER_A_SERVER, BEFORE_A_START], ids=["server", "start"])
def test_nothing_is_created_in_the_folder_of_an_unmounted_disk(
    tmp_path: Path, program: str
) -> None:
    for name in ("real", "disk"):
        (tmp_path / name).mkdir()
    script = tmp_path / "script.py"
    script.write_text(program)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMSTORE_")}
    environment |= {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "HOME": str(tmp_path),
    }
    command = ["sh", "-c", MOUNTS, "sh", str(tmp_path), sys.executable, str(script)]
    done = subprocess.run(
        [*UNSHARE, *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
