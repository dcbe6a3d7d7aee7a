"""Our own rules for secrets, for kinds that gitleaks' rules lack or recognise only in part.

Each has the form of a rule in ``secret_rules.json``. ``docs/mcp.md`` lists them.
"""

from __future__ import annotations

from typing import Any, Final

ALONE: Final = r"(?<![A-Za-z0-9_-]){}(?![A-Za-z0-9_-])"


def _rule(kind: str, pattern: str, *keywords: str, **more: float) -> dict[str, Any]:
    return {"kind": kind, "pattern": pattern, "keywords": [*keywords], **more}


def _token(kind: str, start: str, rest: str, keyword: str = "") -> dict[str, Any]:
    """Return a rule for a token that is known by how it starts."""
    return _rule(kind, ALONE.format(start + rest), (keyword or start).lower())


OWN_RULES: Final[tuple[dict[str, Any], ...]] = (
    _token("memstore-access-token", "mst_", r"[A-Za-z0-9_-]{20,}"),
    _token("groq-api-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _token("xai-api-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _token("openrouter-api-key", "sk-or-", r"(?:v\d-)?[0-9a-f]{48,}"),
    _token("replicate-api-token", "r8_", r"[A-Za-z0-9]{32,}"),
    _token("langsmith-api-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}(?:_[0-9a-f]{8,})?"),
    _token("supabase-access-token", "sbp_", r"[0-9a-f]{40,}"),
    _token("supabase-secret-key", "sb_secret_", r"[A-Za-z0-9_-]{20,}"),
    _token("figma-access-token", "figd_", r"[A-Za-z0-9_-]{36,}"),
    _token("huggingface-access-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _token("telegram-bot-token", r"\d{8,10}:AA", r"[A-Za-z0-9_-]{33}", ":aa"),
    _rule(
        "discord-bot-token",
        ALONE.format(r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
        ".",
        entropy=4.0,
    ),
    _rule("azure-account-key", r"(?i:AccountKey)=([A-Za-z0-9+/]{40,90}={0,2})", "accountkey="),
    _rule(
        "password-in-url",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,100}:([^\s/@\"'<>${}]{3,200})@",
        "://",
    ),
    _rule(
        "authorization-header",
        r"(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?i:bearer|basic|token)\s{1,3}"
        r"([A-Za-z0-9._~+/=-]{16,})",
        "authorization",
        entropy=3.0,
    ),
    _rule(
        "aws-secret-access-key",
        r"(?i:aws.{0,3}secret.{0,3}(?:access.{0,3})?key)[\"']?\s{0,3}[:=]?\s{0,3}[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws",
        entropy=3.5,
    ),
    _rule(
        "cloudflare-api-token",
        r"(?i:cloudflare|\bcf)[\w -]{0,20}(?i:token|key)[\"']?\s{0,3}[:=]?\s{0,3}[\"']?"
        r"([A-Za-z0-9_-]{37,40})(?![A-Za-z0-9_-])",
        "cloudflare",
        "cf_",
        "cf-",
        entropy=3.5,
    ),
    _rule(
        "private-key",  # whose end was cut off
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=]{16,}){1,1000}",
        "-----begin",
    ),
)
