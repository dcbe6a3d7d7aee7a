"""The requests of each generator, and their changes for services with differences."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.clock import ManualClock
from tests.support.model_server import Dialect, ModelServer, Reply

from memstore import (
    AnthropicGenerator,
    GeneratorRejected,
    GeneratorUnavailable,
    OllamaGenerator,
    OpenAIGenerator,
    providers,
)
from memstore import settings as environment

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
NO_SCHEMA = [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`. See supported models",
]


def test_ollama_request(model_server: ModelServer) -> None:
    model_server.replies = ["{}"]
    generator = model_server.generator("ollama", max_tokens=50, system="be brief")
    generator.generate_json("prompt", SCHEMA)
    generator.generate("prompt")
    asked, plain = model_server.asked
    assert asked.target == "/api/chat"
    assert asked.body == {
        "model": "llama3.1",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "prompt"},
        ],
        "stream": False,
        "options": {"num_ctx": 8192, "temperature": 0.0, "num_predict": 50},
        "truncate": False,
        "shift": False,
        "format": SCHEMA,
    }
    assert "format" not in plain.body


def test_openai_request(model_server: ModelServer) -> None:
    model_server.replies = ["{}"]
    generator = model_server.generator("openai", api_key="k", max_tokens=50, system="be brief")
    generator.generate_json("prompt", SCHEMA)
    generator.generate("prompt")
    asked, plain = model_server.asked
    assert asked.target == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer k"
    wanted = {"name": "reply", "strict": True, "schema": SCHEMA}
    assert asked.body == {
        "model": "gpt-4.1-mini",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "prompt"},
        ],
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": wanted},
    }
    assert "response_format" not in plain.body


def test_anthropic_request(model_server: ModelServer) -> None:
    model_server.replies = ["{}"]
    generator = model_server.generator("anthropic", api_key="k", system="be brief")
    generator.generate_json("prompt", SCHEMA)
    generator.generate("prompt")
    asked, plain = model_server.asked
    assert asked.target == "/v1/messages"
    assert asked.headers["x-api-key"] == "k"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    (tool,) = asked.body.pop("tools")
    assert tool["input_schema"] == SCHEMA
    assert asked.body == {
        "model": "claude-haiku-4-5",
        "system": "be brief",
        "messages": [{"role": "user", "content": "prompt"}],
        "temperature": 0.0,
        "max_tokens": 4096,
        "tool_choice": {"type": "tool", "name": tool["name"]},
    }
    assert not {"tools", "tool_choice"} & plain.body.keys()


@pytest.mark.parametrize("dialect", ["ollama", "openai", "anthropic"])
def test_unset_options_are_not_sent(model_server: ModelServer, dialect: Dialect) -> None:
    model_server.replies = ["x"]
    model_server.generator(dialect, temperature=None).generate("prompt")
    body = {**model_server.asked[0].body, **model_server.asked[0].body.get("options", {})}
    assert "temperature" not in body
    assert "num_predict" not in body
    assert "authorization" not in model_server.asked[0].headers
    assert "x-api-key" not in model_server.asked[0].headers


@pytest.mark.parametrize("words", NO_SCHEMA)
def test_openai_service_without_schemas_gets_the_schema_in_the_prompt(
    model_server: ModelServer, words: str
) -> None:
    model_server.unknown = {"response_format": words}
    model_server.replies = ["{}"]
    generator = model_server.generator("openai")
    assert generator.generate_json("prompt", SCHEMA) == "{}"
    assert generator.generate_json("again", SCHEMA) == "{}"
    assert [prompt.partition("\n")[0] for prompt in model_server.prompts] == ["prompt", "again"]
    assert all('"additionalProperties": false' in prompt for prompt in model_server.prompts)
    assert len(model_server.asked) == 3


def test_openai_reasoning_model_gets_its_own_parameters(model_server: ModelServer) -> None:
    model_server.unknown = {
        "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "temperature": "Unsupported value: 'temperature' does not support 0 with this model. "
        "Only the default (1) value is supported.",
    }
    model_server.replies = ["x"]
    generator = model_server.generator("openai", max_tokens=50)
    assert generator.generate("prompt") == "x"
    assert generator.generate("prompt") == "x"
    body = model_server.asked[-1].body
    assert body["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature"} & body.keys()
    assert len(model_server.asked) == 4


def test_anthropic_model_without_temperature_is_not_sent_one(model_server: ModelServer) -> None:
    model_server.unknown = {"temperature": "`temperature` is deprecated for this model."}
    model_server.replies = ["x"]
    assert model_server.generator("anthropic").generate("prompt") == "x"
    assert "temperature" not in model_server.asked[-1].body


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            "Invalid schema for response_format 'reply': 'additionalProperties' is required",
            "Set additionalProperties to false",
        ),
        ("temperature: must be below 1", "must be below 1"),
        ("max_tokens is too large: 50000", "too large"),
    ],
)
def test_openai_request_error_is_rejected_at_once(
    model_server: ModelServer, words: str, advice: str
) -> None:
    model_server.replies = [Reply(status=400, words=words)]
    with pytest.raises(GeneratorRejected, match=advice):
        model_server.generator("openai", max_tokens=50).generate_json("prompt", SCHEMA)
    assert len(model_server.asked) == 1


def test_openai_service_that_always_refuses_is_not_retried_forever(
    model_server: ModelServer,
) -> None:
    model_server.replies = [Reply(status=400, words=NO_SCHEMA[0])]
    with pytest.raises(GeneratorRejected, match="not supported"):
        model_server.generator("openai").generate_json("prompt", SCHEMA)
    assert len(model_server.asked) == 2


def test_deadline_covers_repeated_requests(
    model_server: ModelServer, manual_clock: ManualClock
) -> None:
    def refuse_late(_prompt: str) -> Reply:
        manual_clock.advance(70)
        return Reply(status=400, words=NO_SCHEMA[0])

    model_server.replies = refuse_late
    generator = model_server.generator("openai", timeout_seconds=60)
    with pytest.raises(GeneratorUnavailable, match="in time"):
        generator.generate_json("prompt", SCHEMA)
    assert len(model_server.asked) == 1


def test_ollama_partial_stream_is_not_an_answer(model_server: ModelServer) -> None:
    model_server.replies = [Reply(body={"message": {"content": "The"}, "done": False})]
    with pytest.raises(GeneratorUnavailable, match="sent no text"):
        model_server.generator("ollama").generate("prompt")


def test_ollama_prompt_that_fills_the_context_is_rejected(model_server: ModelServer) -> None:
    said = {"message": {"content": "about the end"}, "done": True, "prompt_eval_count": 100}
    model_server.replies = [Reply(body=said)]
    with pytest.raises(
        GeneratorRejected, match=r"(?s)100 tokens.*raise max_tokens or context_tokens"
    ):
        model_server.generator("ollama", context_tokens=100).generate("prompt")
    assert model_server.generator("ollama", context_tokens=101).generate("x") == "about the end"


@pytest.mark.parametrize(
    ("dialect", "status", "words", "advice"),
    [
        (
            "ollama",
            404,
            'model "x" not found, try pulling it first',
            "x.*\nPull the model with `ollama pull`",
        ),
        ("ollama", 404, "page not found", "is Ollama, and version 0.5 or newer"),
        ("ollama", 400, "the input length exceeds the context length", "context_tokens"),
        ("ollama", 400, '"x" does not support chat', "Choose a model that writes text"),
        ("openai", 404, "no such model", "has this model"),
        ("openai", 403, "no", "Check the language model's api_key"),
        ("anthropic", 404, "model: x", "has this model"),
        ("anthropic", 401, "invalid x-api-key", "Check the language model's api_key"),
    ],
)
def test_refusal_suggests_a_remedy(
    model_server: ModelServer, dialect: Dialect, status: int, words: str, advice: str
) -> None:
    model_server.replies = [Reply(status=status, words=words)]
    with pytest.raises(GeneratorRejected, match=advice):
        model_server.generator(dialect).generate("prompt")


@pytest.mark.parametrize("given", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_address_may_end_with_v1_or_not(
    model_server: ModelServer, dialect: Dialect, given: str
) -> None:
    model_server.replies = ["x"]
    made = model_server.generator(dialect, base_url=model_server.url + given)
    assert made.generate("prompt") == "x"


def test_anthropic_text_blocks_are_joined(model_server: ModelServer) -> None:
    blocks = [{"type": "text", "text": "one "}, {"type": "thinking"}, {"type": "text", "text": "2"}]
    model_server.replies = [Reply(body={"content": blocks, "stop_reason": "end_turn"})]
    assert model_server.generator("anthropic").generate("prompt") == "one 2"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ollama", OllamaGenerator),
        ("openai", OpenAIGenerator),
        ("anthropic", AnthropicGenerator),
    ],
)
def test_generator_by_name(name: str, kind: type) -> None:
    made = providers.generator(name, model="m", base_url="http://host:1", api_key="k")
    assert type(made) is kind
    assert made is not None
    assert made.model == "m"
    assert type(providers.generator(name)) is kind


def test_generator_named_none_is_none() -> None:
    assert providers.generator("none") is None
    with pytest.raises(ValueError, match="model does not go with the generator"):
        providers.generator("none", model="m")


def test_generator_of_unknown_name_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"generator must be ollama, openai, .*not 'local'"):
        providers.generator("local")


def test_environment_names_the_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {
        "MEMSTORE_GENERATOR": "anthropic",
        "MEMSTORE_GENERATOR_MODEL": "m",
        "MEMSTORE_GENERATOR_URL": "http://host:1",
        "ANTHROPIC_API_KEY": "k",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = environment.from_environment()
    assert (found.generator, found.generator_model, found.generator_url) == (
        "anthropic",
        "m",
        "http://host:1",
    )
    assert environment.anthropic_key() == "k"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    assert environment.anthropic_key() is None
