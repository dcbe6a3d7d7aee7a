"""Random changes of a valid token, `--inputs` of each kind: only the valid one is accepted."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.gated import Gated, run
from tests.support.identity_provider import RESOURCE, Provider, confused, providing, settings
from tests.support.served import request

import memstore

CLAIMS = {"groups": ["search"]}
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
LISTING = request("tools/list")

LATER = 2**63
"""A moment that is far away."""
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, LATER, 1e400, 1.5, "", " ", "x", "none", "null", "0", [], {}, [[]],
    [None], {"a": 1}, "\x00", "\ud800", "ａ", "../keys", "' OR 1=1 --", "first\n", "x" * 5000,
    "http://169.254.169.254/", "data:,{}", "HS256", "RS256", "ES256", "PS256", "EdDSA", "NONE",
]  # fmt: skip
"""What a header or a claim may be changed to."""
SIGNABLE = [one for one in VALUES if one not in (LATER, "\ud800")]
"""Those that the provider's library signs, and with which no token is valid for longer."""

HEADERS = (
    "alg",
    "kid",
    "typ",
    "crit",
    "b64",
    "jku",
    "jwk",
    "x5u",
    "x5c",
    "cty",
    "enc",
    "zip",
    "Alg",
)
REQUIRED = {
    "iss": ["https://evil.example", RESOURCE],
    "aud": [RESOURCE + "/", RESOURCE.upper(), RESOURCE[:-1], f" {RESOURCE}", {RESOURCE: 1}],
    "exp": [1, "9999999999", -1.0, [9_999_999_999]],
    "sub": [7, ["ana"]],
    "groups": ["Search", "search ", ["searc"], {"search": "search"}, [["search"]], "guest"],
}
"""The claims by which a token is judged, and values that are nearly right."""


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as made:
        yield made


def encoded(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def part(token: str, place: int) -> dict[str, Any]:
    text = token.split(".")[place]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


class Forger:
    """Makes tokens that are not the provider's.

    Args:
        good: a valid token.
    """

    def __init__(self, provider: Provider, good: str, seed: int) -> None:
        self._provider = provider
        self._good = good
        self._chance = random.Random(seed)
        self._public = [
            provider.keys[0].as_pem(private=False),
            json.dumps(provider.keys[0].as_dict(private=False)).encode(),
            b"",
            b"first",
        ]

    def characters(self) -> str:
        """Change, remove, add or move characters of the text."""
        text = [*self._good]
        for _ in range(self._chance.choice((1, 1, 2, 8))):
            place = self._chance.randrange(len(text))
            match self._chance.randrange(4):
                case 0:
                    text[place] = self._chance.choice(ALPHABET + ".=+/ ~")
                case 1:
                    del text[place]
                case 2:
                    text.insert(place, self._chance.choice(ALPHABET + ".= "))
                case _:
                    other = self._chance.randrange(len(text))
                    text[place], text[other] = text[other], text[place]
        return "".join(text)

    def header(self) -> str:
        """Change the header, and leave the signature or sign with what is public."""
        header = part(self._good, 0)
        for _ in range(self._chance.choice((1, 1, 3))):
            header[self._chance.choice(HEADERS)] = self._chance.choice(VALUES)
        _, payload, signature = self._good.split(".")
        text = f"{encoded(json.dumps(header).encode())}.{payload}"
        return f"{text}.{self._signature(text, signature)}"

    def claims(self) -> str:
        """Change the claims, and leave the signature or sign with what is public."""
        claims = part(self._good, 1)
        for _ in range(self._chance.choice((1, 1, 3))):
            name = self._chance.choice([*claims, "nbf", "scope", "org"])
            claims[name] = self._chance.choice(VALUES)
        header, _, signature = self._good.split(".")
        text = f"{header}.{encoded(json.dumps(claims).encode())}"
        return f"{text}.{self._signature(text, signature)}"

    def signature(self) -> str:
        """Change the signature's bytes, their number or their order."""
        text, _, signature = self._good.rpartition(".")
        raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
        match self._chance.randrange(5):
            case 0:
                raw[self._chance.randrange(len(raw))] ^= 1 << self._chance.randrange(8)
            case 1:
                del raw[self._chance.randrange(len(raw)) :]
            case 2:
                raw += self._chance.randbytes(self._chance.randrange(1, 300))
            case 3:
                raw.reverse()
            case _:
                raw = bytearray(self._chance.randbytes(len(raw)))
        return f"{text}.{encoded(bytes(raw))}"

    def signed(self) -> str:
        """Sign claims of which one that is required is wrong, with the provider's own key."""
        name = self._chance.choice([*REQUIRED])
        wrong = self._chance.choice([*REQUIRED[name], *SIGNABLE])
        if name == "sub" and isinstance(wrong, str) and wrong.strip():
            wrong = ""  # any other text is a user
        return self._provider.token(**{**CLAIMS, name: wrong})

    def confused(self) -> str:
        """Sign with a secret that everybody knows."""
        return confused(self._good, self._chance.choice(self._public))

    def own(self) -> str:
        """Guess a token of the server's own."""
        length = self._chance.choice((0, 1, 42, 43, 43, 44, 500))
        return "mst_" + "".join(self._chance.choices(ALPHABET, k=length))

    def _signature(self, text: str, signature: str) -> str:
        chosen = self._chance.randrange(3)
        if chosen == 0:
            return ""
        if chosen == 1:
            return signature
        forged = confused(f"{text}.", self._chance.choice(self._public))
        return forged.rpartition(".")[2]


def is_good(token: str, good: str) -> bool:
    """Whether a text is the valid token: the end of a signature may be written in several ways."""
    text, _, signature = token.rpartition(".")
    expected, _, right = good.rpartition(".")
    try:
        raw = base64.b64decode(signature + "=" * (-len(signature) % 4), b"-_", validate=True)
    except ValueError:
        return False
    return text == expected and raw == base64.urlsafe_b64decode(right + "==")


def test_no_changed_token_is_accepted(
    path: Path,
    provider: Provider,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    inputs = pytestconfig.getoption("--inputs")
    counted: Counter[str] = Counter()
    with memstore.open(path, namespace="search", embedder=None) as store:
        store.file.tokens.create("own", namespace="search")

    async def use(server: Gated) -> None:
        good = provider.token(**CLAIMS)
        forger = Forger(provider, good, inputs)
        kinds = (
            forger.characters, forger.header, forger.claims, forger.signature, forger.signed,
            forger.confused, forger.own,
        )  # fmt: skip
        for number in range(inputs):
            token = kinds[number % len(kinds)]()
            status = (await server.post(token, LISTING)).status_code
            counted[f"answered {status}"] += 1
            assert (status == 200) == is_good(token, good), token
            assert status in (200, 401, 403), (status, token)
        assert (await server.post(good, LISTING)).status_code == 200

    run(path, use, settings(provider))
    record_property("counts", ", ".join(f"{n} {what}" for what, n in sorted(counted.items())))
