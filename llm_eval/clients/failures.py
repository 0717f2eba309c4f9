"""From the exceptions of the SDKs to ours, without ever repeating a key."""

import asyncio
import email.utils
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import SecretStr

from llm_eval.clients.base import Reply, Usage
from llm_eval.clients.config import ClientConfig
from llm_eval.clients.errors import ClientError, FailureKind, FinalError, InfrastructureError

Answer = TypeVar("Answer")

LONGEST_QUOTE = 300
"""Characters of an endpoint's message that are repeated."""

KIND_OF_STATUS = {
    408: FailureKind.TIME_OUT,
    409: FailureKind.SERVER_ERROR,
    425: FailureKind.SERVER_ERROR,
    429: FailureKind.RATE_LIMIT,
    504: FailureKind.TIME_OUT,
    529: FailureKind.OVERLOADED,
}
"""Statuses worth another try; further ones from 500 on are server errors."""

NEVER_BETTER = frozenset({501, 505})
"""Server errors that no waiting mends."""

ADVICE = {
    401: "check the key",
    402: "add credit to the account and start the run again to go on",
    403: "check what the key may do",
    404: "check the model's name and the base_url",
    413: "shorten the prompt or take a model with a longer context",
}
"""What to do about a final status; elsewhere the request does not suit the endpoint."""

STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""The status that an error's type stands for, where it comes inside a 200."""

NO_CREDIT = frozenset({"insufficient_quota", "billing_not_active"})
"""Codes of a 429 that no waiting mends."""


async def ask(
    call: Awaitable[Answer],
    read: Callable[[Answer, float], Reply],
    config: ClientConfig,
    sdk_error: type[Exception],
    key: SecretStr | None,
) -> Reply:
    """Awaits one call of an SDK and reads its answer.

    What it raises has no exception of the SDK as its cause or context: those hold the request,
    and with it the key.

    Args:
        call: to await.
        read: makes the reply of the answer and of the seconds that it took.
        config: of the endpoint.
        sdk_error: base class of the SDK's exceptions.
        key: to keep out of messages.

    Raises:
        InfrastructureError, FinalError: as the failure is worth another try or not.
    """
    started = time.perf_counter()
    try:
        async with asyncio.timeout(config.timeout_seconds):
            answer = await call
        return read(answer, time.perf_counter() - started)
    except (sdk_error, ValueError, OSError) as error:
        failure = translate(error, config, key)
    except (AttributeError, TypeError, LookupError):
        # the SDKs do not check what they are sent
        failure = broken_reply(config, "an answer of another shape than its API's")
    raise failure


def translate(error: Exception, config: ClientConfig, key: SecretStr | None) -> ClientError:
    """Our exception for one of an SDK, of its HTTP client, or of a body that is no JSON."""
    status = getattr(error, "status_code", None)
    said = quote(getattr(error, "message", str(error)), key)
    if isinstance(error, TimeoutError) or type(error).__name__ == "APITimeoutError":
        return InfrastructureError(
            FailureKind.TIME_OUT,
            f"{config.endpoint} did not answer within {config.timeout_seconds:g} s.",
        )
    if type(error).__name__ == "APIResponseValidationError" or isinstance(error, ValueError):
        return broken_reply(config, f"no answer of its API ({said})")
    if status is None:
        return InfrastructureError(
            FailureKind.CONNECTION, f"The connection to {config.endpoint} failed: {said}."
        )
    wait = retry_after(getattr(error, "response").headers, time.time())  # noqa: B009 (any SDK's)
    return from_status(status, said, config, code_of(getattr(error, "body", None)), wait)


def from_status(
    status: int,
    said: str,
    config: ClientConfig,
    code: str = "",
    wait: float | None = None,
    usage: Usage | None = None,
) -> ClientError:
    """The exception for an HTTP status, or for what stands for one."""
    if status == 429 and code in NO_CREDIT:
        status = 402
    retried = status in KIND_OF_STATUS or (status >= 500 and status not in NEVER_BETTER)
    if retried:
        kind = KIND_OF_STATUS.get(status, FailureKind.SERVER_ERROR)
        message = f"{config.endpoint} answered {status}: {said}."
        return InfrastructureError(kind, message, wait, usage)
    advice = ADVICE.get(status, "change the client's configuration to what the endpoint takes")
    return FinalError(
        f"{config.endpoint} refused the request to {config.model} ({status}: {said}); {advice}."
    )


def broken_reply(config: ClientConfig, what: str, usage: Usage | None = None) -> ClientError:
    """The exception for a 200 that holds no whole answer."""
    message = f"{config.endpoint} sent {what}."
    return InfrastructureError(FailureKind.BROKEN_REPLY, message, usage=usage)


def error_in_reply(
    error: object, config: ClientConfig, key: SecretStr | None, usage: Usage | None = None
) -> ClientError:
    """The exception for an error inside a 200."""
    fields = error if isinstance(error, Mapping) else {"message": str(error)}
    said = quote(str(fields.get("message", "an error without a message")), key)
    status = status_in(fields)
    if status is not None and 400 <= status < 600:
        failure = from_status(status, said, config, code_of(fields), usage=usage)
        if isinstance(failure, FinalError):
            return failure
    message = f"{config.endpoint} sent an error in place of an answer: {said}."
    return InfrastructureError(FailureKind.ERROR_IN_REPLY, message, usage=usage)


def status_in(fields: Mapping[str, Any]) -> int | None:
    """The HTTP status that an error's code or type names."""
    code = str(fields.get("code", ""))
    if code.isascii() and code.isdigit() and len(code) == 3:
        return int(code)
    if code in NO_CREDIT:
        return 402
    return STATUS_OF_TYPE.get(str(fields.get("type", "")))


def code_of(body: object) -> str:
    """The code of an error's body, which is the error or holds it; empty if there is none."""
    if not isinstance(body, Mapping):
        return ""
    inner = body.get("error")
    fields = inner if isinstance(inner, Mapping) else body
    return str(fields.get("code") or fields.get("type") or "")


def quote(text: object, key: SecretStr | None) -> str:
    """One line of an endpoint's words, the key crossed out."""
    words = " ".join(str(text).split())
    if key is not None:
        words = words.replace(key.get_secret_value(), "[key]")
    return words[:LONGEST_QUOTE].rstrip(".") or "no message"


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the endpoint asks to wait; None where it does not, or asks nonsense.

    Args:
        headers: of the response.
        now: seconds since the epoch.
    """
    milliseconds, stated = headers.get("retry-after-ms"), headers.get("retry-after")
    seconds = _number(milliseconds) / 1000 if milliseconds else math.nan
    if math.isnan(seconds) and stated:
        seconds = _number(stated)
    if math.isnan(seconds) and stated:
        try:
            seconds = email.utils.parsedate_to_datetime(stated).timestamp() - now
        except ValueError:
            return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
