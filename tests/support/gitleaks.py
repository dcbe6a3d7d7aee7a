"""Makes ``memstore/text/secret_rules.json`` from gitleaks' own rules.

    go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1   # prints "Dir"
    python -m tests.support.gitleaks DIR/config/gitleaks.toml 8.30.1

Kept are the rules whose secrets are known by their own form, such as ``ghp_`` and 36 letters. See
``docs/decisions`` for those that are left out, and for what is changed in the others.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

RULES = Path(__file__).parents[2] / "python" / "memstore" / "text" / "secret_rules.json"

BY_NEIGHBOURHOOD = r"[\w.-]{0,50}?("
"""The start of patterns for random text near the name of a service."""

LEFT_OUT = {"generic-api-key", "curl-auth-header", "curl-auth-user", "sourcegraph-access-token"}
"""Any word behind "key", whole command lines, and any commit hash beside a name."""

CODE_END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
PROSE_END = r"""(?:[\x60'"\s;,.:!?)\]}<>*]|\\[nr]|$)"""
"""What may follow a secret: in prose also punctuation."""

BLOCK = r"[\s\S-]{64,}?"
BLOCK_UP_TO_NEXT = r"(?:(?!-----BEGIN)[\s\S]){64,}?"
"""The inside of a private key, up to the next one, or a text of many would take quadratic time."""

FLAG = "(?i)"


def kept(rule: dict[str, Any]) -> bool:
    pattern = rule.get("regex", "")
    return (
        bool(pattern and rule.get("keywords"))
        and "path" not in rule
        and BY_NEIGHBOURHOOD not in pattern
        and rule["id"] not in LEFT_OUT
    )


def translated(pattern: str) -> str:
    """Translate a pattern from Go's to Python's syntax."""
    pattern = pattern.replace(CODE_END, PROSE_END).replace(BLOCK, BLOCK_UP_TO_NEXT)
    pattern = pattern.replace(r"\z", r"\Z").replace("[:alnum:]", "a-zA-Z0-9")
    start = FLAG if pattern.startswith(FLAG) else ""
    pattern = pattern.removeprefix(FLAG)
    while (at := pattern.find(FLAG)) >= 0:  # holds to the end of its group
        end = _group_end(pattern, at + len(FLAG))
        inner = pattern[at + len(FLAG) : end]
        assert "|" not in re.sub(r"\[.*?\]|\(.*\)", "", inner), pattern
        pattern = f"{pattern[:at]}(?i:{inner}){pattern[end:]}"
    return start + pattern


def _group_end(pattern: str, at: int) -> int:
    depth, in_class = 0, False
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter == "(":
            depth += 1
        elif letter == ")":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return at


def made(config: dict[str, Any], version: str) -> dict[str, Any]:
    rules = []
    for rule in filter(kept, config["rules"]):
        allowed = [
            translated(pattern)
            for one in rule.get("allowlists", ())
            if one.get("regexTarget", "secret") in ("secret", "match") and "paths" not in one
            for pattern in one.get("regexes", ())
        ]
        words = [w for one in rule.get("allowlists", ()) for w in one.get("stopwords", ())]
        rules.append(
            {
                "kind": rule["id"],
                "pattern": translated(rule["regex"]),
                "keywords": [word.lower() for word in rule["keywords"]],
            }
            | ({"entropy": rule["entropy"]} if rule.get("entropy") else {})
            | ({"group": rule["secretGroup"]} if rule.get("secretGroup") else {})
            | ({"allowed": allowed} if allowed else {})
            | ({"stopwords": words} if words else {})
        )
    return {
        "source": f"gitleaks {version}, config/gitleaks.toml, MIT: see secret_rules.LICENSE",
        "allowed": [translated(pattern) for pattern in config["allowlist"]["regexes"]],
        "rules": rules,
    }


if __name__ == "__main__":
    source, version = sys.argv[1:]
    config = tomllib.loads(Path(source).read_text("utf-8"))
    RULES.write_text(json.dumps(made(config, version), indent=1) + "\n", "utf-8")
    RULES.with_suffix(".LICENSE").write_text(
        (Path(source).parents[1] / "LICENSE").read_text("utf-8"), "utf-8"
    )
