"""Serves over HTTP what the official conformance suite requests, through our own gate.

    python tests/clients/conformance_server.py 127.0.0.1:8770

The suite calls tools, prompts and resources of names that it knows. They are methods here in place
of the product's; the address, the gate, the endpoint and the SDK around them are the product's own.
``conformance.yml`` says what is not offered, and why.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memstore import Store
from memstore.faces.http import endpoint
from memstore.faces.mcp.calls import Calls
from memstore.faces.mcp.methods import Methods, Result, StoreSource
from memstore.faces.mcp.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Refused
from memstore.faces.starting import every_flag as face
from memstore.lazy import cached_property

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
SILENCE = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0data\0\0\0\0"
).decode()


def text(said: str) -> Result:
    return {"type": "text", "text": said}


def embedded(uri: str, said: str) -> Result:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": said}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}
CONTENTS = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", '{"test": "data"}'),
    ],
    "test_error_handling": [text("This tool intentionally returns an error for testing")],
    "json_schema_2020_12_tool": [text("called")],
    "test_logging_tool": [text("This tool logs nothing.")],
}
NOTHING: Result = {"type": "object", "properties": {}}
FULL: Result = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
GREETING = "This is a simple prompt for testing."
PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}
RESOURCES = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static resource."}),
    "test://static-binary": ("image/png", {"blob": PIXEL}),
}


class FixtureCalls(Calls):
    """Calls of the suite's tools, in place of the product's."""

    def answer(self, open_store: Callable[[], Store], params: Mapping[str, Any]) -> Result:
        name = params["name"]
        if name not in CONTENTS:
            raise Refused(INVALID_PARAMS, f"unknown tool {name!r}")
        return {"content": CONTENTS[name], "isError": name == "test_error_handling"}


class Fixtures(Methods):
    """Answers for the suite, in place of the product's."""

    @cached_property
    def tool_calls(self) -> FixtureCalls:
        return FixtureCalls(self.catalogue, lambda: None)

    def list_tools(self) -> Result:
        return {
            "tools": [
                {
                    "name": name,
                    "description": "For the conformance suite",
                    "inputSchema": FULL if name.startswith("json_schema") else NOTHING,
                }
                for name in CONTENTS
            ]
        }

    def list_prompts(self) -> Result:
        return {
            "prompts": [
                {
                    "name": name,
                    "description": "For the conformance suite",
                    "arguments": [{"name": one, "required": True} for one in arguments],
                }
                for name, arguments in PROMPTS.items()
            ]
        }

    def get_prompt(self, source: StoreSource, params: Mapping[str, Any]) -> Result:
        given = params.get("arguments") or {}
        if (needed := PROMPTS.get(params["name"])) is None or not {*needed} <= given.keys():
            raise Refused(INVALID_PARAMS, "no such prompt, or an argument is missing")
        said = {
            "test_simple_prompt": [text(GREETING)],
            "test_prompt_with_arguments": [
                text(
                    f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
                )
            ],
            "test_prompt_with_embedded_resource": [
                embedded(given.get("resourceUri", ""), "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image": [IMAGE, text("Please analyze the image above.")],
        }[params["name"]]
        return {"messages": [{"role": "user", "content": one} for one in said]}

    def list_resources(self) -> Result:
        return {
            "resources": [
                {"uri": uri, "name": uri, "mimeType": kind} for uri, (kind, _) in RESOURCES.items()
            ]
        }

    def list_templates(self) -> Result:
        template = {"uriTemplate": "test://template/{id}/data", "name": "template"}
        return {"resourceTemplates": [{**template, "mimeType": "application/json"}]}

    def read_resource(
        self, source: StoreSource, params: Mapping[str, Any], *, older: bool
    ) -> Result:
        uri = params["uri"]
        before, _, rest = uri.partition("test://template/")
        if not before and rest.endswith("/data"):
            found = ("application/json", {"text": f'{{"id": "{rest[:-5]}", "templateTest": true}}'})
        elif uri in RESOURCES:
            found = RESOURCES[uri]
        else:
            missing = RESOURCE_NOT_FOUND if older else INVALID_PARAMS
            raise Refused(missing, "there is no such resource", {"uri": uri})
        kind, held = found
        return {"contents": [{"uri": uri, "mimeType": kind, **held}]}

    def complete(self, source: StoreSource, params: Mapping[str, Any]) -> Result:
        return {"completion": {"values": [], "total": 0, "hasMore": False}}


def main() -> None:
    endpoint.Methods = Fixtures  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--db", str(Path(folder, "memory.db")), "--embedder", "none", "--no-token"]
        sys.argv[1:] = [*flags, "--http", *sys.argv[1:]]
        face.main()


if __name__ == "__main__":
    main()
