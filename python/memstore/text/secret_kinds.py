"""Our own rules for secrets, for kinds that gitleaks' rules lack or recognise only in part.

Each has the form of a rule in ``secret_rules.json``. ``docs/privacy.md`` lists them.
"""

from __future__ import annotations

from typing import Any, Final

ALONE: Final = r"(?<![A-Za-z0-9_-]){}(?![A-Za-z0-9_-])"


def _rule(kind: str, pattern: str, *keywords: str, **more: float) -> dict[str, Any]:
    return {"kind": kind, "pattern": pattern, "keywords": [*keywords], **more}


def _token(kind: str, start: str, rest: str, keyword: str = "", **more: float) -> dict[str, Any]:
    """Return a rule for a token that is known by how it starts."""
    return _rule(kind, ALONE.format(start + rest), (keyword or start).lower(), **more)


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
    _token(
        "tailscale-key", "tskey-", r"(?:[a-z]{2,20}-)?[A-Za-z0-9]{6,40}(?:-[A-Za-z0-9]{10,80})?"
    ),
    _token("voyage-api-key", "pa-", r"[A-Za-z0-9_-]{40,80}", entropy=4.0),
    _token("openai-api-key", "sk-", r"(?:[a-z]{2,10}-)?[A-Za-z0-9_]{32,200}", entropy=3.0),
    _token("pinecone-api-key", "pcsk_", r"[A-Za-z0-9_]{30,100}"),
    _token("tavily-api-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{24,60}"),
    _token("firecrawl-api-key", "fc-", r"[0-9a-f]{32}"),
    _token("jina-api-key", "jina_", r"[A-Za-z0-9_-]{40,80}"),
    _token("nvidia-api-key", "nvapi-", r"[A-Za-z0-9_-]{40,100}"),
    _token("cerebras-api-key", "csk-", r"[a-z0-9]{40,60}"),
    _token("fireworks-api-key", "fw_", r"[A-Za-z0-9]{20,60}", entropy=3.5),
    _token("elevenlabs-api-key", "sk_", r"[0-9a-f]{48}"),
    _token("resend-api-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,40}", entropy=3.5),
    _token("docker-access-token", "dckr_", r"(?:pat|oat)_[A-Za-z0-9_-]{20,60}"),
    _token("netlify-access-token", "nfp_", r"[A-Za-z0-9]{36,60}"),
    _token("neon-api-key", "napi_", r"[a-z0-9]{40,80}"),
    _token("render-api-key", "rnd_", r"[A-Za-z0-9]{28,60}"),
    _token("posthog-personal-api-key", "phx_", r"[A-Za-z0-9]{40,60}"),
    _token("notion-api-token", "secret_", r"[A-Za-z0-9]{43}", entropy=4.0),
    _rule(
        "langfuse-secret-key", r"\bsk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "sk-lf-"
    ),
    _rule(
        "slack-webhook-url",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,200})",
        "hooks.slack",
    ),
    _rule(
        "discord-webhook-url",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/(\d{5,25}/[A-Za-z0-9_-]{40,100})",
        "/webhooks/",
    ),
    _rule(
        "microsoft-teams-webhook",
        r"(?:webhook\.office\.com/webhookb2|outlook\.office\.com/webhook)/([^\s\"'<>)]{30,300})",
        "office.com/webhook",
    ),
    _rule(
        "webhook-url",  # of services that have an unguessable path or parameter
        r"(?:open\.(?:feishu|larksuite)\.\w{2,3}/open-apis/bot/v2/hook"
        r"|maker\.ifttt\.com/trigger/\w{1,60}/with/key|hook\.(?:\w{2}\d\.)?make\.com"
        r"|https?://[\w.:-]{3,100}/(?:api/webhook|hooks))"
        r"/([A-Za-z0-9_/-]{0,40}[A-Za-z0-9_-]{16,200})",
        "hook",
        "ifttt.com",
        entropy=3.2,
    ),
    _rule(
        "webhook-url", r"hooks\.zapier\.com/hooks/catch/(\d{1,12}/[a-z0-9]{5,40})", "hooks.zapier"
    ),
    _rule(
        "webhook-url",
        r"(?:qyapi\.weixin\.qq\.com/cgi-bin/webhook/send|chat\.googleapis\.com/v1/spaces/[^\s?]{1,100}"
        r"|logic\.azure\.com[^\s?\"']{1,200}|api\.powerplatform\.com[^\s?\"']{1,300})"
        r"\?[^\s\"'<>]{0,200}?(?:key|sig)=([A-Za-z0-9_%-]{16,200})",
        "key=",
        "sig=",
    ),
    _rule(
        "signature-in-url",
        r"[?&](?:sig|Signature|X-Amz-Signature|X-Goog-Signature)=([A-Za-z0-9%/+_-]{32,600}=?)",
        "sig=",
        "signature=",
        entropy=3.0,
    ),
    _rule("token-in-url", r"\bhttps?://([A-Za-z0-9_-]{20,200})@[\w.-]", "://", entropy=3.2),
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
