"""Shared by all wire protocols: the API key, the deadline, the retries, parsing of answers, and
error messages; and a health check that needs no key."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.client import HTTPException
from threading import Thread
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

from holdfast.errors import ModelError, install_hint
from holdfast.llm import Message, Usage
from holdfast.llm.http_limits import Late, on_time
from holdfast.system import MODEL_SERVER, Failed, retry, retry_after_s

if TYPE_CHECKING:
    from httpx2 import Client, Response

    from holdfast.llm import ModelCall, Spec


# Far more than a pass allows; a server that sends more ignores the bound on tokens.
TEXT_CHARS_MAX = 100_000
# More than any model takes at once; what claims more has miscounted.
_TOKENS_MAX = 10_000_000
_CHARS_PER_TOKEN = 4
# What protocols take as the name of a tool or of a call.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


def text_of(value: Any) -> str:
    """A text of a language model, cut where it is too long. Half a surrogate pair, which JSON can
    spell and no store can keep, becomes a question mark."""
    found = value if isinstance(value, str) else ""
    return found[:TEXT_CHARS_MAX].encode("utf-8", "replace").decode("utf-8")


def clean(text: str) -> str:
    """The text for a language model without lone surrogates, so that it can be sent as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def arguments_of(value: Any) -> str:
    """A call's arguments as text; some servers send the object itself."""
    return text_of(value) if isinstance(value, str) else json.dumps(value)


def object_of(written: str) -> dict[str, Any]:
    """A call's arguments as an object, to send back; anything else becomes an empty one, because a
    server would refuse the whole conversation."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def plain_name(name: str) -> str:
    """A tool's name as a server takes it back; models make up others."""
    return name if _PLAIN.fullmatch(name) else "unknown"


def is_plain(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None


def spent(
    requests: int,
    counted: Any,
    names: tuple[str, str],
    system: str,
    messages: Sequence[Message],
    said: tuple[str, Sequence[ModelCall]],
) -> Usage:
    """The tokens that a request to a language model used, as the server counted them under these
    names; an estimate if it counted nothing, so that a cap holds there too."""
    counted = counted if isinstance(counted, dict) else {}
    text, calls = said
    sent_chars = len(system) + sum(
        len(one.text) + sum(len(call.arguments) for call in one.calls) for one in messages
    )
    said_chars = len(text) + sum(len(call.arguments) for call in calls)
    return Usage(
        requests,
        _count(counted.get(names[0]), sent_chars),
        _count(counted.get(names[1]), said_chars),
    )


def _count(value: Any, chars: int) -> int:
    if type(value) is int and 0 < value <= _TOKENS_MAX:
        return value
    return chars // _CHARS_PER_TOKEN


BACKOFF = MODEL_SERVER
_REASON_CHARS_MAX = 200
_RETRIED = (408, 409, 425, 429)  # and everything from 500: the server's own trouble

# Sends one request with the SDK's module, through this HTTP client, with this key, in this time.
Send = Callable[["Client", str, float], "Response"]


class Fault(NamedTuple):
    """The failure of one request to a language model. `again`: it may be tried again later; `now`:
    within this request."""

    message: str
    hint: str
    again: bool = True
    now: bool = False
    wait_s: float | None = None


class Sent(NamedTuple):
    """An answer of a language model that came: its JSON, and how many requests it took."""

    body: Any
    requests: int


class Endpoint:
    """The endpoint of a model. Creating one sends nothing and imports nothing."""

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

        def attempt() -> Sent | Failed:
            left_s = until - time.monotonic()
            came = self._once(sdk, send, key, left_s) if left_s > 0 else self._late(timeout_s)
            if not isinstance(came, Fault):
                return Sent(came, 1)
            self._log(came, key)
            return Failed(came, came.now, came.wait_s)

        came, requests = retry(attempt, BACKOFF, until=until, wait=self._wait)
        if isinstance(came, Failed):
            fault: Fault = came.fault
            raise ModelError(
                _without(fault.message, key), hint=fault.hint, again=fault.again, requests=requests
            )
        return came._replace(requests=requests)

    def _once(self, sdk: ModuleType, send: Send, key: str, left_s: float) -> Any | Fault:
        """One try: the JSON of a good answer, or what went wrong."""
        import httpx2

        from holdfast.llm.http_limits import RequestClient

        spec = self.spec
        line = RequestClient(spec.url, local=spec.is_local, with_key=bool(key), timeout_s=left_s)

        def work() -> Response:
            # Closed by its user, as closing it while another thread reads from it would be unsafe.
            with line.http:
                # The SDKs require a key; without one, the HTTP client removes the header.
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
            f"{self._model_name} did not answer within {seconds:.3g} s.",
            "Check that it runs, or allow it more time with `llm.seconds_max`.",
        )

    def _broken(self, cause: BaseException | None, left_s: float) -> Fault:
        import httpx2

        from holdfast.llm.http_limits import RESPONSE_BYTES_MAX, Packed, TooMuch

        if isinstance(cause, TooMuch):
            return Fault(
                f"{self._model_name} sent more than {RESPONSE_BYTES_MAX >> 10} KB for one answer.",
                "Check that the URL is that of a language model.",
                again=False,
            )
        if isinstance(cause, Packed):
            return Fault(
                f"{self._model_name} packed its answer, although it was asked not to.",
                "Switch compression off there, or in the proxy before it.",
                again=False,
            )
        if isinstance(cause, httpx2.TimeoutException):
            return self._late(left_s)
        if "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return Fault(
                f"{self._model_name} has a certificate that is not trusted here.",
                "Check the URL; SSL_CERT_FILE names a file of certificates of your own.",
                again=False,
            )
        if isinstance(cause, httpx2.ConnectError | UnicodeError):
            # What the system says of it, such as 'Connection refused'.
            return Fault(
                f"{self._model_name} cannot be reached: {_line(str(cause))}.",
                "Check the URL and that the server runs.",
                now=True,
            )
        return Fault(
            f"{self._model_name} broke off the connection ({type(cause).__name__}).",
            "Try again later.",
            now=True,
        )

    def _refused(self, response: Response) -> Fault:
        status = response.status_code
        if 300 <= status < 400:
            return Fault(
                f"{self._model_name} redirects elsewhere (status {status}).",
                "Redirects are not followed; set the URL it leads to.",
                again=False,
            )
        if status in (401, 403):
            return Fault(
                f"{self._model_name} refused the key (status {status}).",
                f"Check the key in the environment variable {self._key_variable}.",
                again=False,
            )
        if status == 429 or status >= 500:
            wait_s = retry_after_s(response.headers.get("retry-after", ""))
            asked = f" and asks to wait {wait_s:g} s" if wait_s else ""
            said = "has had too many requests" if status == 429 else "is in trouble"
            return Fault(
                f"{self._model_name} {said} (status {status}){asked}.",
                "Try again later.",
                now=True,
                wait_s=wait_s,
            )
        return Fault(
            f"{self._model_name} refused the request (status {status}){_reason(response)}.",
            "Check the model's name, and that the URL is that of its API.",
            again=status in _RETRIED,
            now=status in _RETRIED,
        )

    def _unreadable(self, kind: str) -> Fault:
        return Fault(
            f"{self._model_name} sent something that is no answer in JSON ({kind}).",
            "Check that the URL is that of a language model, such as http://…/v1.",
        )

    def wrong_shape(self, what: str) -> ModelError:
        """For an answer in JSON that does not hold what the protocol promises."""
        return ModelError(
            f"{self._model_name} sent an answer of the wrong shape: {what}.",
            hint="Check that the URL speaks this protocol.",
            again=True,
        )

    @property
    def _model_name(self) -> str:
        return f"The language model {self.spec.name}"

    # The key

    def _key(self) -> str:
        """The key, or '' if none is needed. This machine's own servers get one only where a
        setting names its variable: they need none, and the key must not be sent to an unknown local
        program."""
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


class EndpointModel:
    """A model behind a URL; a subclass speaks the protocol."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        return self._endpoint.spec.name


def need(module: str) -> ModuleType:
    """The SDK, imported now; a ModelError with the pip command where it is not installed."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ModelError(
            f"This language model needs the package {module}, which cannot be imported ({error}).",
            hint=install_hint("llm"),
            requests=0,
        ) from None


def _reason(response: Response) -> str:
    """The server's reason, in one short line of plain characters."""
    line = _line(response.content[: _REASON_CHARS_MAX * 8].decode("utf-8", "replace"))
    return f": {line}" if line else ""


def _line(text: str) -> str:
    """A short line of plain characters."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(plain.split())[:_REASON_CHARS_MAX]


def _without(message: str, key: str) -> str:
    return message.replace(key, "[key]") if key else message


# Longer than a running server takes, and short enough for a person who waits.
WAIT_S = 2.0


def answering(urls: Iterable[str], *, wait_s: float = WAIT_S) -> dict[str, str]:
    """Asks all of these model servers at once, and waits no longer than this: '' for each that
    answers, and for the others why they do not."""
    faults: dict[str, str] = {}
    wanted = list(dict.fromkeys(urls))
    # In daemon threads, as resolving a host name has no timeout.
    asking = [Thread(target=_ask, args=(url, wait_s, faults), daemon=True) for url in wanted]
    for one in asking:
        one.start()
    until = monotonic() + wait_s
    for one in asking:
        one.join(max(0.0, until - monotonic()))
    return {url: faults.get(url, f"no answer within {wait_s:g} seconds") for url in wanted}


def _ask(url: str, wait_s: float, faults: dict[str, str]) -> None:
    try:
        with urlopen(f"{url}/models", timeout=wait_s):
            faults[url] = ""
    except HTTPError as refusal:
        # It asks for a key, or has no such list: the server answers.
        refusal.close()
        faults[url] = ""
    except TimeoutError:
        # A caller that waits says so.
        return
    except (OSError, HTTPException, ValueError) as error:
        cause = getattr(error, "reason", error)
        if not isinstance(cause, TimeoutError):
            faults[url] = str(getattr(cause, "strerror", None) or cause)
