"""A server on this machine that speaks both chat APIs and misbehaves on a schedule."""

import dataclasses
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

REPLY = {
    "why": "near",
    "mode": "clean",
    "goal": {"type": "clean", "cell": [3, 4], "why": "dirty"},
    "note": {"op": "none", "id": None, "text": None},
    "action": "fire",
}
GOOD = json.dumps(REPLY)
OTHER = json.dumps(REPLY | {"action": "north"})

TEXTS: dict[str, dict[str, str]] = {
    "good": {"text": GOOD},
    "fenced": {"text": f"Here it is:\n```json\n{GOOD}\n```"},
    "in_reasoning": {"text": "", "reasoning": f"So the answer is {GOOD}"},
    "malformed": {"text": GOOD.replace('"', "'")},
    "empty": {"text": ""},
    "truncated": {"text": GOOD[:60], "finish": "length"},
    "wrong_schema": {"text": '{"move": "north"}'},
    "two_objects": {"text": GOOD + OTHER},
    "refusal": {"text": "I would rather not.", "finish": "refusal"},
    "not_its_action": {"text": GOOD.replace("fire", "teleport")},
}
"""Whole answers, good and bad: whatever is in them is the model's doing."""

ACTS = ("good", "fenced", "in_reasoning")
"""Those of which an action can be read."""

STATUSES = {
    "429": 429,
    "500": 500,
    "502": 502,
    "503": 503,
    "529": 529,
    "408": 408,
    "400": 400,
    "401": 401,
    "402": 402,
    "403": 403,
    "404": 404,
    "413": 413,
    "422": 422,
    "501": 501,
    "no_credit": 429,
}
RETRIED = ("429", "500", "502", "503", "529", "408")
FINAL = ("400", "401", "402", "403", "404", "413", "422", "501", "no_credit", "bad_key_in_200")
BROKEN = (
    "error_in_200",
    "error_of_a_choice",
    "cut_body",
    "hang_up",
    "empty_body",
    "html",
    "not_json",
    "null",
    "list",
    "no_message",
    "odd_shape",
    "unfinished",
)
ENDLESS = ("silence", "drip")
"""Failures in which the server never comes to an end by itself."""


@dataclasses.dataclass
class Served:
    """What the server did.

    Attributes:
        schedule: behaviours of the next requests; "good" once it is used up.
        bodies: of the requests, in order.
        headers: likewise.
        input_tokens, output_tokens: of all answers that were wholly sent.
        most_at_once: requests in flight at a time.
        latency: seconds before an answer.
    """

    schedule: list[str]
    latency: float = 0.0
    bodies: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    headers: list[dict[str, str]] = dataclasses.field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    in_flight: int = 0
    most_at_once: int = 0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    closing: threading.Event = dataclasses.field(default_factory=threading.Event)
    url: str = ""


@contextmanager
def loopback(*schedule: str, latency: float = 0.0) -> Iterator[Served]:
    """Serves on a free port until the end of the block."""
    served = Served(list(schedule), latency)
    handler = type("Handler", (_Handler,), {"served": served})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.closing.set()
        server.shutdown()
        server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    served: Served
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self._in_flight(body):
            time.sleep(self.served.latency)
            speak = _anthropic if self.path.endswith("/messages") else _openai
            self._behave(self.behaviour, speak, json.dumps(body["messages"]))

    @contextmanager
    def _in_flight(self, body: dict[str, Any]) -> Iterator[None]:
        served = self.served
        with served.lock:
            self.behaviour = served.schedule.pop(0) if served.schedule else "good"
            served.bodies.append(body)
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            served.in_flight += 1
            served.most_at_once = max(served.most_at_once, served.in_flight)
        try:
            yield
        finally:
            with served.lock:
                served.in_flight -= 1

    def _behave(self, name: str, speak: Callable[..., dict[str, Any]], prompt: str) -> None:
        if name in TEXTS:
            self._answer(speak(usage=_usage(prompt, TEXTS[name]["text"]), **TEXTS[name]))
        elif name in STATUSES:
            self._status(name)
        elif name in ENDLESS:
            self._endless(name)
        elif name == "hang_up":
            self.close_connection = True
        else:
            self._broken(name, speak, _usage(prompt, "x" * 40))

    def _broken(self, name: str, speak: Callable[..., dict[str, Any]], usage: Any) -> None:
        good = speak(text=GOOD, usage=usage)
        if name == "error_in_200":
            self._answer({"error": _error("overloaded_error", "Busy"), "usage": good["usage"]})
        elif name == "bad_key_in_200":
            self._answer({"error": _error("authentication_error", f"no: {self._key()}")})
        elif name == "error_of_a_choice":
            failed = [{"index": 0, "message": None, "error": {"code": 502, "message": "Down"}}]
            self._answer(good | {"choices": failed, "error": {"code": 502, "message": "Down"}})
        elif name == "no_message":
            self._answer({**good, "choices": [], "content": None})
        elif name == "odd_shape":
            self._answer({**good, "choices": {"a": 1}, "content": 7})
        elif name == "unfinished":
            self._answer(speak(text=GOOD[:30], usage=usage, finish=None))
        elif name == "cut_body":
            raw = json.dumps(good).encode()
            self._send(200, raw[: len(raw) // 2], "application/json", len(raw))
            self.close_connection = True
        else:
            raw = {"empty_body": b"", "html": b"<html>", "not_json": b'{"a":'}.get(name)
            kind = "text/html" if name == "html" else "application/json"
            self._send(200, {"null": b"null", "list": b"[1]"}.get(name, raw) or b"", kind)

    def _answer(self, body: dict[str, Any]) -> None:
        usage = body.get("usage", {})
        with self.served.lock:
            self.served.input_tokens += usage.get("prompt_tokens", usage.get("input_tokens", 0))
            self.served.output_tokens += usage.get(
                "completion_tokens", usage.get("output_tokens", 0)
            )
        self._send(200, json.dumps(body).encode())

    def _status(self, name: str) -> None:
        code = "insufficient_quota" if name == "no_credit" else name
        error = _error(code, f"Trouble {name} with {self._key()}")
        raw = json.dumps({"type": "error", "error": {**error, "code": code}}).encode()
        self._send(STATUSES[name], raw, extra={"retry-after": "0.01"} if name == "429" else {})

    def _endless(self, name: str) -> None:
        self.close_connection = True
        if name == "silence":
            self.served.closing.wait(20)
            return
        self._send(200, b"", "application/json", 100_000)
        for _ in range(1000):
            if self.served.closing.wait(0.02):
                return
            self.wfile.write(b" ")

    def _key(self) -> str:
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "")
        return given.removeprefix("Bearer ")

    def _send(
        self,
        status: int,
        raw: bytes,
        kind: str = "application/json",
        length: int | None = None,
        extra: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw) if length is None else length))
        self.send_header("x-request-id", "request-7")
        self.send_header("request-id", "request-7")
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


def _usage(prompt: str, text: str) -> tuple[int, int, int]:
    """Tokens of the prompt, of the answer, and of its reasoning."""
    return len(prompt), len(text) + 5, 5


def _error(kind: str, message: str) -> dict[str, str]:
    return {"type": kind, "message": message}


def _openai(
    text: str, usage: tuple[int, int, int], reasoning: str = "", finish: str | None = "stop"
) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "reasoning_content": reasoning}
    finish = "content_filter" if finish == "refusal" else finish
    prompt, output, thought = usage
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "completion_tokens_details": {"reasoning_tokens": thought},
            "prompt_tokens_details": {"cached_tokens": 1},
        },
    }


def _anthropic(
    text: str, usage: tuple[int, int, int], reasoning: str = "", finish: str | None = "stop"
) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text}] if text else []
    if reasoning:
        blocks.insert(0, {"type": "thinking", "thinking": reasoning, "signature": ""})
    named = {"stop": "end_turn", "length": "max_tokens"}
    return {
        "id": "message-1",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": blocks,
        "stop_reason": named.get(finish or "", finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage[0],
            "output_tokens": usage[1],
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
    }
