"""Builds without the built-in model, which distributions make: docs/packaging.md."""

from __future__ import annotations

import pytest

from memstore.providers.local import HAS_MODEL


def skip_without_model(*, module: bool = False) -> None:
    """Skip a test, or the module that calls this, that needs the built-in model."""
    if not HAS_MODEL:
        pytest.skip("this build has no built-in model", allow_module_level=module)
