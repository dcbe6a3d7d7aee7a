"""The frameworks that adapters are for, and the versions they were tested with."""

from __future__ import annotations

from typing import Final

from memstore.frozen import frozen


@frozen
class Framework:
    """A framework with an adapter.

    Args:
        package: its name on the package index.
        lowest: the lowest version that passes the adapter's tests.
        newest: the newest version that was tested.
    """

    package: str
    lowest: str
    newest: str

    def missing(self, adapter: str) -> ImportError:
        """Return the error of an adapter whose framework is not installed, or is too old."""
        return ImportError(
            f"{adapter} needs {self.package}: pip install {self.package} "
            f"(tested with {self.lowest} to {self.newest})",
            name=adapter,
        )


FRAMEWORKS: Final[dict[str, Framework]] = {
    "anthropic": Framework("anthropic", "0.86.0", "2.14.0"),
}
"""Adapter modules and their frameworks."""
