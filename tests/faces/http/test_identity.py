"""Tokens of an identity provider: what is accepted, what each gives access to, and its keys."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from joserfc.jwk import RSAKey
from tests.support.clock import ManualClock
from tests.support.gated import Gated, run
from tests.support.identity_provider import (
    KEYS,
    RESOURCE,
    Provider,
    confused,
    providing,
    settings,
)

import memstore
from memstore.errors import InvalidArgument
from memstore.faces.http import identity, provider_tokens
from memstore.faces.http.provider_tokens import is_jwt
from memstore.faces.starting.every_flag import main

METADATA_URL = "http://localhost:8765/.well-known/oauth-protected-resource/mcp"
SEARCH = {"groups": ["search"]}


@pytest.fixture(scope="module")
def provider() -> Any:
    with providing() as one:
        yield one


@pytest.fixture
def fresh() -> Any:
    """A provider whose keys a test may change."""
    with providing() as one:
        yield one


async def status(server: Gated, token: str) -> tuple[int, str]:
    answer = await server.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    return answer.status_code, answer.headers.get("www-authenticate", "")


def test_a_valid_token_reads_and_writes_in_its_namespace(path: Path, provider: Provider) -> None:
    async def use(server: Gated) -> None:
        token = provider.token(**SEARCH)
        await server.text(token, "memory_store", content="The kettle is blue", subject="kettle")
        assert "kettle" in await server.text(token, "memory_list")
        other = provider.token(org="acme")
        assert "kettle" not in await server.text(other, "memory_list")

    run(path, use, settings(provider))
    with memstore.open(path, namespace="search", embedder=None) as store:
        [fact] = store.of("all").list()
        assert (fact.user_id, fact.content) == ("ana", "The kettle is blue")
    with memstore.open(path, namespace="org-acme", embedder=None) as store:
        assert store.of("all").count() == 0


def test_a_refused_token_is_told_where_to_sign_in(path: Path, provider: Provider) -> None:
    async def use(server: Gated) -> None:
        code, challenge = await status(server, provider.token(seconds=-3600, **SEARCH))
        assert code == 401
        assert 'error="invalid_token", error_description="the token has expired"' in challenge
        assert f'resource_metadata="{METADATA_URL}"' in challenge
        without = await server.post(None, {})
        assert without.status_code == 401
        assert "invalid_token" not in without.headers["www-authenticate"]
        assert METADATA_URL in without.headers["www-authenticate"]
        for place in (METADATA_URL, METADATA_URL.removesuffix("/mcp")):
            found = await server.get(place)
            assert found.json() == {
                "resource": RESOURCE,
                "authorization_servers": [provider.issuer],
                "bearer_methods_supported": ["header"],
                "resource_name": "memstore",
            }
        assert (await server.get(f"{METADATA_URL}/other")).status_code == 404

    run(path, use, settings(provider))


def test_without_a_provider_there_is_no_metadata_and_a_jwt_is_unknown(path: Path) -> None:
    async def use(server: Gated) -> None:
        assert (await server.get(METADATA_URL)).status_code == 404
        token = jwt.encode({"sub": "ana"}, "x" * 32, algorithm="HS256")
        code, challenge = await status(server, token)
        assert (code, "resource_metadata" in challenge) == (401, False)

    run(path, use)


def forged(header: dict[str, Any], provider: Provider, **changes: Any) -> str:
    """Return a token with another header and the signature of the right one."""
    _, payload, signature = provider.token(**SEARCH, **changes).split(".")
    text = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{text}.{payload}.{signature}"


def refused_tokens(provider: Provider) -> dict[str, str]:
    public = provider.keys[0].as_pem(private=False)
    foreign = RSAKey.generate_key(2048, {"kid": "first", "alg": "RS256"})
    good = provider.token(**SEARCH)
    return {
        "signed by somebody else": provider.token(key=foreign, **SEARCH),
        "HS256 with the public key": confused(good, public),
        "HS256 with the public key's text": confused(
            good, json.dumps(provider.keys[0].as_dict(private=False)).encode()
        ),
        "none": forged({"alg": "none", "kid": "first"}, provider).rpartition(".")[0] + ".",
        "no algorithm": forged({"alg": None, "kid": "first"}, provider),
        "an algorithm that is not accepted": forged({"alg": "RS512", "kid": "first"}, provider),
        "an algorithm of another kind of key": forged({"alg": "ES256", "kid": "first"}, provider),
        "a list of algorithms": forged({"alg": ["RS256"], "kid": "first"}, provider),
        "a critical extension": forged({"alg": "RS256", "crit": ["x"], "x": 1}, provider),
        "another type": forged({"alg": "RS256", "typ": "logout+jwt", "kid": "first"}, provider),
        "another payload": good.replace(good.split(".")[1], provider.token().split(".")[1]),
        "no signature": good.rpartition(".")[0] + ".",
        "another audience": provider.token(audience="https://other.example", **SEARCH),
        "an audience that begins like ours": provider.token(audience=RESOURCE + "/x", **SEARCH),
        "no audience": provider.token(audience=[], **SEARCH),
        "another issuer": provider.token(issuer=provider.issuer + "/", **SEARCH),
        "expired": provider.token(seconds=-31, **SEARCH),
        "not valid yet": provider.token(nbf=99_999_999_999, **SEARCH),
        "of the future": provider.token(iat=99_999_999_999, **SEARCH),
        "never expiring": provider.token(exp=None, **SEARCH),
        "expiring at no number": provider.token(exp="soon", **SEARCH),
        "expiring at a text of digits": provider.token(exp="99999999999", **SEARCH),
        "valid from a text of digits": provider.token(nbf="0", **SEARCH),
        "expiring at infinity": provider.token(exp=1e400, **SEARCH),
        "without a subject": provider.token(sub=None, **SEARCH),
    }


def test_a_token_that_is_not_valid_is_refused(path: Path, provider: Provider) -> None:
    tokens = refused_tokens(provider)

    async def use(server: Gated) -> None:
        assert (await status(server, provider.token(**SEARCH)))[0] == 200
        found = {name: (await status(server, token))[0] for name, token in tokens.items()}
        assert found == dict.fromkeys(tokens, 401)

    run(path, use, settings(provider))


def test_clocks_may_differ_by_the_leeway(path: Path, provider: Provider) -> None:
    async def use(server: Gated) -> None:
        assert (await status(server, provider.token(seconds=-20, **SEARCH)))[0] == 200

    run(path, use, settings(provider))

    async def strict(server: Gated) -> None:
        assert (await status(server, provider.token(seconds=-20, **SEARCH)))[0] == 401

    run(path, strict, settings(provider, leeway_seconds=0))


def test_one_audience_among_several_is_enough(path: Path, provider: Provider) -> None:
    async def use(server: Gated) -> None:
        token = provider.token(audience=["account", RESOURCE], **SEARCH)
        assert (await status(server, token))[0] == 200

    run(path, use, settings(provider))


def test_claims_choose_a_row_and_give_no_more(path: Path, provider: Provider) -> None:
    async def use(server: Gated) -> None:
        guest = provider.token(groups=["guests"], namespace="other", access="write")
        answer = await server.post(
            guest,
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "memory_store", "arguments": {"content": "x", "subject": "y"}},
            },
        )
        assert answer.status_code == 403
        assert "insufficient_scope" in answer.headers["www-authenticate"]
        assert METADATA_URL in answer.headers["www-authenticate"]
        assert "read-only" in answer.text
        for claims in ({}, {"groups": "others"}, {"org": 7}, {"org": ""}, {"org": ["a", "b"]}):
            code, challenge = await status(server, provider.token(**claims))
            assert (code, "insufficient_scope" in challenge) == (403, True), claims

    run(path, use, settings(provider))


def test_scopes_narrow_a_row(tmp_path: Path, provider: Provider) -> None:
    scopes = {"read": "memory:read", "write": "memory:write"}
    text = settings(provider, scopes=scopes)
    file = tmp_path / "scopes.toml"
    file.write_text(text)
    read = identity.read(str(file))
    claims = {"sub": "ana", "groups": ["search"]}
    assert read.caller({**claims, "scope": "openid memory:write"}).access == "write"
    assert read.caller({**claims, "scp": ["memory:read"]}).access == "read"
    guest = {"sub": "ana", "groups": ["guests"], "scope": "memory:write"}
    assert read.caller(guest).access == "read"
    for scope in ("", "openid", None, 7):
        with pytest.raises(identity.NotGranted, match="lacks the scope memory:read"):
            read.caller({**claims, "scope": scope})
    assert read.metadata["scopes_supported"] == ["memory:read", "memory:write"]
    assert 'scope="memory:read memory:write"' in read.challenge


def test_a_caller_with_an_owner_reaches_no_other_owner(path: Path, provider: Provider) -> None:
    with memstore.open(path, embedder=None) as store:
        search = store.within("search")
        hers = search.add("Bo likes tea", subject="bo", user_id="bo")
        search.add("Bo's tea is green", subject="bo", user_id="bo", agent_id="bo")

    async def use(server: Gated) -> None:
        token = provider.token(**SEARCH)
        await server.text(token, "memory_store", content="Ana likes rum", subject="ana")
        found = await server.text(token, "memory_list")
        assert ("rum" in found, "tea" in found) == (True, False)
        for tool, arguments in {
            "memory_list": {"user_id": "bo"},
            "memory_search": {"query": "tea", "user_id": "bo", "agent_id": "bo"},
            "memory_delete": {"id": hers.id},
        }.items():
            result = await server.call(token, tool, **arguments)
            assert result["isError"], (tool, result)
            assert "tea" not in str(result)
        # An agent alone is this user's with that agent.
        await server.text(
            token, "memory_store", content="Ana has tea", subject="ana", agent_id="bo"
        )
        found = await server.text(token, "memory_search", query="tea", agent_id="bo")
        assert ("Ana has tea" in found, "Bo" in found) == (True, False)
        assert "rum" in await server.text(token, "memory_list", user_id="ana")

    run(path, use, settings(provider))


def test_own_tokens_work_while_the_provider_is_away(path: Path, fresh: Provider) -> None:
    fresh.away = True
    with memstore.open(path, embedder=None) as store:
        _, own = store.file.tokens.create("own", namespace="default")

    async def use(server: Gated) -> None:
        answer = await server.post(fresh.token(**SEARCH), {})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
        assert (await status(server, own))[0] == 200

    run(path, use, settings(fresh))


def test_a_new_key_is_read_at_once_and_random_keys_are_not(
    path: Path, fresh: Provider, manual_clock: ManualClock
) -> None:
    async def use(server: Gated) -> None:
        old = fresh.token(**SEARCH)
        assert (await status(server, old))[0] == 200
        assert fresh.asked.count(KEYS) == 1
        manual_clock.advance(provider_tokens.MIN_INTERVAL_SECONDS)
        fresh.rotate("second")
        assert (await status(server, fresh.token(**SEARCH)))[0] == 200
        assert fresh.asked.count(KEYS) == 2
        assert (await status(server, old))[0] == 401  # its key was withdrawn
        for number in range(20):
            unknown = forged({"alg": "ES256", "kid": f"k{number}"}, fresh)
            assert (await status(server, unknown))[0] == 401
        assert fresh.asked.count(KEYS) == 2
        fresh.rotate("third")
        manual_clock.advance(provider_tokens.MIN_INTERVAL_SECONDS)
        assert (await status(server, fresh.token(**SEARCH)))[0] == 200

    run(path, use, settings(fresh))


def test_keys_are_used_for_an_hour_while_the_provider_is_away(
    path: Path, fresh: Provider, manual_clock: ManualClock
) -> None:
    async def use(server: Gated) -> None:
        token = fresh.token(seconds=99_999, **SEARCH)
        assert (await status(server, token))[0] == 200
        fresh.away = True
        manual_clock.advance(provider_tokens.REFRESH_SECONDS + 1)
        asked = len(fresh.asked)
        assert (await status(server, token))[0] == 200
        assert len(fresh.asked) > asked
        manual_clock.advance(provider_tokens.MAX_AGE_SECONDS)
        assert (await status(server, token))[0] == 503
        fresh.away = False
        manual_clock.advance(provider_tokens.MIN_INTERVAL_SECONDS)
        assert (await status(server, token))[0] == 200

    run(path, use, settings(fresh))


@pytest.mark.parametrize(
    "published",
    [{}, {"keys": 7}, [], {"keys": [7, {"kty": "oct", "kid": "first", "k": "AAAA"}]}],
    ids=["nothing", "a number", "a list", "a secret"],
)
def test_what_is_no_key_is_not_used(path: Path, fresh: Provider, published: Any) -> None:
    fresh.published = published

    async def use(server: Gated) -> None:
        assert (await status(server, fresh.token(**SEARCH)))[0] in (401, 503)

    run(path, use, settings(fresh))


def test_metadata_of_another_issuer_is_not_used(path: Path, fresh: Provider) -> None:
    text = settings(fresh)
    url = fresh.issuer
    fresh.issuer = "https://other.example"

    async def use(server: Gated) -> None:
        assert (await status(server, fresh.token(issuer=url, **SEARCH)))[0] == 503

    run(path, use, text)


def test_a_token_without_a_key_id_needs_a_single_key(path: Path, fresh: Provider) -> None:
    def unnamed() -> str:
        pem = fresh.keys[0].as_pem(private=True)
        claims = jwt.decode(fresh.token(**SEARCH), options={"verify_signature": False})
        return jwt.encode(claims, pem, algorithm="RS256")

    async def use(server: Gated) -> None:
        assert (await status(server, unnamed()))[0] == 200

    run(path, use, settings(fresh))
    fresh.keys.append(RSAKey.generate_key(2048, {"kid": "more", "use": "sig", "alg": "RS256"}))

    async def several(server: Gated) -> None:
        assert (await status(server, unnamed()))[0] == 401

    run(path, several, settings(fresh))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issuer": "http://login.example.com"}, "must begin with https://"),
        ({"resource": "memory.example.com"}, "must look like"),
        ({"keys_url": "http://keys.example.com/x"}, "must begin with https://"),
        ({"algorithms": ["HS256"]}, "'HS256' is not one with a public key"),
        ({"algorithms": ["none"]}, "'none' is not one with a public key"),
        ({"algorithms": []}, "algorithms is a list"),
        ({"leeway_seconds": 61}, "a whole number from 0 to 60"),
        ({"leeway_seconds": True}, "a whole number from 0 to 60"),
        ({"scopes": {"read": "a b", "write": "c"}}, "is not one scope"),
        ({"scopes": {"read": "a"}}, "scopes: write is missing"),
        ({"scopes": {"admin": "a"}}, "there is no 'admin', only read, write"),
        ({"secret": "x"}, "there is no 'secret'"),
        ({"grants": []}, "without a row nobody is let in"),
        (
            {"grants": [{"claim": "a", "namespace": "n", "access": "all"}]},
            "row 1 of grants: access is read or write",
        ),
        ({"grants": [{"claim": "a", "namespace": "n"}]}, "row 1 of grants: access is missing"),
        (
            {"grants": [{"claim": "a", "namespace": "all", "access": "read"}]},
            "cannot be 'all'",
        ),
        (
            {"grants": [{"claim": "a", "namespace": "n", "access": "read", "values": "b"}]},
            "there is no 'values'",
        ),
    ],
)
def test_wrong_settings_are_named_at_the_start(
    tmp_path: Path, provider: Provider, changes: dict[str, Any], words: str
) -> None:
    file = tmp_path / "identity.toml"
    file.write_text(settings(provider, **changes))
    with pytest.raises(InvalidArgument) as raised:
        identity.read(str(file))
    assert words in str(raised.value)
    assert "identity.toml" in str(raised.value)


def test_a_settings_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"missing\.toml.* cannot be read"):
        identity.read(str(tmp_path / "missing.toml"))
    (tmp_path / "bad.toml").write_text("issuer = ")
    with pytest.raises(InvalidArgument, match=r"bad\.toml"):
        identity.read(str(tmp_path / "bad.toml"))


def test_a_claim_may_be_in_an_object_or_have_dots_in_its_name() -> None:
    row = identity.Grant(claim="realm_access.roles", value="x", namespace="n", access="read")
    assert row.applies({"realm_access": {"roles": ["x"]}})
    assert row.applies({"realm_access.roles": "x"})
    assert not row.applies({"realm_access": ["x"]})
    assert not row.applies({"realm_access": {"roles": "xy"}})


def test_own_secrets_are_not_taken_for_jwts() -> None:
    assert not is_jwt("mst_" + "a" * 43)
    assert not is_jwt("a.b.c")
    assert not is_jwt("YWJj.YWJj.YWJj")
    assert is_jwt(jwt.encode({}, "x" * 32, algorithm="HS256"))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "--identity, --metrics, --no-token, --pages go with --http"),
        (["--http", "127.0.0.1:0", "--no-token"], "--no-token lets everyone in"),
        (["--http", "127.0.0.1:0"], "algorithms is a list"),
    ],
)
def test_a_server_does_not_start_with_wrong_settings(
    tmp_path: Path,
    provider: Provider,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
    words: str,
) -> None:
    file = tmp_path / "identity.toml"
    file.write_text(settings(provider, algorithms=[]))
    with pytest.raises(SystemExit):
        main([*flags, "--identity", str(file)])
    assert words in capsys.readouterr().err
