"""Replaces model services, so that real hosts and agent frameworks run without an account.

Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini generateContent. The "model"
calls one tool once, if it is offered, and else answers "done"; each request is kept.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON, EVENTS = "application/json", "text/event-stream"


class HostModels:
    """The requests to the services, and the tool that they call."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.tool = ""
        self.arguments: dict[str, Any] = {}
        self.url = ""
        self._called = False

    def answer(self, path: str, request: dict[str, Any]) -> tuple[str, str]:
        self.requests.append((path, request))
        if "ount" in path and "okens" in path:  # count_tokens, countTokens
            return json.dumps({"input_tokens": 10, "totalTokens": 10}), JSON
        if "/responses" in path:
            return self._openai(request)
        if "/chat/completions" in path:
            return self._chat(request)
        if "enerateContent" in path:
            return self._gemini(request, stream="stream" in path)
        return self._anthropic(request)

    @property
    def results(self) -> list[str]:
        """What the hosts showed the model of each call of a tool, once each."""
        found = [text for _, request in self.requests for text in _results(request)]
        return list(dict.fromkeys(found))

    def _anthropic(self, request: dict[str, Any]) -> tuple[str, str]:
        names = [tool.get("name", "") for tool in request.get("tools", [])]
        answered = any(
            block.get("type") == "tool_use" and block["name"].endswith(self.tool)
            for message in request.get("messages", [])
            if isinstance(message["content"], list)
            for block in message["content"]
        )
        called = [name for name in names if self.tool and name.endswith(self.tool)]
        given = self.arguments
        if self.tool and not called and "WaitForMcpServers" in names:  # on a busy machine
            called, answered, given = ["WaitForMcpServers"], False, {}
        if called and not answered:
            mark = f"toolu_{len(self.requests)}"
            block = {"type": "tool_use", "id": mark, "name": called[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
            stop = "tool_use"
        else:
            block, stop = {"type": "text", "text": ""}, "end_turn"
            delta = {"type": "text_delta", "text": "done"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "stub"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not request.get("stream"):
            text = [{"type": "text", "text": "done"}]
            return json.dumps({**message, "content": text, "stop_reason": "end_turn"}), JSON
        ended = {"stop_reason": stop, "stop_sequence": None}
        return events(
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "usage": usage, "delta": ended},
            {"type": "message_stop"},
        )

    def _openai(self, request: dict[str, Any]) -> tuple[str, str]:
        offered = []
        for tool in request.get("tools", []):
            if tool.get("type") == "namespace":
                offered += [(inner["name"], tool["name"]) for inner in tool.get("tools", [])]
            elif "name" in tool:
                offered.append((tool["name"], None))
        called = [one for one in offered if self.tool and one[0].endswith(self.tool)]
        if called and "function_call_output" not in json.dumps(request.get("input")):
            name, space = called[0]
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
            item |= {"arguments": json.dumps(self.arguments), "status": "completed"}
            item |= {} if space is None else {"namespace": space}
        else:
            text = [{"type": "output_text", "text": "done", "annotations": []}]
            item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
            item |= {"content": text}  # type: ignore[dict-item]
        response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {
            "input_tokens_details": {"cached_tokens": 0},  # type: ignore[dict-item]
            "output_tokens_details": {"reasoning_tokens": 0},  # type: ignore[dict-item]
        }
        ended = {**response, "status": "completed", "output": [item], "usage": usage}
        if not request.get("stream"):
            return json.dumps({**ended, "model": "stub", "created_at": 1}), JSON
        return events(
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": ended},
        )

    def _chat(self, request: dict[str, Any]) -> tuple[str, str]:
        messages = request["messages"]
        names = [tool["function"]["name"] for tool in request.get("tools", [])]
        called = [name for name in names if self.tool and name.endswith(self.tool)]
        given = self.arguments
        if self._called:  # smolagents tells of the call in a text, and ends by a tool
            called, given = [name for name in names if name == "final_answer"], {"answer": "done"}
        self._called |= bool(called)
        said: dict[str, Any] = {"role": "assistant", "content": "done"}
        if called:
            function = {"name": called[0], "arguments": json.dumps(given)}
            said["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
            said["content"] = None
        elif "[[ ## completed ## ]]" in messages[0]["content"]:  # DSPy: tools as text
            said["content"] = self._dspy(messages[0]["content"], messages[-1]["content"])
        ended = "tool_calls" if called else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "chat_1", "created": 1, "model": "stub", "usage": usage}
        if not request.get("stream"):
            choice = {"index": 0, "message": said, "finish_reason": ended}
            return json.dumps({**answer, "object": "chat.completion", "choices": [choice]}), JSON
        for place, call in enumerate(said.get("tool_calls", [])):
            call["index"] = place
        choice = {"index": 0, "delta": said, "finish_reason": ended}
        chunk = {**answer, "object": "chat.completion.chunk", "choices": [choice]}
        return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", EVENTS

    def _dspy(self, wanted: str, prompt: str) -> str:
        fields = {"reasoning": "It was said.", "answer": "done"}
        if "[[ ## next_tool_name ## ]]" in wanted:
            ended = "observation_0" in prompt
            name, given = ("finish", {}) if ended else (self.tool, self.arguments)
            fields = {"next_thought": "It matters later.", "next_tool_name": name}
            fields["next_tool_args"] = json.dumps(given)
        fields["completed"] = ""
        return "\n\n".join(f"[[ ## {field} ## ]]\n{text}" for field, text in fields.items())

    def _gemini(self, request: dict[str, Any], *, stream: bool) -> tuple[str, str]:
        names = [
            one["name"]
            for tool in request.get("tools", [])
            for one in tool.get("functionDeclarations", [])
        ]
        called = [name for name in names if self.tool and name.endswith(self.tool)]
        part: dict[str, Any] = {"text": "done"}
        if called and "functionResponse" not in json.dumps(request.get("contents")):
            part = {"functionCall": {"name": called[0], "args": self.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
            "modelVersion": "stub",
        }
        return (f"data: {json.dumps(answer)}\n\n", EVENTS) if stream else (json.dumps(answer), JSON)


def _results(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _results(one)
    elif isinstance(part, dict):
        for kind, key in (("tool_result", "content"), ("function_call_output", "output")):
            if part.get("type") == kind:
                yield _texts(part[key])
        if part.get("role") == "tool":
            yield _texts(part["content"])
        if "functionResponse" in part:
            yield _texts(part["functionResponse"]["response"]["output"])
        for one in part.values():
            yield from _results(one)


def _texts(shown: str | list[dict[str, str]]) -> str:
    return shown if isinstance(shown, str) else "\n".join(one["text"] for one in shown)


def events(*steps: dict[str, Any]) -> tuple[str, str]:
    return "".join(f"event: {x['type']}\ndata: {json.dumps(x)}\n\n" for x in steps), EVENTS


@contextmanager
def serving() -> Iterator[HostModels]:
    """Serve all three on the loopback."""
    models = HostModels()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._send("{}", JSON, 404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                request = json.loads(body)
            except ValueError:
                request = {}
            self._send(*models.answer(self.path, request))

        def _send(self, body: str, kind: str, status: int = 200) -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    models.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield models
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
