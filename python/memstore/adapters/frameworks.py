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
    "adk": Framework("google-adk", "1.26.0", "2.13.0"),
    "anthropic": Framework("anthropic", "0.86.0", "2.14.0"),
    "claude_agent": Framework("claude-agent-sdk", "0.1.66", "0.2.189"),
    "langchain": Framework("langchain-core", "0.3.0", "1.8.3"),
    "langgraph": Framework("langgraph-checkpoint", "2.0.19", "4.3.2"),
    "openai_agents": Framework("openai-agents", "0.8.0", "0.24.0"),
}
"""Adapter modules and their frameworks."""
