"""Replays the replies of an interrupted run, then goes on live and records what comes."""

from collections.abc import Mapping
from typing import Any, Protocol

from llm_eval.clients.base import Client, Reply, Request
from llm_eval.clients.errors import PromptChanged


class ReplyLog(Protocol):
    """Where replies are kept, in streams; `records.Replies` is one."""

    def next_of(self, stream: str) -> Mapping[str, Any] | None:
        """Takes the first recorded entry of a stream that was not replayed yet."""

    async def append(self, entry: Mapping[str, Any]) -> None:
        """Adds an entry; when this returns it outlives the process and the machine."""


class Recorded:
    """A client of one seat, which asks one thing at a time.

    Args:
        client: to ask once the records are used up.
        log: the run's replies.
        stream: the seat's name, unique within the log.
        player: who answers; kept in the records.
    """

    def __init__(self, client: Client, log: ReplyLog, stream: str, player: str) -> None:
        self._client = client
        self._log = log
        self._stream = stream
        self._player = player

    async def complete(self, request: Request) -> Reply:
        """The recorded reply without a call, or the live one once it is on disk.

        Raises:
            PromptChanged: the recorded reply answers another prompt.
        """
        entry = self._log.next_of(self._stream)
        if entry is not None:
            self._check(entry, request)
            return Reply.from_json(entry["reply"])
        reply = await self._client.complete(request)
        await self._log.append(
            {
                "stream": self._stream,
                "player": self._player,
                "tags": dict(request.tags),
                "prompt": request.prompt_hash,
                "reply": reply.to_json(),
            }
        )
        return reply

    def _check(self, entry: Mapping[str, Any], request: Request) -> None:
        if entry["prompt"] != request.prompt_hash:
            raise PromptChanged(
                f"The recorded reply of {self._stream} at {_place(entry['tags'])} answers another "
                f"prompt than the one of {_place(request.tags)} now; go on with the version that "
                "began the run, or begin a new one."
            )


def _place(tags: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in tags.items()) or "an unnamed place"
