"""The system's Chromium, driven by Playwright; what it says and asks for is recorded."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def executable() -> str:
    """Return the path of Chromium; skip the test where there is none, but fail in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("CI has to have Chromium")
        pytest.skip("needs Chromium")
    return found


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """Yield a running browser of Playwright."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=executable(), args=["--no-sandbox", "--disable-gpu", *flags]
        )
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """What a page did that it should not: its console, errors, dialogs, requests elsewhere."""

    def __init__(self, page: Any, origin: str) -> None:
        self.complaints: list[str] = []
        page.on("console", lambda message: self._hear(message.text))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self._check(request.url, origin))

    def _hear(self, text: str) -> None:
        if "Clear-Site-Data" not in text:  # Chromium says that it did what sign-out asks for
            self.complaints.append(f"console: {text}")

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, url: str, origin: str) -> None:
        if not url.startswith((f"{origin}/", "file:")):
            self.complaints.append(f"request: {url}")
