"""Any server with an OpenAI-compatible `/embeddings` endpoint: Ollama, vLLM, llama.cpp, OpenAI.

It knows HTTP and that one request. The key is read from an environment variable when a request is
made, is never stored, and appears in no error. A server that is slow, broken or lying ends as an
EmbedderError within the time limit; redirects are not followed, since they would carry the texts
and the key to a host nobody chose.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.embed import (
    PrefixedEmbedder,
    choose_prefixes,
    need,
    passage_mark,
)
from holdfast.errors import EmbedderError, InvalidSetting
from holdfast.system import MODEL_SERVER, Failed, retry

if TYPE_CHECKING:
    from holdfast.embed import Matrix

BATCH_TEXTS_MAX = 64  # what common servers take at once without a time-out on a small machine
TIMEOUT_S = 10.0  # for one batch with all its retries; recall waits no longer for a dead server

# 64 vectors of 8,192 numbers of 25 characters are 13 MB; what is larger is not an answer.
RESPONSE_BYTES_MAX = 32 << 20
ERROR_BYTES_MAX = 2000  # of a server's error text, enough for its reason
REASON_CHARACTERS_MAX = 200
READ_BYTES = 1 << 16
TOKENS_MAX = 512  # the smallest limit among the models commonly served; it can be set

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class _Failure(NamedTuple):
    message: str
    hint: str
    again: bool  # whether another try may help


class OpenAICompatibleEmbedder(PrefixedEmbedder):
    """A model behind an URL. Making one sends nothing."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        key_variable: str = "",
        dimensions: int = 0,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        tokens_max: int = TOKENS_MAX,
        timeout_s: float = TIMEOUT_S,
        environment: Mapping[str, str] = os.environ,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._model = model
        self._url, self._host = _endpoint(base_url)
        self._key_variable = key_variable
        self._asked_dimensions = dimensions
        self._dimensions = dimensions
        self._prefixes = choose_prefixes(model, query_prefix, passage_prefix)
        self._tokens_max = tokens_max
        self._timeout_s = timeout_s
        self._environment = environment
        self._wait = wait

    @property
    def identity(self) -> str:
        # The URL belongs to it: some servers answer to any model name, with whatever they serve.
        asked = f"/{self._asked_dimensions}" if self._asked_dimensions else ""
        return f"openai:{self._model}@{self._url}{asked}{passage_mark(self._prefixes)}"

    def _embed(self, texts: list[str]) -> Matrix:
        need("numpy")
        import numpy as np

        if not texts:
            return self._no_rows()
        parts = []
        for start in range(0, len(texts), BATCH_TEXTS_MAX):
            batch = texts[start : start + BATCH_TEXTS_MAX]
            parts.append(self._unit_rows(read_vectors(self._ask(batch)), len(batch)))
        return np.concatenate(parts)

    def _ask(self, texts: list[str]) -> bytes:
        """The body of the answer for one batch, after as many tries as are sensible."""
        # Half a surrogate pair cannot be sent as UTF-8 and some servers refuse its escape.
        inputs = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        request: dict[str, Any] = {
            "model": self._model,
            "input": inputs,
            "encoding_format": "float",
        }
        if self._asked_dimensions:
            request["dimensions"] = self._asked_dimensions
        key = self._key()
        deadline = time.monotonic() + self._timeout_s

        def attempt() -> bytes | Failed:
            answer = self._send(json.dumps(request).encode("ascii"), key, deadline)
            return answer if isinstance(answer, bytes) else Failed(answer, answer.again)

        answer, _ = retry(attempt, MODEL_SERVER, until=deadline, wait=self._wait)
        if isinstance(answer, Failed):
            fault: _Failure = answer.fault
            raise EmbedderError(_without_key(fault.message, key), hint=fault.hint)
        return answer

    def _send(self, body: bytes, key: str, deadline: float) -> bytes | _Failure:
        """One request: the body of a good answer, or what went wrong."""
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = Request(self._url, data=body, headers=headers, method="POST")
        remaining_s = max(0.001, deadline - time.monotonic())
        try:
            with _opener(self._host).open(request, timeout=remaining_s) as response:
                return self._read(response, deadline)
        except HTTPError as error:
            with error:
                return self._refused(error, deadline)
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                return self._late()
            return self._unreachable(error.reason)
        except TimeoutError:
            return self._late()
        except (OSError, HTTPException, UnicodeError) as error:  # the last: a host of odd dots
            return self._unreachable(error)

    def _read(self, response: Any, deadline: float) -> bytes | _Failure:
        """The whole body, unless it is too large or trickles in for too long."""
        body = bytearray()
        while block := response.read1(READ_BYTES):
            body += block
            if len(body) > RESPONSE_BYTES_MAX:
                return _Failure(
                    f"The embedding server {self._url} sent more than"
                    f" {RESPONSE_BYTES_MAX >> 20} MB for one batch.",
                    "Check that the URL is that of an embeddings endpoint.",
                    again=False,
                )
            if time.monotonic() > deadline:
                return self._late()
        if response.length:  # what the headers promised and did not come
            return self._unreachable("the answer broke off")
        return bytes(body)

    def _refused(self, error: Any, deadline: float) -> _Failure:
        status: int = error.code
        if 300 <= status < 400:
            return _Failure(
                f"The embedding server {self._url} redirects elsewhere (status {status}).",
                "Redirects are not followed; set the URL it leads to.",
                again=False,
            )
        if status in (401, 403):
            name = self._key_variable
            return _Failure(
                f"The embedding server {self._url} refused the key (status {status}).",
                f"Check the key in the environment variable {name}."
                if name
                else "Set the name of the environment variable that holds its key.",
                again=False,
            )
        reason = _reason(error) if time.monotonic() < deadline else ""
        return _Failure(
            f"The embedding server {self._url} answered with status {status}{reason}.",
            "Try again later." if status == 429 or status >= 500 else "Check the model's name.",
            again=status == 429 or status >= 500,
        )

    def _late(self) -> _Failure:
        # Not tried again: the time is used up.
        return _Failure(
            f"The embedding server {self._url} did not answer within {self._timeout_s:g} s.",
            "Check that it runs, or allow it more time.",
            again=False,
        )

    def _unreachable(self, reason: object) -> _Failure:
        return _Failure(
            f"The embedding server {self._url} cannot be reached: {reason}.",
            "Check the URL and that the server runs.",
            again=True,
        )

    def _key(self) -> str:
        if not self._key_variable:
            return ""
        key = self._environment.get(self._key_variable, "").strip()
        if not key:
            raise EmbedderError(
                f"The environment variable {self._key_variable} for the embedding server's key is"
                " not set.",
                hint="Set it, or name another variable in the settings.",
            )
        # Checked here, since the error of the library below would show the key.
        if not (key.isascii() and key.isprintable()):
            raise EmbedderError(
                f"The key in the environment variable {self._key_variable} has characters that"
                " cannot be sent.",
                hint="Copy it again, without line breaks.",
            )
        return key


def read_vectors(body: bytes) -> Matrix:
    """The vectors of an embedding server's answer, in the order of the texts; their worth is
    checked elsewhere."""
    import numpy as np

    try:
        rows = json.loads(body)["data"]
        if all("index" in row for row in rows):
            rows = sorted(rows, key=lambda row: int(row["index"]))
            numbers = [int(row["index"]) for row in rows]
            if numbers != list(range(len(rows))):
                raise EmbedderError("The embedding server numbered its vectors wrongly.")
        vectors = [row["embedding"] for row in rows]
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise EmbedderError(
                f"The embedding server sent vectors of different lengths: {sorted(lengths)}."
            )
        with np.errstate(over="ignore"):  # becomes infinity, which is refused by name
            return np.array(vectors or np.zeros((0, 0)), dtype=np.float32)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise EmbedderError(
            "The embedding server's answer is not a list of embeddings in JSON"
            f" ({type(error).__name__}).",
            hint="Check that the URL is that of an OpenAI-compatible API, such as http://…/v1.",
        ) from error


def _endpoint(base_url: str) -> tuple[str, str]:
    """The URL of the embeddings and its host; an URL that cannot be used is a bad setting."""
    from urllib.parse import urlsplit

    form = "It looks like http://localhost:11434/v1; the key goes into an environment variable."
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidSetting(f"The embedding server's URL is broken: {error}.", hint=form) from None
    if parts.username or parts.password:
        raise InvalidSetting("The embedding server's URL must not hold a password.", hint=form)
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"  # a key may be in the query
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidSetting(f"{shown!r} is not the URL of an embedding server.", hint=form)
    if not (shown.isascii() and shown.isprintable() and " " not in shown):
        raise InvalidSetting(f"{shown!r} has characters that an URL cannot have.", hint=form)
    return f"{shown.rstrip('/').removesuffix('/embeddings')}/embeddings", host


def _opener(host: str) -> Any:
    """Opens URLs without following redirects, and asks this machine itself without a proxy."""
    from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    if host in LOOPBACK_HOSTS:
        return build_opener(NoRedirects, ProxyHandler({}))
    return build_opener(NoRedirects)


def _reason(error: Any) -> str:
    """The server's reason, in one short line of plain characters."""
    from http.client import HTTPException

    try:
        text = error.read1(ERROR_BYTES_MAX).decode("utf-8", "replace")
    except (OSError, HTTPException):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f": {line[:REASON_CHARACTERS_MAX]}" if line else ""


def _without_key(message: str, key: str) -> str:
    return message.replace(key, "[key]") if key else message
