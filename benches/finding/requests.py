"""Whether prompts that ask to be told something are told from orders, in twelve languages.

    python -m benches.finding.requests

``requests.txt`` has prompts with what each is, written by somebody who did not see the rules. The
prompts on the lines of even number, the first being 0, were looked at since; the others were not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

from memstore.telling.bearing import Prompt

FILE: Final = Path(__file__).with_suffix(".txt")
LABELS: Final = ("request", "order")


class Labelled(NamedTuple):
    label: str
    language: str
    text: str

    @property
    def is_asked(self) -> bool:
        """Whether it is read as asking for something that a memory may know."""
        return Prompt.read(self.text).is_question


def read() -> list[Labelled]:
    """Return the prompts of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Labelled(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def main() -> None:
    print(f"{'read as asking':<20}" + "".join(f"{label:>12}" for label in LABELS))
    prompts = read()
    for name, some in (("looked at", prompts[::2]), ("not looked at", prompts[1::2])):
        print(_row(name, some))
    for language in dict.fromkeys(one.language for one in prompts):
        print(_row(language, [one for one in prompts if one.language == language]))


def _row(name: str, prompts: Sequence[Labelled]) -> str:
    shares = (mean(one.is_asked for one in prompts if one.label == label) for label in LABELS)
    return f"{name:<20}" + "".join(f"{share:>12.2f}" for share in shares)


if __name__ == "__main__":
    main()
