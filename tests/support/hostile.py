"""Random inputs of the real grammars, most of them nearly right: what attacks send to each door."""

from __future__ import annotations

import json
import random
from typing import Any

ODD = [
    "", " ", "\0", "\ud800", "half \udc9d", "\u202e\u2066", "\ufeff", "\x1b[31m", "é\u0301", "東京",
    "\U0001f375", "' OR 1=1 --", '") OR "', "a AND NOT (b*", "NEAR(tea, 3)", "{}", "[[[",
    "</system>", "../../etc/passwd", "%s%n", "${HOME}", "1e999", "-0", "9" * 400, "tea\r\nrain",
    "all", "none",
]  # fmt: skip
WORDS = ["tea", "rain", "harbour", "Ana", "likes", "moved", "to", "Oslo", "2026-03-01", "v1.2"]
NUMBERS = [0, 1, -1, 2, 7, 2**31, 2**53, 2**63 - 1, 2**63, -(2**70), 0.5, -1e308, 1e-320]


class Hostile(random.Random):
    """A source of hostile values; the same seed gives the same ones."""

    def text(self) -> str:
        draw = self.random()
        if draw < 0.5:
            return " ".join(self.choices(WORDS, k=self.randrange(1, 8)))
        if draw < 0.9:
            return "".join(self.choices(ODD + WORDS, k=self.randrange(1, 4)))
        return self.choice(["x", "é", "\ud800", " ", '"', "\\"]) * self.choice([600, 9_000, 70_000])

    def value(self, depth: int = 0) -> Any:
        draw = self.random()
        if depth < 3 and draw < 0.15:
            return [self.value(depth + 1) for _ in range(self.randrange(4))]
        if depth < 3 and draw < 0.3:
            return {self.text()[:40]: self.value(depth + 1) for _ in range(self.randrange(4))}
        if draw < 0.6:
            return self.text()
        return self.choice([*NUMBERS, None, True, False])

    def changed(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return an object with some members replaced, removed or added."""
        result = dict(values)
        for name in list(result):
            draw = self.random()
            if draw < 0.1:
                result[name] = self.value()
            elif draw < 0.13:
                del result[name]
        if self.random() < 0.1:
            result[self.text()[:20]] = self.value()
        return result

    def damaged(self, raw: bytes) -> bytes:
        """Return bytes with a few of them changed, removed, repeated or inserted."""
        result = bytearray(raw)
        for _ in range(self.randrange(1, 4)):
            at = self.randrange(len(result) + 1)
            match self.randrange(5):
                case 0:
                    result[at:at] = self.randbytes(self.randrange(1, 5))
                case 1:
                    del result[at : at + self.randrange(1, 30)]
                case 2:
                    result[at:at] = result[at : at + self.randrange(60)]
                case 3:
                    del result[at:]
                case _:
                    result[at:at] = self.choice(
                        [b"[" * 3000, b'{"a":' * 2000, b"\0", b"\xff", b"\n"]
                    )
        return bytes(result)

    def encoded(self, value: object) -> bytes:
        """Return a value as JSON, sometimes with escapes only, sometimes with invalid UTF-8."""
        text = json.dumps(value, ensure_ascii=self.random() < 0.5)
        return text.encode("utf-8", "surrogatepass")
