"""Reads the answers of a server: values of the library, or what went wrong there or on the way as
the errors that the library raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.api import codec
from holdfast.errors import (
    Conflict,
    DeadlineExceeded,
    Forbidden,
    HoldfastError,
    InvalidInput,
    NotFound,
    ServerUnreachable,
    StoreBusy,
    StoreError,
    StoreFull,
)

if TYPE_CHECKING:
    import httpx2


_Kind = TypeVar("_Kind", bound=type)
_Value = TypeVar("_Value")


def decoded(url: str, kind: Callable[..., _Value], data: Any) -> _Value:
    """A value of that type from the answer of a server."""
    try:
        value: _Value = codec.coder(kind).decode(data)
    except codec.WireError as error:
        raise other_version(url, str(error)) from error
    return value


def understanding(kind: _Kind) -> _Kind:
    """Lets the public methods that a class defines say in a sentence that something cannot be
    sent, or that a server's answer lacks something."""
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") and isfunction(method):
            setattr(kind, name, _in_a_sentence(method))
    return kind


def _in_a_sentence(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def asked(self: Any, *args: Any, **given: Any) -> Any:
        try:
            return method(self, *args, **given)
        except UnicodeEncodeError:
            raise not_text() from None
        except KeyError as error:
            raise other_version(self.server.url, f"without {error}") from error

    return asked


def other_version(url: str, what: str) -> HoldfastError:
    """The error for a server's response that cannot be read; `what` completes "the server answers
    …"."""
    return HoldfastError(
        f"{url} answers {what}, which this version cannot read.",
        hint="Use the same version of Holdfast here and there.",
    )


def not_text() -> InvalidInput:
    return InvalidInput(
        "What was given holds characters that are no text, such as half of a pair.",
        hint="Leave them out.",
    )


def _classes(root: type[HoldfastError]) -> Iterator[type[HoldfastError]]:
    yield root
    for kind in root.__subclasses__():
        if kind.__module__ == root.__module__:
            yield from _classes(kind)


# The error class for each code of an answer; servers have a few more codes.
_BY_CODE: dict[str, type[HoldfastError]] = {
    **{kind.code: kind for kind in _classes(HoldfastError)},
    "invalid_request": InvalidInput,
    "version_mismatch": Conflict,
    "in_progress": Conflict,
    "overloaded": StoreBusy,
    "too_many_requests": StoreBusy,
    "too_many_sessions": StoreBusy,
    "in_doubt": ServerUnreachable,
    "no_write_access": Forbidden,
}
# For codes that are not in the table, such as those of a newer server.
_BY_STATUS: dict[int, type[HoldfastError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: StoreBusy,
    502: ServerUnreachable,
    503: StoreBusy,
    504: DeadlineExceeded,
    507: StoreFull,
}


def of_answer(url: str, answer: httpx2.Response) -> HoldfastError:
    """The error of this library that a server's response describes."""
    said = _error_in(answer)
    if said is None:
        kind = _BY_STATUS.get(answer.status_code, HoldfastError)
        return kind(
            f"{url} answers {answer.status_code}, and not as a Holdfast server does.",
            hint="Check the address, and what stands between you and the server.",
        )
    return of_body(url, said, answer.status_code)


def of_body(url: str, said: dict[str, Any], status: int = 500) -> HoldfastError:
    """The error of this library that the body of a server's response describes."""
    code = str(said.get("code", ""))
    hint = str(said.get("hint") or "")
    # The message ends with the hint, for clients that show only that.
    message = str(said.get("message", "")).removesuffix(hint).rstrip()
    by_status = InvalidInput if 400 <= status < 500 else HoldfastError
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, by_status)
    error = kind(message or f"{url} answers {status}.", hint=hint)
    error.command = str(said.get("command") or "")
    if isinstance(error, StoreError):
        error.in_doubt = code == "in_doubt"
    return error


def code_of(answer: httpx2.Response) -> str:
    """The error code of a server's response; empty if it has none."""
    return str((_error_in(answer) or {}).get("code", ""))


def _error_in(answer: httpx2.Response) -> dict[str, Any] | None:
    try:
        value = answer.json()
    except (ValueError, RecursionError):
        return None
    said = value.get("error") if isinstance(value, dict) else None
    return said if isinstance(said, dict) else None


def unreachable(url: str, error: httpx2.HTTPError, timeout_s: float) -> HoldfastError:
    """The error for a server that did not answer, and why."""
    import httpx2

    running = "Check that `holdfast serve` runs there, and the address."
    if isinstance(error, httpx2.ConnectTimeout):
        return ServerUnreachable(f"{url} did not answer within {timeout_s:g} s.", hint=running)
    if isinstance(error, httpx2.ConnectError):
        why = _refused(error)
        return ServerUnreachable(f"The server at {url} cannot be reached: {why}.", hint=running)
    if isinstance(error, httpx2.TimeoutException):
        return ServerUnreachable(
            f"{url} did not answer within {timeout_s:g} s.",
            hint="It may still be doing what was asked; look before you ask again.",
        )
    return ServerUnreachable(
        f"The connection to {url} broke ({type(error).__name__}).",
        hint="It may have done what was asked; look before you ask again.",
    )


def _refused(error: BaseException) -> str:
    """The reason in words that people know; the library's own are about sockets."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ConnectionRefusedError):
            return "nothing listens there"
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror[:1].lower() + seen.strerror[1:]
        seen = seen.__cause__ or seen.__context__
    text = str(error)
    return "nothing listens there" if "refused" in text.lower() else text or "no connection"
