"""An endpoint that fails in every way ends as a ModelError, in time, with a plain sentence."""

from __future__ import annotations

import logging
import shutil
import ssl
import subprocess
import threading
import time
import tracemalloc
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ModelError
from holdfast.llm import Answer, Message, Model, endpoint, find_model
from holdfast.llm.endpoint import TEXT_CHARS_MAX
from holdfast.llm.http_limits import RESPONSE_BYTES_MAX
from tests.unit.llm.protocols import OPENAI, PROTOCOLS, Protocol
from tests.unit.llm.servers import (
    Behaviour,
    break_off,
    flood,
    hang,
    reply,
    reset,
    serving,
    trickle_body,
    trickle_headers,
)

both = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.name)
# A machine under load may be late by this; the limits below are far from it.
SLACK_S = 3.0


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """The first request of a process imports a library for seconds, which is not what the limits
    here are about."""
    import_module("anthropic")
    import_module("openai")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BACKOFF", endpoint.BACKOFF._replace(first_s=0.001))


def ask(model: Model, timeout_s: float = 10.0) -> Answer:
    return model.ask("", [Message("user", "Hi")], tokens_max=100, timeout_s=timeout_s)


def refused(protocol: Protocol, *behaviours: Behaviour, timeout_s: float = 10.0) -> ModelError:
    with serving(*behaviours) as server, pytest.raises(ModelError) as caught:
        ask(protocol.model(server), timeout_s)
    assert caught.value.hint
    return caught.value


@both
@pytest.mark.parametrize("slow", [hang, trickle_headers, trickle_body])
def test_an_endpoint_that_never_ends_is_given_up_when_the_time_is_up(
    protocol: Protocol, slow: Behaviour
) -> None:
    began = time.monotonic()
    error = refused(protocol, slow, timeout_s=0.3)
    assert time.monotonic() - began < 0.3 + SLACK_S
    assert "did not answer within" in str(error)
    assert error.again


@both
@pytest.mark.parametrize("slow", [hang, trickle_headers, trickle_body])
def test_nothing_is_left_running_for_an_endpoint_that_was_given_up(
    protocol: Protocol, slow: Behaviour
) -> None:
    with serving(slow) as server:
        with pytest.raises(ModelError):
            ask(protocol.model(server), 0.2)
        for one in threading.enumerate():
            if one.name == "holdfast-model":
                one.join(SLACK_S)
                assert not one.is_alive()


@both
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (reset, "broke off the connection"),
        (break_off, "broke off the connection"),
        (reply({}, status=429), "too many requests"),
        (reply({}, status=500), "is in trouble"),
        (reply(raw=b"<html>", status=503), "is in trouble"),
    ],
)
def test_a_fault_that_passes_is_tried_again_a_few_times(
    protocol: Protocol, broken: Behaviour, said: str
) -> None:
    with serving(broken, broken, reply(protocol.says("Here I am."))) as server:
        found = ask(protocol.model(server))
    assert (found.text, found.usage.requests) == ("Here I am.", 3)
    with serving(broken) as server, pytest.raises(ModelError, match=said) as caught:
        ask(protocol.model(server))
    assert len(server.heard) == caught.value.requests == 3
    assert caught.value.again


def test_a_server_that_is_not_there_says_so() -> None:
    with serving(hang) as server:
        model = OPENAI.model(server)
    with pytest.raises(ModelError, match=r"cannot be reached: .*[Rr]efused") as caught:
        ask(model)
    assert caught.value.again


@both
def test_a_host_that_cannot_be_one_is_not_reached(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    model = find_model(f"{protocol.name}:m@http://a..b/v1", key_variable_named="MY_KEY")
    assert model is not None
    with pytest.raises(ModelError, match="cannot be reached"):
        ask(model)


@both
def test_a_certificate_that_nobody_vouches_for_is_refused(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-not-for-strangers")
    with serving(reply(protocol.says("Hi."))) as server:
        server.socket = own_certificate(tmp_path).wrap_socket(server.socket, server_side=True)
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        model = find_model(f"{protocol.name}:m@{url}", key_variable_named="MY_KEY")
        assert model is not None
        with pytest.raises(ModelError, match="certificate that is not trusted") as caught:
            ask(model)
        assert server.heard == []
    assert not caught.value.again


def own_certificate(folder: Path) -> ssl.SSLContext:
    """What a server shows that has signed for itself."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    files = ("-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost")
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    subprocess.run([openssl, *words, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@both
def test_a_server_that_asks_to_wait_is_waited_for(protocol: Protocol) -> None:
    busy = reply({}, status=429, retry_after="1")
    began = time.monotonic()
    with serving(busy, reply(protocol.says("Now."))) as server:
        assert ask(protocol.model(server)).text == "Now."
    assert time.monotonic() - began >= 1.0


@both
@pytest.mark.parametrize("asked", ["3600", "9" * 400])
def test_a_wait_beyond_the_time_is_not_waited(protocol: Protocol, asked: str) -> None:
    with (
        serving(reply({}, status=429, retry_after=asked)) as server,
        pytest.raises(ModelError, match="asks to wait") as caught,
    ):
        ask(protocol.model(server))
    assert len(server.heard) == 1
    assert caught.value.again


@both
@pytest.mark.parametrize("asked", ["", "soon", "-1", "٣", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_wait_that_is_no_number_is_passed_over(protocol: Protocol, asked: str) -> None:
    busy = reply({}, status=429)
    if asked.isascii():
        busy = reply({}, status=429, retry_after=asked)
    with serving(busy, reply(protocol.says("Now."))) as server:
        assert ask(protocol.model(server)).text == "Now."


@both
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "refused the request (status 400): "),
        (401, "refused the key"),
        (403, "refused the key"),
        (404, "refused the request (status 404): "),
        (413, "refused the request"),
        (301, "redirects elsewhere"),
    ],
)
def test_what_would_be_refused_again_is_not_asked_again(
    protocol: Protocol, status: int, said: str
) -> None:
    body = {"error": {"message": "no\x1b[31m such\r\nmodel " + "x" * 500}}
    with serving(reply(body, status=status)) as server, pytest.raises(ModelError) as caught:
        ask(protocol.model(server))
    assert len(server.heard) == 1
    assert not caught.value.again
    assert said in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@both
@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"<html>hello</html>", b"\xff\xfe", b"[" * 200_000, b'data: {"a": 1}\n\n'],
    ids=["nothing", "half", "page", "bytes", "deep", "stream"],
)
def test_what_is_no_json_is_refused_and_costs_one_request(protocol: Protocol, raw: bytes) -> None:
    with (
        serving(reply(raw=raw)) as server,
        pytest.raises(ModelError, match="no answer in JSON") as caught,
    ):
        ask(protocol.model(server))
    assert len(server.heard) == 1
    assert caught.value.again


WRONG: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    {"error": {"message": "?"}},
    {"choices": [], "content": "text"},
    {"choices": None, "content": None},
    {"choices": "ab", "content": {"0": 1}},
    {"choices": ["a"], "content": ["a"]},
    {"choices": [{}], "content": [None]},
    {"choices": [{"message": "a"}], "content": [{"type": "tool_use"}]},
    {
        "choices": [{"message": {"tool_calls": {"a": 1}}}],
        "content": [{"type": "tool_use", "name": 7}],
    },
    {"choices": [{"message": {"tool_calls": [7]}}], "content": [[]]},
    {
        "choices": [{"message": {"tool_calls": [{"function": {"name": None}}]}}],
        "content": [{"type": "tool_use", "name": None, "input": 1}],
    },
]


@both
@pytest.mark.parametrize("body", WRONG)
def test_json_of_the_wrong_shape_is_refused(protocol: Protocol, body: Any) -> None:
    error = refused(protocol, reply(body))
    assert "wrong shape" in str(error)
    assert error.again


@both
def test_a_megabyte_of_text_is_cut(protocol: Protocol) -> None:
    with serving(reply(protocol.says("x" * 1_000_000))) as server:
        assert len(ask(protocol.model(server)).text) == TEXT_CHARS_MAX


@both
def test_more_than_any_answer_has_is_refused_before_it_is_read(protocol: Protocol) -> None:
    error = refused(protocol, reply(protocol.says("x" * (RESPONSE_BYTES_MAX + 1))))
    assert "more than 1024 KB" in str(error)
    assert not error.again


@both
@pytest.mark.parametrize("status", [200, 500])
def test_a_flood_does_not_eat_the_memory(protocol: Protocol, status: int) -> None:
    tracemalloc.start()
    try:
        error = refused(
            protocol, flood if status == 200 else reply(raw=b" " * 9_000_000, status=500)
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "more than 1024 KB" in str(error) or "in trouble" in str(error)
    # The test's own server holds nine megabytes in one case.
    assert peak < 24 << 20


@both
def test_a_packed_answer_is_refused(protocol: Protocol) -> None:
    import gzip

    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < RESPONSE_BYTES_MAX
    error = refused(protocol, reply(raw=bomb, content_encoding="gzip"))
    assert "packed its answer" in str(error)


@both
def test_faults_are_logged_with_neither_texts_nor_noise(
    protocol: Protocol, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "holdfast.llm")
    refused(protocol, reply({}, status=500))
    lines = [one for one in caplog.records if one.name == "holdfast.llm"]
    assert len(lines) == 3
    # Below what a program shows that has set up no logging.
    assert {one.levelname for one in lines} == {"INFO"}
    assert "Hi" not in caplog.text.split()


def test_without_the_sdk_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "openai", None)
    with serving(hang) as server, pytest.raises(ModelError, match="needs the package openai") as no:
        ask(OPENAI.model(server))
    assert "[llm]" in no.value.hint
