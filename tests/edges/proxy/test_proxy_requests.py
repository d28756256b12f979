"""Which requests the proxy forwards, where to, and with which headers."""

from __future__ import annotations

import pytest

from holdfast.edges.proxy.formats import (
    NoRoute,
    Upstream,
    request_headers,
    response_headers,
    route_of,
)
from holdfast.errors import InvalidInput


@pytest.mark.parametrize(
    ("method", "path", "sent_to"),
    [
        ("POST", "/v1/chat/completions", "https://api.example/v1/chat/completions"),
        ("POST", "/v1/responses", "https://api.example/v1/responses"),
        ("GET", "/v1/responses/resp_1", "https://api.example/v1/responses/resp_1"),
        ("POST", "/v1/messages/count_tokens", "https://api.example/v1/messages/count_tokens"),
        ("GET", "/v1/models/qwen/qwen3:8b", "https://api.example/v1/models/qwen/qwen3:8b"),
    ],
)
def test_paths_of_the_apis_are_forwarded(method: str, path: str, sent_to: str) -> None:
    route_of(method, path)
    assert Upstream.parse("https://api.example").address(path, b"") == sent_to


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/chat/completions", 405),
        ("PATCH", "/v1/messages", 405),
        ("POST", "/v1/files", 404),
        ("POST", "/v1", 404),
        ("POST", "/", 404),
        ("POST", "/chat/completions", 404),
        ("POST", "//v1/chat/completions", 404),
        ("POST", "/v1//chat/completions", 404),
        ("POST", "/v1/chat/completions/", 404),
        ("POST", "/v1/chat/completions\n", 404),
        ("POST", "http://evil.example/v1/chat/completions", 404),
        ("GET", "/v1/responses/..", 404),
        ("GET", "/v1/responses/../../admin", 404),
        ("GET", "/v1/models/../organization/users", 404),
        ("GET", "/v1/models/a/..", 404),
        ("GET", "/v1/models/a/b/c", 404),
        ("GET", "/v1/models/a?b", 404),
        ("GET", "/v1/models/a#b", 404),
        ("GET", "/v1/models/a b", 404),
        ("GET", "/v1/models/a\\..\\b", 404),
        ("GET", "/v1/models/@evil.example", 200),
    ],
)
def test_nothing_else_is_forwarded(method: str, path: str, status: int) -> None:
    if status == 200:
        # It stays below the endpoint's own path.
        address = Upstream.parse("https://api.example/v1").address(path, b"")
        assert address == "https://api.example/v1/models/@evil.example"
        return
    with pytest.raises(NoRoute) as raised:
        route_of(method, path)
    assert raised.value.status == status


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_the_address_of_an_endpoint_stands_for_v1(given: str, base: str) -> None:
    upstream = Upstream.parse(given)
    assert upstream.url == base
    assert upstream.is_local == ("localhost" in given or "::1" in given)


@pytest.mark.parametrize(
    "given",
    [
        *("", "api.openai.com", "ftp://api.example", "https://", "file:///etc/passwd"),
        *("https://user:secret@api.example", "https://api.example/v1?key=1", "https://a:b:c"),
        *("https://api.example/v1#x", "https://api.exam ple/v1", "https://api.example:99999/v1"),
    ],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput):
        Upstream.parse(given)


def test_a_query_goes_along_and_cannot_change_the_address() -> None:
    upstream = Upstream.parse("https://api.example/v1")
    assert upstream.address("/v1/messages", b"beta=true").endswith("/v1/messages?beta=true")
    odd = upstream.address("/v1/messages", b"a=b c\x00#@evil.example/\xff")
    assert odd.startswith("https://api.example/v1/messages?a=b") and "#" not in odd


def test_headers_of_a_connection_and_of_this_machine_stay_here() -> None:
    sent = request_headers(
        [
            (b"Host", b"127.0.0.1:7769"),
            (b"Authorization", b"Bearer theirs"),
            (b"Connection", b"keep-alive, X-Secret-Hop, Authorization"),
            (b"X-Secret-Hop", b"1"),
            (b"Transfer-Encoding", b"chunked"),
            (b"Content-Length", b"12"),
            (b"Cookie", b"holdfast=session"),
            (b"X-Hub-ID", b"work"),
            (b"X-Holdfast-Session", b"mine"),
            (b"X-Holdfast-Key", b"local"),
            (b"X-Forwarded-For", b"10.0.0.1"),
            (b"Sec-Fetch-Site", b"same-origin"),
            (b"Accept-Encoding", b"br, gzip, zstd"),
            (b"anthropic-beta", b"one"),
            (b"anthropic-beta", b"two"),
            (b"OpenAI-Organization", b"org"),
        ]
    )
    assert sent == [
        # `Connection` cannot take the key off.
        (b"authorization", b"Bearer theirs"),
        (b"anthropic-beta", b"one"),
        (b"anthropic-beta", b"two"),
        (b"openai-organization", b"org"),
        (b"accept-encoding", b"gzip"),
    ]


def test_a_key_of_the_proxy_takes_the_place_of_the_clients() -> None:
    for name in (b"Authorization", b"x-api-key", b"api-key"):
        sent = dict(request_headers([(name, b"Bearer local")], key="sk-upstream"))
        assert b"Bearer local" not in sent.values()
        assert sent[name.lower()] in (b"sk-upstream", b"Bearer sk-upstream")
    both = request_headers([(b"authorization", b"a"), (b"authorization", b"b")], key="sk-up")
    assert [value for name, value in both if name == b"authorization"] == [b"Bearer sk-up"]
    assert dict(request_headers([], key="sk-up"))[b"authorization"] == b"Bearer sk-up"


def test_an_answer_gives_no_page_leave_to_read_it_and_sets_nothing_here() -> None:
    kept = response_headers(
        [
            (b"Content-Type", b"application/json"),
            (b"Access-Control-Allow-Origin", b"*"),
            (b"Set-Cookie", b"__cf=1"),
            (b"Strict-Transport-Security", b"max-age=1"),
            (b"Alt-Svc", b"h3"),
            (b"Transfer-Encoding", b"chunked"),
            (b"Connection", b"close, X-Hop"),
            (b"X-Hop", b"1"),
            (b"X-Request-Id", b"req_1"),
            (b"retry-after", b"3"),
        ]
    )
    assert kept == [
        (b"content-type", b"application/json"),
        (b"x-request-id", b"req_1"),
        (b"retry-after", b"3"),
    ]
