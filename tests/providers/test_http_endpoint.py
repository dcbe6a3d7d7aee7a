"""The endpoint: retries, deadlines, error texts, and no secrets in these."""

from __future__ import annotations

import base64
import gc
import json
import logging
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clock import ManualClock, wait_until

from memstore.errors import (
    EmbedderError,
    EmbedderRejected,
    EmbedderUnavailable,
    MemstoreError,
    Remedy,
)
from memstore.providers import http
from memstore.providers.http import ModelEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-proj-0123456789abcdef"


class Pauses(list[float]):
    """Replaces ``clock.sleep`` and records the requested pauses."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def endpoint(server: Any, pauses: Pauses) -> Iterator[ModelEndpoint]:
    made = ModelEndpoint(server.url, timeout_seconds=5.0, sleep=pauses)
    yield made
    made.close()


def refusal(status: int, body: object = None, **headers: str) -> Callable[[Any], None]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda asked: asked.answer(body or {"error": "no"}, status=status, headers=named)


def fine(asked: Any) -> None:
    asked.answer({"fine": True})


def drip_body(asked: Any, stopped: threading.Event) -> None:
    asked.begin(200, {"Content-Length": "1000"})
    while asked.send(b" ") and not stopped.wait(0.05):
        pass
    asked.hang_up()


def drip_headers(asked: Any, stopped: threading.Event) -> None:
    asked.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while asked.send(b"a") and not stopped.wait(0.05):
        pass
    asked.hang_up()


def say_nothing(asked: Any, stopped: threading.Event) -> None:
    stopped.wait(60)


def test_post_sends_json_and_returns_the_object(server: Any, endpoint: ModelEndpoint) -> None:
    server.reply({"grüße": ["日本", 1.5]})
    assert endpoint.post_json("/api/x", {"in": "日本 \ud800"}) == {"grüße": ["日本", 1.5]}
    assert server.asked[0].target == "/api/x"
    assert server.asked[0].body == {"in": "日本 \ud800"}
    assert server.asked[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", sorted(http.RETRIED_STATUSES))
def test_transient_status_is_retried(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses, status: int
) -> None:
    server.play(refusal(status), fine)
    assert endpoint.post_json("/x", {}) == {"fine": True}
    assert len(pauses) == 1


def test_transient_status_three_times_is_unavailable(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses
) -> None:
    server.play(refusal(500, {"error": {"message": "out of memory"}}))
    with pytest.raises(EmbedderUnavailable, match=r"answered 500 \(3 attempts\): out of memory"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 3
    first, second = pauses
    assert http.BACKOFF_SECONDS / 2 <= first <= http.BACKOFF_SECONDS <= second
    assert second <= 2 * http.BACKOFF_SECONDS


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_other_refusal_is_rejected_at_once(
    server: Any, endpoint: ModelEndpoint, status: int
) -> None:
    server.play(refusal(status), fine)
    with pytest.raises(EmbedderRejected, match=f"answered {status}: no"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [501, 505])
def test_other_server_error_is_unavailable_at_once(
    server: Any, endpoint: ModelEndpoint, status: int
) -> None:
    server.play(refusal(status), fine)
    with pytest.raises(EmbedderUnavailable):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 1


def test_redirect_is_not_followed(server: Any, endpoint: ModelEndpoint) -> None:
    server.play(refusal(307, Location=f"{server.url}/y"), fine)
    with pytest.raises(EmbedderUnavailable, match="redirect"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 1


def test_retry_after_seconds_is_honoured(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses
) -> None:
    server.play(refusal(429, Retry_After="2"), fine)
    endpoint.post_json("/x", {})
    assert pauses == [2.0]


def test_retry_after_date_counts_from_the_servers_clock(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses
) -> None:
    then, later = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:03 GMT"
    server.play(refusal(503, Date=then, Retry_After=later), fine)
    endpoint.post_json("/x", {})
    assert pauses == [3.0]


@pytest.mark.parametrize("asked", ["soon", "", "-5", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_unreadable_retry_after_keeps_the_usual_pause(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses, asked: str
) -> None:
    server.play(refusal(503, Retry_After=asked), fine)
    endpoint.post_json("/x", {})
    assert 0 < pauses[0] <= http.BACKOFF_SECONDS


@pytest.mark.parametrize("asked", ["60", "inf", "9" * 400])
def test_retry_after_beyond_the_deadline_ends_at_once(
    server: Any, endpoint: ModelEndpoint, pauses: Pauses, asked: str
) -> None:
    server.play(refusal(429, Retry_After=asked), fine)
    with pytest.raises(EmbedderUnavailable, match="answered 429"):
        endpoint.post_json("/x", {})
    assert not pauses
    assert len(server.asked) == 1


def test_refused_connection_is_unavailable_with_advice(deaf_url: str, pauses: Pauses) -> None:
    endpoint = ModelEndpoint(
        deaf_url, sleep=pauses, advise=lambda status, _: {None: Remedy.WAIT}[status]
    )
    with pytest.raises(
        EmbedderUnavailable, match=r"(?s)did not reply \(3 attempts\).*Try again later"
    ):
        endpoint.post_json("/x", {})
    endpoint.close()
    assert len(pauses) == 2


@pytest.mark.parametrize("reply", [drip_body, drip_headers, say_nothing])
def test_deadline_holds(
    server: Any, endpoint: ModelEndpoint, reply: Callable[[Any, threading.Event], None]
) -> None:
    server.play(fine, lambda asked: reply(asked, server.stopped))
    endpoint.post_json("/x", {})  # connects
    with pytest.raises(EmbedderUnavailable, match=r"(?s)in time.*timeout_seconds"):
        endpoint.post_json("/x", {}, timeout_seconds=0.3)
    assert len(server.asked) <= 2, "it is not asked again"


def test_unanswered_handshake_times_out_and_leaves_no_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = ModelEndpoint(f"https://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EmbedderUnavailable):
            endpoint.post_json("/x", {}, timeout_seconds=0.3)
        endpoint.close()
    gc.collect()  # a forgotten socket would warn here


def test_deadline_covers_all_attempts(server: Any, manual_clock: ManualClock) -> None:
    endpoint = ModelEndpoint(server.url, timeout_seconds=60, retries=1000)
    server.play(refusal(503))
    with pytest.raises(EmbedderUnavailable):
        endpoint.post_json("/x", {})
    endpoint.close()
    assert 20 < manual_clock.monotonic() < 60
    assert len(server.asked) == len(manual_clock.pauses) + 1


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_past_deadline_sends_no_request(
    server: Any, endpoint: ModelEndpoint, seconds: float
) -> None:
    server.play(fine)
    with pytest.raises(EmbedderUnavailable, match="in time"):
        endpoint.post_json("/x", {}, timeout_seconds=seconds)
    assert not server.asked


@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
def test_invalid_deadline_is_a_value_error(endpoint: ModelEndpoint, seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        endpoint.post_json("/x", {}, timeout_seconds=seconds)


def test_slow_answer_within_the_deadline_is_accepted(server: Any, endpoint: ModelEndpoint) -> None:
    server.play(lambda asked: (server.stopped.wait(0.1), fine(asked)))
    assert endpoint.post_json("/x", {}) == {"fine": True}


def test_connection_broken_in_the_body_is_retried(server: Any, endpoint: ModelEndpoint) -> None:
    def broken(asked: Any) -> None:
        asked.begin(200, {"Content-Length": "100"})
        asked.send(b'{"a":')
        asked.hang_up()

    server.play(broken, fine)
    assert endpoint.post_json("/x", {}) == {"fine": True}
    server.asked.clear()
    server.play(broken)
    with pytest.raises(EmbedderUnavailable, match="closed the connection in the middle"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 3


def test_connection_closed_without_a_reply_is_retried(server: Any, endpoint: ModelEndpoint) -> None:
    server.play(lambda asked: asked.hang_up(), fine)
    assert endpoint.post_json("/x", {}) == {"fine": True}


def test_truncated_json_is_retried(server: Any, endpoint: ModelEndpoint) -> None:
    server.reply(b'{"a": [1, 2')
    with pytest.raises(EmbedderUnavailable, match="cut off"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>Sign in</html>", "not JSON: <html>Sign in</html>"),
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "not an object"),
        (b"null", "not an object"),
    ],
)
def test_reply_that_is_not_an_object_is_reported_at_once(
    server: Any, endpoint: ModelEndpoint, body: bytes, says: str
) -> None:
    server.reply(body)
    with pytest.raises(EmbedderUnavailable, match=says):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 1


def test_reply_beyond_the_cap_is_refused(
    server: Any, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert http.REPLY_CAP_BYTES == 64 * 2**20
    monkeypatch.setattr(http, "REPLY_CAP_BYTES", 2**20)
    server.reply(b'{"a": "' + b"x" * 2**20 + b'"}')
    with pytest.raises(EmbedderUnavailable, match="more than 1 MiB"):
        endpoint.post_json("/x", {})
    assert len(server.asked) == 1
    server.reply({"still": "open"})
    assert endpoint.post_json("/x", {}) == {"still": "open"}


@pytest.mark.parametrize(
    "body",
    [
        {"error": "the reason"},
        {"error": {"message": "the reason", "code": 7}},
        {"type": "error", "error": {"type": "t", "message": "the reason"}},
        {"message": "the reason"},
        {"detail": "the reason"},
        b"the reason",
        b"the\r\n\x1b\x00 reason",
        "the reason",
    ],
)
def test_error_contains_the_providers_message(
    server: Any, endpoint: ModelEndpoint, body: object
) -> None:
    server.reply(body, status=400)
    with pytest.raises(EmbedderRejected, match=r"answered 400: the reason$"):
        endpoint.post_json("/x", {})


@pytest.mark.parametrize("body", [{}, {"error": None}, {"error": ["a"]}, b"", [], 3])
def test_error_without_a_message_names_the_status(
    server: Any, endpoint: ModelEndpoint, body: object
) -> None:
    server.reply(body, status=400)
    with pytest.raises(EmbedderRejected, match="answered 400"):
        endpoint.post_json("/x", {})


@given(words=st.text())
def test_provider_message_is_one_capped_printable_line(words: str) -> None:
    line = ModelEndpoint("http://h", headers={"x-key": KEY}).words_of({"error": words + KEY * 2})
    assert line.isprintable()
    assert len(line) <= http.QUOTED_CAP_CHARS
    assert KEY[:8] not in line.replace(words, "")


@pytest.mark.parametrize("before", range(270, 305, 3))
def test_error_cut_inside_the_key_shows_no_part_of_it(before: int) -> None:
    endpoint = ModelEndpoint("http://h", headers={"Authorization": f"Bearer {KEY}"})
    assert "sk-" not in endpoint.words_of({"error": "x" * before + KEY})


def test_secrets_are_never_shown_even_when_echoed(
    server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = server.url.replace("//", "//matt:pass%2Fword@")
    token = base64.b64encode(b"matt:pass/word").decode()
    endpoint = ModelEndpoint(address + "/base/", headers={"x-api-key": KEY}, retries=0)
    server.play(
        lambda asked: asked.answer(
            {"error": f"bad {KEY} pass/word pass%2Fword {asked.headers['authorization']}"},
            status=401,
        )
    )
    with pytest.raises(EmbedderRejected) as caught:
        endpoint.post_json("/x", {})
    endpoint.close()
    assert server.asked[0].headers["x-api-key"] == KEY
    assert server.asked[0].headers["authorization"] == f"Basic {token}"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert f"{server.url}/base/x answered 401" in str(caught.value)
    shown = f"{caught.value!r} {endpoint!r} {caplog.text}"
    for secret in (KEY, "pass/word", "pass%2Fword", token, "matt"):
        assert secret not in shown


def test_failed_connection_error_has_no_cause(deaf_url: str) -> None:
    endpoint = ModelEndpoint(deaf_url, headers={"x-api-key": KEY}, retries=0)
    with pytest.raises(EmbedderUnavailable) as caught:
        endpoint.post_json("/x", {})
    endpoint.close()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("key", ["sk-secret\nx", "sk-secret…", "sk-secret\x00"])
def test_header_that_cannot_be_sent_is_named_but_not_shown(key: str) -> None:
    with pytest.raises(ValueError, match="header x-api-key") as caught:
        ModelEndpoint("http://h", headers={"x-api-key": key})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434",
        "ftp://h",
        "http://",
        "http://u:sesame@",
        "http://u:sesame@h:port",
        "http://u:sesame@h℀/",
        "http://[u:sesame@h",
        "http://h?key=sesame",
        "http://h#sesame",
        "http://h/a b",
        "",
    ],
)
def test_unusable_address_is_a_value_error_without_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="base_url must") as caught:
        ModelEndpoint(url)
    assert "sesame" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_unusable_timeout_is_a_value_error(seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        ModelEndpoint("http://h", timeout_seconds=seconds)


def test_error_types_can_be_configured(server: Any) -> None:
    class GoneError(MemstoreError):
        pass

    class RefusedError(MemstoreError):
        pass

    purpose = replace(http.EMBEDDING, unavailable=GoneError, rejected=RefusedError)
    endpoint = ModelEndpoint(server.url, purpose=purpose, retries=0)
    server.play(refusal(500), refusal(400))
    with pytest.raises(GoneError):
        endpoint.post_json("/x", {})
    with pytest.raises(RefusedError):
        endpoint.post_json("/x", {})
    endpoint.close()


def test_many_threads_share_one_endpoint(server: Any, endpoint: ModelEndpoint) -> None:
    server.play(lambda asked: asked.answer(asked.body))
    got: list[object] = []

    def ask(number: int) -> None:
        got.extend(
            endpoint.post_json("/x", {"n": [number, at]})["n"] == [number, at] for at in range(20)
        )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 160


def test_close_ends_a_waiting_call(server: Any, endpoint: ModelEndpoint) -> None:
    arrived = threading.Event()
    server.play(lambda _: (arrived.set(), server.stopped.wait(60)))
    threading.Thread(target=lambda: (arrived.wait(30), endpoint.close())).start()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        endpoint.post_json("/x", {}, timeout_seconds=50)


def test_closed_endpoint_is_unavailable_and_can_be_closed_again(
    server: Any, endpoint: ModelEndpoint
) -> None:
    server.play(fine)
    endpoint.post_json("/x", {})
    endpoint.close()
    endpoint.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        endpoint.post_json("/x", {})


def test_unclosed_endpoint_leaves_no_thread(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server.play(fine)
    before = set(threading.enumerate())
    endpoint = ModelEndpoint(server.url)
    endpoint.post_json("/x", {})
    [thread] = [t for t in threading.enumerate() if t not in before and t.name == "memstore-http"]
    joined: list[threading.Thread] = []
    with monkeypatch.context() as patched:
        patched.setattr(
            threading.Thread, "join", lambda waited_for, _=None: joined.append(waited_for)
        )
        del endpoint
        gc.collect()
    # The garbage may be collected within an import, and the thread cannot end until that is done.
    assert thread not in joined
    assert wait_until(lambda: not thread.is_alive())


def test_environment_proxy_is_honoured(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.play(fine)
    endpoint = ModelEndpoint("http://model.invalid")
    assert endpoint.post_json("/x", {}) == {"fine": True}
    endpoint.close()
    assert server.asked[0].target == "http://model.invalid/x"


def test_unusable_proxy_is_unavailable_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("all_proxy", "gopher://me:sesame@h")
    endpoint = ModelEndpoint("http://model.invalid")
    with pytest.raises(EmbedderError, match="ALL_PROXY") as caught:
        endpoint.post_json("/x", {})
    assert "sesame" not in str(caught.value)


@pytest.mark.process
def test_import_is_cheap_and_exit_is_clean(server: Any) -> None:
    server.reply({"embeddings": [[1.0]]})
    program = (
        "import json, logging, sys\n"
        # On a busy machine asyncio warns about slow callbacks.
        "logging.getLogger('asyncio').setLevel(logging.ERROR)\n"
        "import memstore.providers.ollama as o, memstore.providers.openai\n"
        "heavy = [m for m in ('httpx', 'numpy', 'asyncio') if m in sys.modules]\n"
        "e = o.OllamaEmbedder(base_url=sys.argv[1])\n"
        "e.embed(['x'])\n"
        "print(json.dumps(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", program, server.url],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout) == []
    assert done.stderr == ""
