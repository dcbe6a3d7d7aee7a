"""Texts that look like keys or tokens are found, other random texts are not."""

from __future__ import annotations

import json
import random
import re
import string
import uuid
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.domain.metadata import MAX_DEPTH
from memstore.domain.records import NewFact
from memstore.errors import InvalidArgument
from memstore.text import secrets
from memstore.text.secret_kinds import OWN_RULES
from memstore.text.secrets import RULES, Screen, find, noted, redacted

from tests.support.each import each_case  # isort: skip

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"


def made(alphabet: str, length: int, seed: int = 7) -> str:
    """A text that looks random; made here, so that no scanner takes this file for a leak."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


def key_block(kind: str) -> str:
    body = "\n".join(made(LETTERS + "+/", 64, line) for line in range(25))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


EXAMPLES = {
    "anthropic-api-key": "sk-ant-" + f"api03-{made(LETTERS, 93)}AA",
    "aws-access-token": "AKIA" + made(BASE32, 16),
    "databricks-api-token": "dapi" + made(HEX, 32),
    "gcp-api-key": "AIza" + made(LETTERS, 35),
    "github-fine-grained-pat": "github_pat_" + made(LETTERS, 82),
    "github-pat": "ghp_" + made(LETTERS, 36),
    "gitlab-pat": "glpat-" + made(LETTERS, 20),
    "huggingface-access-token": "hf_" + made(string.ascii_letters, 34),
    "jwt": f"ey{made(LETTERS, 34)}.ey{made(LETTERS, 60)}.{made(LETTERS, 43)}",
    "npm-access-token": "npm_" + made(LETTERS, 36),
    "openai-api-key": f"sk-proj-{made(LETTERS, 74)}T3Blbk" + f"FJ{made(LETTERS, 74)}",
    "private-key": key_block("RSA "),
    "sendgrid-api-token": "SG." + made(LETTERS, 66),
    "slack-bot-token": f"xoxb-{made('123456789', 12)}-{made('123456789', 12)}-{made(LETTERS, 24)}",
    "stripe-access-token": "sk_live_" + made(LETTERS, 24),
}
SENTENCES = (
    "{}",
    "Alice's key is {}.",
    "the key ({}), which she got in May",
    'curl -H "Authorization: Bearer {}"',
    "KEY={}\nREGION=eu",
    "キーは {} です",
)


OWN_EXAMPLES = {
    "memstore-access-token": "mst_" + made(LETTERS, 43),
    "groq-api-key": "gsk_" + made(LETTERS, 52),
    "xai-api-key": "xai-" + made(LETTERS, 80),
    "openrouter-api-key": "sk-or-" + f"v1-{made(HEX, 64)}",
    "replicate-api-token": "r8_" + made(LETTERS, 37),
    "langsmith-api-key": "lsv2_" + f"pt_{made(HEX, 32)}_{made(HEX, 10)}",
    "supabase-access-token": "sbp_" + made(HEX, 40),
    "supabase-secret-key": "sb_secret_" + made(LETTERS, 31),
    "figma-access-token": "figd_" + made(LETTERS, 40),
    "huggingface-access-token": "hf_" + made(LETTERS, 34),
    "telegram-bot-token": f"{made('123456789', 10)}:AA{made(LETTERS, 33)}",
    "discord-bot-token": f"MT{made(LETTERS, 24)}.{made(LETTERS, 6)}.{made(LETTERS, 38)}",
}
"""Tokens that are known by their start."""

BESIDE_EXAMPLES = {
    "azure-account-key": ("DefaultEndpointsProtocol=https;AccountKey={}", made(LETTERS, 86) + "=="),
    "password-in-url": ("postgres://user:{}@db.example/app", "hunter2"),
    "authorization-header": ("Authorization: Bearer {}", made(LETTERS, 40)),
    "aws-secret-access-key": ("AWS_SECRET_ACCESS_KEY={}", made(LETTERS + "/+", 40)),
    "cloudflare-api-token": ("CLOUDFLARE_API_TOKEN={}", made(LETTERS, 40)),
}
"""Secrets that are known by what stands beside them, which is kept."""


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", OWN_EXAMPLES)
def test_a_token_of_our_own_kinds_is_redacted(kind: str, sentence: str) -> None:
    text = sentence.format(OWN_EXAMPLES[kind])
    assert redacted(text, find(text)) == sentence.format(f"[redacted {kind}]")


@pytest.mark.parametrize("kind", BESIDE_EXAMPLES)
def test_a_secret_is_redacted_and_what_tells_its_kind_is_kept(kind: str) -> None:
    sentence, secret = BESIDE_EXAMPLES[kind]
    text = f"see {sentence.format(secret)} in the log"
    told = redacted(text, find(text))
    assert told == f"see {sentence.format(f'[redacted {kind}]')} in the log"


@pytest.mark.parametrize("kind", [*EXAMPLES, *OWN_EXAMPLES])
@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff"])
def test_an_invisible_character_inside_hides_no_secret(kind: str, hidden: str) -> None:
    secret = (EXAMPLES | OWN_EXAMPLES)[kind]
    middle = len(secret) // 2
    text = f"caf\u00e9 {hidden} key: {secret[:middle]}{hidden}{secret[middle:]} and {hidden}more"
    assert (
        redacted(text, find(text)) == f"caf\u00e9 {hidden} key: [redacted {kind}] and {hidden}more"
    )


def test_a_private_key_without_its_end_is_redacted() -> None:
    cut = key_block("RSA ")[:900]
    assert redacted(f"key: {cut}", find(f"key: {cut}")) == "key: [redacted private-key]"


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user@db.example/app",
        "postgres://user:${PASSWORD}@db.example/app",
        "see https://example.org/a:b/c@d",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "AccountKey=<your key>",
        "the r8_ prefix, hf_hub and gsk_ are names",
        "-----BEGIN PRIVATE KEY----- begins a key",
        "cloudflare token: see the dashboard",
    ],
)
def test_a_placeholder_is_no_secret(text: str) -> None:
    assert find(text) == []


def test_the_documentation_lists_our_own_kinds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text("utf-8")
    for rule in OWN_RULES:
        assert f"`{rule['kind']}`" in page


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", EXAMPLES)
def test_only_the_secret_is_redacted(kind: str, sentence: str) -> None:
    text = sentence.format(EXAMPLES[kind])
    found = find(text)
    assert [secret.kind for secret in found] == [kind]
    assert redacted(text, found) == sentence.format(f"[redacted {kind}]")


def test_each_secret_is_redacted_with_its_kind() -> None:
    text = " and ".join(EXAMPLES.values())
    told = redacted(text, find(text))
    assert told == " and ".join(f"[redacted {kind}]" for kind in EXAMPLES)


def ordinary(number: int) -> str:
    """One line of ten thousand: prose with what is random in it and no secret."""
    chance = random.Random(number)
    words = "the key token secret api password commit of her build deploy hash session id is was "
    prose = " ".join(chance.choices(words.split(), k=8))
    said = (
        f"commit {chance.randbytes(20).hex()}",
        f"sha256:{chance.randbytes(32).hex()}",
        f"api key {uuid.UUID(bytes=chance.randbytes(16))}",
        f"md5={chance.randbytes(16).hex().upper()}",
        f"token: {chance.randbytes(chance.randint(2, 40)).hex()}",
        f"at 0x{chance.randbytes(8).hex()} in {chance.randint(1, 10**9)} ms",
        f"https://github.com/alice/site/commit/{chance.randbytes(20).hex()}",
        f"order SK-{chance.randint(10**5, 10**9)}, see s.{chance.randint(1, 99)}",
        f"password={''.join(chance.choices(string.ascii_lowercase, k=12))}",
        f"secret_{chance.choice(words.split())}_key = os.environ['API_KEY_{number}']",
    )
    return f"{prose} {said[number % len(said)]} {prose}"


def test_hexadecimal_uuids_and_hashes_are_not_secrets() -> None:
    lines = [ordinary(number) for number in range(10_000)]
    assert [(line, found) for line in lines if (found := find(line))] == []


@given(st.text())
def test_redaction_leaves_the_rest_of_any_text(text: str) -> None:
    found = find(text)
    told = redacted(text, found)
    assert (told == text) == (not found)
    whole = f"{text} {EXAMPLES['github-pat']} {text}"
    assert "[redacted github-pat]" in redacted(whole, find(whole))


@given(st.uuids(), st.binary(max_size=80))
def test_uuids_and_hexadecimal_pass(one: uuid.UUID, some: bytes) -> None:
    assert find(f"key {one} token {some.hex()} secret {some.hex().upper()}") == []


def rules() -> list[dict[str, Any]]:
    return [*json.loads(Path(RULES).read_text("utf-8"))["rules"], *OWN_RULES]


def test_every_rule_can_be_used() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rule in rules():
            compiled = re.compile(rule["pattern"], re.ASCII)
            assert rule.get("group", 0) <= compiled.groups
            assert rule["keywords"] == [word.lower() for word in rule["keywords"]]
    assert len(rules()) > 100
    assert {rule["kind"] for rule in rules()} >= EXAMPLES.keys()


def test_documented_examples_are_not_secrets() -> None:
    assert find("AKIA" + "IOSFODNN7EXAMPLE") == []
    assert find("ghp_" + "x" * 36) == []


def test_record_without_redaction_is_the_same_object() -> None:
    new = NewFact(content=EXAMPLES["github-pat"], subject="s")
    assert Screen("keep").record(new) is new
    clean = NewFact(content="a fact", subject="s", metadata={"a": [1, {"b": "c"}]})
    assert Screen("redact").record(clean) is clean


def test_every_text_of_a_record_is_redacted_and_noted() -> None:
    key, other = EXAMPLES["github-pat"], EXAMPLES["aws-access-token"]
    new = NewFact(content=f"it is {key}", subject="s", metadata={"a": [{key: other}, 3]})
    with noted() as kinds:
        screened = Screen("redact").record(new)
    assert screened.content == "it is [redacted github-pat]"
    assert screened.metadata == {"a": [{"[redacted github-pat]": "[redacted aws-access-token]"}, 3]}
    assert kinds == {"github-pat", "aws-access-token"}


def test_a_refusal_names_the_kind_and_not_the_secret() -> None:
    key = EXAMPLES["github-pat"]
    with pytest.raises(InvalidArgument) as caught:
        Screen("refuse").record(NewFact(content="c", subject="s", metadata={"k": key}))
    assert str(caught.value) == "metadata holds what looks like a secret (github-pat)"


def test_too_deep_metadata_is_left_to_the_depth_check() -> None:
    deep: Any = EXAMPLES["github-pat"]
    for _ in range(50 * MAX_DEPTH):
        deep = [deep]
    assert Screen("redact").value(deep, "metadata") is deep


def test_rules_are_loaded_on_first_use() -> None:
    secrets._rules.cache_clear()
    Screen("keep").value("key", "content")
    assert secrets._rules.cache_info().currsize == 0
    Screen("redact").value("key", "content")
    assert secrets._rules.cache_info().currsize == 1


FOLDER = Path(__file__).parent / "secret_texts"

PASSWORDS = ("vTq9plumHb", "hunter2", "S3cret!Pa55", "kZ8#mq2-Lw", "Tr0ub4dor&3", made(HEX, 16))
KEYS = (made(LETTERS, 26), made(HEX, 32), made(LETTERS, 40, 2), f"sk-{made(HEX, 32)}")


def lines(name: str) -> list[str]:
    texts = (FOLDER / name).read_text("utf-8").splitlines()
    return [text.replace("\\n", "\n") for text in texts if not text.startswith("#")]


def secrets_of(form: str) -> tuple[str, tuple[str, ...], str]:
    """What stands before the secret of a form, each of its secrets, and what follows."""
    before, secret, after = re.split("[«»]", form)
    return before, {"P": PASSWORDS, "K": KEYS}.get(secret, (secret,)), after


@pytest.mark.parametrize("form", lines("forms.txt"))
def test_a_secret_that_a_name_tells_is_redacted_and_the_rest_stays(form: str) -> None:
    before, examples, after = secrets_of(form)
    with each_case() as told:
        for secret, around in product(examples, ("", "Ana says that this works:\n", "x " * 500)):
            text = f"{around}{before}{secret}{after}"
            with told(secret, around[:9]):
                kept = redacted(text, find(text))
                assert secret not in kept
                begins = re.escape(around + before)
                assert re.fullmatch(begins + r".*\[redacted [a-z-]+\].*", kept, re.S)
                assert kept.endswith(after)


def test_five_hundred_harmless_texts_stay_whole() -> None:
    texts = lines("harmless.txt")
    assert len(set(texts)) >= 500
    assert len(lines("forms.txt")) >= 150
    assert [(text, redacted(text, found)) for text in texts if (found := find(text))] == []
    together = "\n\n".join(texts)
    assert find(together) == []


def test_a_member_of_an_object_is_known_by_its_key() -> None:
    given = {"password": "vTq9plumHb", "user": "vTq9plumHb", "headers": {"X-Api-Key": KEYS[0]}}
    assert Screen("redact").value(given, "metadata") == {
        "password": "[redacted password]",
        "user": "vTq9plumHb",
        "headers": {"X-Api-Key": "[redacted api-key]"},
    }
    kept = {"token": "string", "password": "$PW", "max_tokens": "4096x2"}
    assert Screen("redact").value(kept, "metadata") is kept
    with pytest.raises(InvalidArgument):
        Screen("refuse").value(given, "metadata")


HOSTILE = (
    "password",
    "password=",
    "password: ",
    "passwordpassword_",
    "api key ",
    "token is ",
    "the password for a b c ",
    "-p ",
    "curl -u ",
    "mysql \\\n -p",
    "a" * 50 + "_",
    '"key", ',
    "://a:",
    "https://hooks.x/hooks/",
    "\\\\\\'secret",
    "token:\n ",
    "login a password ",
)


@pytest.mark.parametrize("part", HOSTILE)
def test_a_hostile_text_is_searched_in_linear_time(part: str) -> None:
    find(part * (200_000 // len(part)))  # quadratic time would take hours
