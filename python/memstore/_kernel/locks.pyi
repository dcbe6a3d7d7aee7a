"""File locks for SQLite, and the identity of its files."""

from typing import Literal, Self, final

__all__ = [
    "OpenFiles",
    "file_created",
    "lock_is_seen",
    "lock_system_calls",
    "locks_held",
    "pretend_process_locks",
]

def file_created(path: str) -> int | None:
    """Return when a file was created, in nanoseconds since 1970.

    ``None`` if no file is there, it may not be looked at, or its file system does not say.
    """

def lock_system_calls() -> list[tuple[str, int]]:
    """Return replacements for SQLite's system calls, each with its name and address.

    Empty on Windows. The functions live as long as the process. The first call registers a fork
    handler.
    """

def lock_is_seen(path: str) -> bool | None:
    """Return whether others would see a lock held on a file by its open file description.

    ``None`` if that cannot be found out. False means that locks have no effect there, as on some
    network file systems.
    """

def locks_held() -> tuple[int, int, int]:
    """Count the files locked through the replacements, and descriptors kept open.

    Returns:
        Files whose locks belong to an open file description; files whose locks belong to the
        process, because the system offers nothing better; descriptors that stay open because other
        code in this process may hold locks on the file.
    """

def pretend_process_locks(pretend: bool) -> None:
    """Use process locks for files opened from now on, to test the fallback."""

@final
class OpenFiles:
    """Detects whether the files of an open database were removed or replaced.

    Args:
        path: the database; its log and the log's index are beside it.
    """

    def __new__(cls, path: str) -> Self: ...
    def remember(self) -> None:
        """Record the present files as the ones that were opened."""

    def changed(
        self,
    ) -> list[tuple[Literal["file", "log", "index"], Literal["removed", "replaced"]]]:
        """Return the files that are no longer the remembered ones, and why.

        Always empty on Windows, which neither removes nor renames a file that is open.
        """
