"""Both embedders against a real server: requests, vectors, refused replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.support.clock import ManualClock

from memstore.domain.protocols import Embedder
from memstore.errors import EmbedderRejected, EmbedderUnavailable
from memstore.providers.ollama import OllamaEmbedder
from memstore.providers.openai import OpenAIEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-proj-0123456789abcdef"


class Case:
    """One embedder, with the form of its service's replies."""

    def __init__(self, name: str, server: Any) -> None:
        self.name, self.server = name, server
        self.made: list[OllamaEmbedder | OpenAIEmbedder] = []

    def embedder(self, **more: Any) -> OllamaEmbedder | OpenAIEmbedder:
        kind = {"ollama": OllamaEmbedder, "openai": OpenAIEmbedder}[self.name]
        given = {"model": "m", "base_url": self.server.url, "timeout_seconds": 5.0, **more}
        self.made.append(kind(**given))
        return self.made[-1]

    def wrap(self, vectors: list[Any]) -> dict[str, Any]:
        if self.name == "ollama":
            return {"model": "m", "embeddings": vectors}
        return {
            "data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)],
            "usage": {},
        }


@pytest.fixture(params=["ollama", "openai"])
def case(request: pytest.FixtureRequest, server: Any) -> Iterator[Case]:
    made = Case(request.param, server)
    yield made
    for embedder in made.made:
        embedder.close()


@pytest.fixture
def ollama(server: Any) -> Iterator[OllamaEmbedder]:
    embedder = OllamaEmbedder(base_url=server.url)
    yield embedder
    embedder.close()


@pytest.fixture
def openai(server: Any) -> Iterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(base_url=server.url, api_key=f" {KEY}\n")
    yield embedder
    embedder.close()


def lengths(case: Case) -> Callable[[Any], None]:
    """Answer each text with its length and its last character's code."""

    def reply(asked: Any) -> None:
        asked.answer(case.wrap([[len(t), ord(t[-1])] for t in asked.body["input"]]))

    return reply


def test_embedders_satisfy_the_protocol(case: Case) -> None:
    embedder = case.embedder(model="some-model")
    assert isinstance(embedder, Embedder)
    assert embedder.model == "some-model"


def test_embed_returns_float32_rows_in_order(case: Case) -> None:
    case.server.play(lengths(case))
    vectors = case.embedder().embed(["a", "grüße", "日本 🎌"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 97], [5, 101], [4, 127884]]


def test_embed_sends_long_lists_in_batches(case: Case) -> None:
    case.server.play(lengths(case))
    texts = ["x" * length for length in range(1, 8)]
    vectors = case.embedder(batch_size=3).embed(tuple(texts))
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert [asked.body["input"] for asked in case.server.asked] == [
        texts[:3],
        texts[3:6],
        texts[6:],
    ]


def test_embed_of_no_texts_sends_no_request(case: Case) -> None:
    vectors = case.embedder().embed([])
    assert vectors.shape == (0, 0)
    assert vectors.dtype == np.float32
    assert not case.server.asked


def test_embed_sends_blank_text_unchanged(case: Case) -> None:
    case.server.reply(case.wrap([[1.0], [2.0]]))
    case.embedder().embed(["", " \n"])
    assert case.server.asked[0].body["input"] == ["", " \n"]


def test_one_text_instead_of_many_is_a_type_error(case: Case) -> None:
    with pytest.raises(TypeError, match="sequence of texts"):
        case.embedder().embed("text")


def test_deadline_covers_all_batches(case: Case, manual_clock: ManualClock) -> None:
    answer = lengths(case)
    case.server.play(lambda asked: (manual_clock.advance(20), answer(asked)))
    with pytest.raises(EmbedderUnavailable, match="in time"):
        case.embedder(batch_size=1).embed(["x"] * 50, timeout_seconds=50)
    assert len(case.server.asked) == 3


def test_busy_then_ready_succeeds(case: Case, manual_clock: ManualClock) -> None:
    busy = {"error": {"message": "slow down"}}
    case.server.play(lambda asked: asked.answer(busy, status=429), lengths(case))
    assert case.embedder().embed(["ab"]).shape == (1, 2)
    assert len(case.server.asked) == 2


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        ([[1.0, 2.0]], "1 vectors for 2 texts"),
        ([[1.0]] * 3, "3 vectors for 2 texts"),
        ([], "0 vectors for 2 texts"),
        ([[1.0, 2.0], [1.0]], r"different dimensions: \[1, 2\]"),
        ([[1.0], [float("nan")]], "not finite for text 1"),
        ([[1.0], [float("inf")]], "not finite for text 1"),
        ([[1.0], [1e39]], "not finite for text 1"),
        ([[1.0], [None]], "not a list of numbers for text 1"),
        ([[1.0], None], "not a list of numbers for text 1"),
        ([[1.0], []], "not a list of numbers for text 1"),
        ([[1.0], ["2.0"]], "not a list of numbers for text 1"),
        ([[1.0], [True]], "not a list of numbers for text 1"),
        ([[1.0], [[2.0]]], "not a list of numbers for text 1"),
        ([[1.0], [1.0, [2.0]]], "not a list of numbers for text 1"),
        ([[1.0], [10**30]], "not a list of numbers for text 1"),
        ([[1.0], "AACAPw=="], "not a list of numbers for text 1"),
        ([1.0, 2.0], "not a list of numbers for text 0"),
    ],
)
def test_invalid_vectors_are_rejected_at_once(case: Case, vectors: list[Any], says: str) -> None:
    case.server.reply(case.wrap(vectors))
    with pytest.raises(EmbedderRejected, match=says):
        case.embedder().embed(["a", "b"])
    assert len(case.server.asked) == 1


def test_dimension_that_changes_between_batches_is_rejected(case: Case) -> None:
    case.server.play(
        lambda asked: asked.answer(case.wrap([[1.0]])),
        lambda asked: asked.answer(case.wrap([[1.0, 2.0]])),
    )
    with pytest.raises(EmbedderRejected, match="different dimensions"):
        case.embedder(batch_size=1).embed(["a", "b"])


@pytest.mark.parametrize("reply", [{}, {"embeddings": 3, "data": 3}, {"data": [3]}])
def test_reply_without_vectors_is_unavailable(case: Case, reply: object) -> None:
    case.server.reply(reply)
    with pytest.raises(EmbedderUnavailable, match="base_url points to an embedding service"):
        case.embedder().embed(["a"])


def test_error_with_a_success_status_is_reported(case: Case) -> None:
    case.server.reply({"error": {"message": "no credit", "code": 402}})
    with pytest.raises(EmbedderUnavailable, match="no credit"):
        case.embedder().embed(["a"])


def test_refused_connection_suggests_a_remedy(
    case: Case, deaf_url: str, manual_clock: ManualClock
) -> None:
    advice = r"service is running.*`ollama serve`.*base_url.*proxy settings"
    with pytest.raises(EmbedderUnavailable, match=advice):
        case.embedder(base_url=deaf_url).embed(["a"])


@pytest.mark.parametrize("wrong", [{"model": ""}, {"batch_size": 0}, {"timeout_seconds": 0}])
def test_argument_out_of_range_is_a_value_error(case: Case, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        case.embedder(**wrong)


def test_closed_embedder_is_unavailable(case: Case) -> None:
    embedder = case.embedder()
    embedder.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        embedder.embed(["a"])


def test_ollama_request(server: Any, ollama: OllamaEmbedder) -> None:
    server.reply({"embeddings": [[0.5, 1]]})
    assert ollama.embed(["a"]).tolist() == [[0.5, 1.0]]
    (asked,) = server.asked
    assert asked.target == "/api/embed"
    sent = "title: none | text: a"
    assert asked.body == {"model": "embeddinggemma", "input": [sent], "truncate": True}


@pytest.mark.parametrize(
    ("status", "reply", "advice"),
    [
        (
            404,
            {"error": 'model "x" not found, try pulling it first'},
            "x.*\nPull the model with `ollama pull`",
        ),
        (404, b"404 page not found", "is Ollama, and version 0.5 or newer"),
        (400, {"error": "this model does not support embeddings"}, "Choose an embedding model"),
    ],
)
def test_ollama_refusal_suggests_a_remedy(
    server: Any, ollama: OllamaEmbedder, status: int, reply: object, advice: str
) -> None:
    server.reply(reply, status=status)
    with pytest.raises(EmbedderRejected, match=advice):
        ollama.embed(["a"])
    assert len(server.asked) == 1


def test_ollama_repr_is_short() -> None:
    shown = repr(OllamaEmbedder(base_url="http://me:sesame@host:1/"))
    assert shown == "OllamaEmbedder('embeddinggemma', base_url='http://host:1')"


def test_openai_request(server: Any, openai: OpenAIEmbedder) -> None:
    server.reply({"data": [{"index": 0, "embedding": [0.5]}]})
    openai.embed(["a"])
    (asked,) = server.asked
    assert asked.target == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "text-embedding-3-small",
        "input": ["a"],
        "encoding_format": "float",
    }


def test_openai_without_key_sends_no_authorization(server: Any) -> None:
    embedder = OpenAIEmbedder(base_url=server.url)
    server.reply({"data": [{"index": 0, "embedding": [0.5]}]})
    embedder.embed(["a"])
    embedder.close()
    assert "authorization" not in server.asked[0].headers


def test_openai_rows_are_ordered_by_index(server: Any, openai: OpenAIEmbedder) -> None:
    server.reply({"data": [{"index": at, "embedding": [at]} for at in (2, 0, 1)]})
    assert openai.embed(["a", "b", "c"]).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("numbers", [(0, 0), (1, 2), (None, None), ([0], [1]), (True, False)])
def test_openai_rows_with_wrong_indexes_are_rejected(
    server: Any, openai: OpenAIEmbedder, numbers: tuple[Any, ...]
) -> None:
    server.reply({"data": [{"index": at, "embedding": [1.0]} for at in numbers]})
    with pytest.raises(EmbedderRejected, match="did not number its 2 vectors"):
        openai.embed(["a", "b"])


def test_openai_dimensions_are_requested_and_checked(server: Any) -> None:
    embedder = OpenAIEmbedder(base_url=server.url, dimensions=2)
    server.reply({"data": [{"index": 0, "embedding": [0.5, 1]}]})
    assert embedder.embed(["a"]).shape == (1, 2)
    assert server.asked[0].body["dimensions"] == 2
    server.reply({"data": [{"index": 0, "embedding": [0.5, 1, 2]}]})
    with pytest.raises(EmbedderRejected, match="3 dimensions instead of 2"):
        embedder.embed(["a"])
    embedder.close()
    with pytest.raises(ValueError, match="dimensions"):
        OpenAIEmbedder(dimensions=0)


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/openai/v1", "/openai/v1/embeddings"),
        ("/gateway", "/gateway/embeddings"),
    ],
)
def test_openai_address_gets_v1_only_when_bare(server: Any, given: str, target: str) -> None:
    embedder = OpenAIEmbedder(base_url=server.url + given)
    server.reply({"data": [{"index": 0, "embedding": [0.5]}]})
    embedder.embed(["a"])
    embedder.close()
    assert server.asked[0].target == target


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "Check api_key"), (404, "has this model"), (400, "answered 400")]
)
def test_openai_refusal_suggests_a_remedy_without_showing_the_key(
    server: Any, openai: OpenAIEmbedder, status: int, advice: str
) -> None:
    echo = {"error": {"message": f"Incorrect key: {KEY}, Bearer {KEY}."}}
    server.reply(echo, status=status)
    with pytest.raises(EmbedderRejected, match=advice) as caught:
        openai.embed(["a"])
    assert KEY not in f"{caught.value} {openai!r} {vars(openai)!r}"
    assert "Incorrect key: [redacted]" in str(caught.value)
    server.reply(echo)
    with pytest.raises(EmbedderUnavailable, match="redacted") as caught_late:
        openai.embed(["a"])
    assert KEY not in str(caught_late.value)


def test_openai_quota_is_unavailable_after_three_attempts(
    server: Any, openai: OpenAIEmbedder, manual_clock: ManualClock
) -> None:
    server.reply({"error": {"message": "You exceeded your current quota"}}, status=429)
    with pytest.raises(EmbedderUnavailable, match=r"(?s)current quota.*credit"):
        openai.embed(["a"])
    assert len(server.asked) == 3


def test_openai_key_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(ValueError, match="Authorization") as caught:
        OpenAIEmbedder(api_key="sk-se\ncret")
    assert "cret" not in str(caught.value)


def test_openai_unusable_address_does_not_show_its_password() -> None:
    with pytest.raises(ValueError, match="base_url must") as caught:
        OpenAIEmbedder(base_url="http://u:sesame@h℀")
    assert "sesame" not in f"{caught.value} {caught.value.__context__}"
