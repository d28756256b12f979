"""What all protocols share: the key, the time, the tries, and plain words for what goes wrong.

The key is read from the environment when a request is made, is never kept, and appears in no error
and no log. An endpoint that is slow, broken or lying ends as a ModelError within the time. What is
sent and how an answer reads, the protocols know.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import ModelError
from holdfast.llm.on_time import Late, on_time

if TYPE_CHECKING:
    from httpx2 import Client, Response

    from holdfast.llm.find import Spec

RETRIES_MAX = 2  # a server that fails three times in a row is down
BACKOFF_S = 0.5  # then twice that: long enough for a restart of a proxy
_REASON_CHARS_MAX = 200
_RETRIED = (408, 409, 425, 429)  # and everything from 500: the server's own trouble

# Sends one request with the SDK's module, through this HTTP client, with this key, in this time.
Send = Callable[["Client", str, float], "Response"]


class Fault(NamedTuple):
    """What went wrong with one try. `again` is for later, `now` for within this request."""

    message: str
    hint: str
    again: bool = True
    now: bool = False
    wait_s: float | None = None


class Sent(NamedTuple):
    """An answer that came: its JSON, and how many requests it took."""

    body: Any
    requests: int


class Endpoint:
    """Where a model is served. Making one sends nothing and imports nothing."""

    def __init__(
        self,
        spec: Spec,
        key_variable: str,
        *,
        key_named: bool = False,
        environment: Mapping[str, str] = os.environ,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.spec = spec
        self._key_variable = key_variable
        self._key_named = key_named
        self._environment = environment
        self._wait = wait

    def request(self, sdk: ModuleType, send: Send, timeout_s: float) -> Sent:
        """One request with as many tries as are sensible within the time."""
        key = self._key()
        until = time.monotonic() + timeout_s
        for attempt in range(RETRIES_MAX + 1):
            left_s = until - time.monotonic()
            came = self._once(sdk, send, key, left_s) if left_s > 0 else self._late(timeout_s)
            if not isinstance(came, Fault):
                return Sent(came, attempt + 1)
            delay_s = came.wait_s if came.wait_s is not None else BACKOFF_S * 2**attempt
            self._log(came, key)
            if not came.now or attempt == RETRIES_MAX or time.monotonic() + delay_s >= until:
                break
            self._wait(delay_s)
        raise ModelError(
            _without(came.message, key), hint=came.hint, again=came.again, requests=attempt + 1
        )

    def _once(self, sdk: ModuleType, send: Send, key: str, left_s: float) -> Any | Fault:
        """One try: the JSON of a good answer, or what went wrong."""
        import httpx2

        from holdfast.llm.line import Line

        spec = self.spec
        line = Line(spec.url, local=spec.is_local, with_key=bool(key), timeout_s=left_s)

        def work() -> Response:
            # Closed by who uses it: under the feet of a thread that reads it would be a hazard.
            with line.http:
                # The SDKs insist on a key; the line lets none out where there is none.
                return send(line.http, key or "none", left_s)

        try:
            response = on_time(work, left_s, line.cut)
        except Late:
            return self._late(left_s)
        except sdk.APIStatusError as error:
            return self._refused(error.response)
        except sdk.APIConnectionError as error:
            return self._broken(error.__cause__, left_s)
        except (httpx2.HTTPError, UnicodeError) as error:  # the latter: a host of odd dots
            return self._broken(error, left_s)
        except (sdk.APIError, ValueError, TypeError, RecursionError) as error:
            # An answer that the SDK itself trips over.
            return self._unreadable(type(error).__name__)
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError) as error:
            return self._unreadable(type(error).__name__)

    # What went wrong, in plain words

    def _late(self, seconds: float) -> Fault:
        return Fault(
            f"{self._who} did not answer within {seconds:.3g} s.",
            "Check that it runs, or allow it more time with `llm.seconds_max`.",
        )

    def _broken(self, cause: BaseException | None, left_s: float) -> Fault:
        import httpx2

        from holdfast.llm.line import RESPONSE_BYTES_MAX, Packed, TooMuch

        if isinstance(cause, TooMuch):
            return Fault(
                f"{self._who} sent more than {RESPONSE_BYTES_MAX >> 10} KB for one answer.",
                "Check that the URL is that of a language model.",
                again=False,
            )
        if isinstance(cause, Packed):
            return Fault(
                f"{self._who} packed its answer, although it was asked not to.",
                "Switch compression off there, or in the proxy before it.",
                again=False,
            )
        if isinstance(cause, httpx2.TimeoutException):
            return self._late(left_s)
        if "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return Fault(
                f"{self._who} has a certificate that is not trusted here.",
                "Check the URL; SSL_CERT_FILE names a file of certificates of your own.",
                again=False,
            )
        if isinstance(cause, httpx2.ConnectError | UnicodeError):
            # What the system says of it, such as 'Connection refused'.
            return Fault(
                f"{self._who} cannot be reached: {_line(str(cause))}.",
                "Check the URL and that the server runs.",
                now=True,
            )
        return Fault(
            f"{self._who} broke off the connection ({type(cause).__name__}).",
            "Try again later.",
            now=True,
        )

    def _refused(self, response: Response) -> Fault:
        status = response.status_code
        if 300 <= status < 400:
            return Fault(
                f"{self._who} redirects elsewhere (status {status}).",
                "Redirects are not followed; set the URL it leads to.",
                again=False,
            )
        if status in (401, 403):
            return Fault(
                f"{self._who} refused the key (status {status}).",
                f"Check the key in the environment variable {self._key_variable}.",
                again=False,
            )
        if status == 429 or status >= 500:
            wait_s = _asked_to_wait(response)
            asked = f" and asks to wait {wait_s:g} s" if wait_s else ""
            said = "has had too many requests" if status == 429 else "is in trouble"
            return Fault(
                f"{self._who} {said} (status {status}){asked}.",
                "Try again later.",
                now=True,
                wait_s=wait_s,
            )
        return Fault(
            f"{self._who} refused the request (status {status}){_reason(response)}.",
            "Check the model's name, and that the URL is that of its API.",
            again=status in _RETRIED,
            now=status in _RETRIED,
        )

    def _unreadable(self, kind: str) -> Fault:
        return Fault(
            f"{self._who} sent something that is no answer in JSON ({kind}).",
            "Check that the URL is that of a language model, such as http://…/v1.",
        )

    def wrong_shape(self, what: str) -> ModelError:
        """For an answer in JSON that does not hold what the protocol promises."""
        return ModelError(
            f"{self._who} sent an answer of the wrong shape: {what}.",
            hint="Check that the URL speaks this protocol.",
            again=True,
        )

    @property
    def _who(self) -> str:
        return f"The language model {self.spec.name}"

    # The key

    def _key(self) -> str:
        """The key, or '' where none is needed. This machine's own servers get one only where a
        setting names its variable: they need none, and it is not for whoever listens there."""
        local = self.spec.is_local
        if local and not self._key_named:
            return ""
        key = self._environment.get(self._key_variable, "").strip()
        if not key and local:
            return ""
        if not key:
            raise ModelError(
                f"The environment variable {self._key_variable} for the key of the language model"
                f" {self.spec.name} is not set.",
                hint="Set it, or name another with `llm.key_variable`.",
                requests=0,
            )
        # Checked here, since the error of a library below would show the key.
        if not (key.isascii() and key.isprintable()):
            raise ModelError(
                f"The key in the environment variable {self._key_variable} has characters that"
                " cannot be sent.",
                hint="Copy it again, without line breaks.",
                requests=0,
            )
        return key

    def _log(self, fault: Fault, key: str) -> None:
        import logging

        logging.getLogger("holdfast.llm").info("%s", _without(fault.message, key))


def need(module: str) -> ModuleType:
    """The SDK, imported now; a ModelError with the pip command where it is not installed."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ModelError(
            f"This language model needs the package {module}, which cannot be imported ({error}).",
            hint='Install it from a checkout: pip install ".[llm]"',
            requests=0,
        ) from None


def _asked_to_wait(response: Response) -> float | None:
    """The seconds of Retry-After; a date or anything else there is passed over."""
    asked = response.headers.get("retry-after", "").strip()
    # Longer than any pass may take counts as just that, however many digits it has.
    return float(asked[:6]) if asked.isascii() and asked.isdigit() else None


def _reason(response: Response) -> str:
    """What the server gave as its reason, in one short line of plain characters."""
    line = _line(response.content[: _REASON_CHARS_MAX * 8].decode("utf-8", "replace"))
    return f": {line}" if line else ""


def _line(text: str) -> str:
    """A short line of plain characters."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(plain.split())[:_REASON_CHARS_MAX]


def _without(message: str, key: str) -> str:
    return message.replace(key, "[key]") if key else message
