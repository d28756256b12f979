"""Bad input: the right status, the shape of an error, nothing stored, and the server still up."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest

from tests.edges.http.conftest import Asking, House

JSON = {"Content-Type": "application/json"}

BODIES: list[tuple[str, bytes, int]] = [
    ("nothing", b"", 400),
    ("not JSON", b"{", 400),
    ("half a string", b'{"content": "abc', 400),
    ("no object", b'"text"', 400),
    ("a list", b"[]", 400),
    ("null", b"null", 400),
    ("a number that is none", b'{"content": NaN}', 400),
    ("not UTF-8", b'{"content": "\xff\xfe"}', 400),
    ("a lone surrogate", b'{"content": "\\ud800"}', 400),
    ("a null character", b'{"content": "a\\u0000b"}', 400),
    ("very deep", b'{"metadata": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", 400),
    ("a huge number", b'{"content": "x", "metadata": {"n": ' + b"9" * 5_000 + b"}}", 400),
    ("twice the same name", b'{"content": "one", "content": "two"}', 201),
    ("an unknown field", b'{"content": "x", "colour": "red"}', 400),
    ("a text for a flag", b'{"content": "x", "pinned": "yes"}', 400),
    ("a date that does not exist", b'{"content": "x", "occurred_at": "2026-02-30T00:00:00Z"}', 400),
    ("an unknown kind", b'{"content": "x", "kind": "odd"}', 400),
    ("an unknown boundary", b'{"content": "x", "boundary": "everyone"}', 400),
    ("a key with control characters", b'{"content": "x", "key": "a\\u0007b"}', 400),
    ("an origin that is not whole", b'{"content": "x", "origin": {"turn": "t"}}', 400),
]


@pytest.mark.parametrize(
    ("body", "status"), [case[1:] for case in BODIES], ids=[c[0] for c in BODIES]
)
def test_a_body_that_is_off_is_answered_in_the_shape_of_errors(
    house: House, ask: Asking, body: bytes, status: int
) -> None:
    answer = ask("POST", "/v1/memories", content=body, headers=JSON)
    assert answer.status_code == status, answer.text[:300]
    assert answer.headers["content-type"] == "application/json"
    if status >= 400:
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "details", "hint"}
        assert len(answer.content) < 2_000
        assert house.hub.list() == []
    assert ask.get("/readyz").status_code == 200


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"null", b"5"])
def test_a_body_that_is_no_object_is_reported_in_a_sentence(ask: Asking, body: bytes) -> None:
    for path in ("/v1/memories", "/v1/recall"):
        error = ask("POST", path, content=body, headers=JSON).json()["error"]
        assert error["message"].startswith(("The body must be a JSON object. Send", "The request:"))
        assert "to extract fields from" not in error["message"]
        assert error["hint"].startswith("Send a JSON object")


@pytest.mark.parametrize("body", [b"{", b'{"content": "abc', b"\xff", b"[" * 20_000])
def test_a_body_that_is_no_json_is_reported_in_a_sentence(ask: Asking, body: bytes) -> None:
    error = ask("POST", "/v1/memories", content=body, headers=JSON).json()["error"]
    assert error["code"] == "invalid_request"
    assert error["message"].startswith("The body is no JSON")


def test_a_misspelt_field_and_the_one_that_is_missing_are_named(ask: Asking) -> None:
    error = ask("POST", "/v1/recall", content=b'{"querry": "tabs"}', headers=JSON).json()["error"]
    assert error["message"].startswith("query: Field required; querry: ")


def test_a_field_that_is_not_known_and_no_body_at_all_say_what_to_send(ask: Asking) -> None:
    error = ask("POST", "/v1/memories", content=b'{"contents": "x"}', headers=JSON).json()["error"]
    assert error["hint"].startswith("There are: content, title, ")
    assert error["message"].endswith(error["hint"])
    error = ask("POST", "/v1/undo", headers=JSON).json()["error"]
    assert "JSON object" in error["hint"]


def test_a_path_that_is_not_there_says_where_the_paths_are_listed(ask: Asking) -> None:
    error = ask.get("/v1/nothing").json()["error"]
    assert (error["code"], "/openapi.json" in error["hint"]) == ("not_found", True)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories?categroy=fact",
        "/v1/memories?limit=1&Limit=2",
        "/v1/memories/search?q=tabs&offset=5",
        "/v1/review?state=active",
        "/v1/hubs?page=2",
        "/v1/captured?day=1",
    ],
)
def test_a_field_of_an_address_that_is_not_known_is_refused(ask: Asking, path: str) -> None:
    answer = ask.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("POST /v1/memories/batch-move", b'{"ids": ["1"], "hub": "\\ud800"}'),
        ("POST /v1/recall", b'{"query": "x", "session": "\\ud800"}'),
        ("POST /v1/heard", b'{"text": "\\ud800"}'),
        ("POST /v1/changes/touched", b'{"changes": ["\\ud800"]}'),
        ("POST /v1/keys", b'{"name": "x", "hubs": ["\\ud800"]}'),
        ("POST /v1/memories", b'{"content": "x", "metadata": {"a": [{"\\ud800": 1}]}}'),
        (
            "POST /v1/memories",
            b'{"content": "x", "metadata": ' + b'{"a":' * 300 + b"1" + b"}" * 301,
        ),
    ],
)
def test_what_no_answer_could_hold_is_refused_wherever_it_stands(
    house: House, ask: Asking, route: str, body: bytes
) -> None:
    answer = ask(*route.split(), content=body, headers=JSON)
    assert answer.status_code == 400, answer.text[:300]
    assert house.hub.list() == []
    assert ask.get("/v1/memories").status_code == 200


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/xml", "multipart/form-data; boundary=x", "", "json", "a/b/c"],
)
def test_a_body_of_another_type_is_415(house: House, ask: Asking, kind: str) -> None:
    answer = ask(
        "POST", "/v1/memories", content=b'{"content": "x"}', headers={"Content-Type": kind}
    )
    assert answer.status_code == 415
    assert answer.json()["error"]["code"] == "unsupported_media_type"
    assert house.hub.list() == []


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "application/merge-patch+json"]
)
def test_json_by_its_other_names_is_taken(ask: Asking, kind: str) -> None:
    headers = {"Content-Type": kind}
    answer = ask("POST", "/v1/memories", content=b'{"content": "x"}', headers=headers)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "name",
    [
        "mem_00000000000000000000",
        "nowhere",
        "0",
        "-1",
        "99999999999999999999999999",
        "%00",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "%F0%9F%98%80",
        "' OR 1=1 --",
        "x" * 3_000,
        "%ff",
    ],
)
@pytest.mark.parametrize(("method", "after"), [("GET", ""), ("DELETE", ""), ("POST", "/access")])
def test_a_name_that_is_nobodys_is_404(ask: Asking, name: str, method: str, after: str) -> None:
    answer = ask(method, f"/v1/memories/{name}{after}")
    assert answer.status_code in (400, 404), answer.text
    assert answer.json()["error"]["code"] in ("not_found", "invalid_input")


@pytest.mark.parametrize("hub", ["nowhere", "hub_0000", "../..", "x" * 5_000, "' OR 1=1", "\u00e4"])
def test_a_hub_that_is_not_there_is_404(ask: Asking, hub: str) -> None:
    answer = ask.get("/v1/memories", headers={"X-Hub-ID": hub.encode("utf-8")})
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/memories", "GET, POST"),
        ("POST", "/v1/memories/x", "DELETE, GET, PATCH"),
        ("DELETE", "/v1/recall", "POST"),
        ("PATCH", "/v1/hubs", "GET, POST"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_405_and_names_those_it_has(
    ask: Asking, method: str, path: str, allow: str
) -> None:
    answer = ask(method, path)
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method_not_allowed"
    assert answer.headers["Allow"] == allow


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/memories", "/v1/memories/", "/v1/nothing", "//"])
def test_a_path_that_is_not_there_is_404(ask: Asking, path: str) -> None:
    answer = ask.get(path, follow_redirects=True)
    assert answer.status_code in (200, 404)
    if answer.status_code == 404:
        assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/recall", {}),
        ("/v1/recall", {"query": 7}),
        ("/v1/recall", {"query": "x", "limit": 0}),
        ("/v1/recall", {"query": "x", "limit": 10_000}),
        ("/v1/recall", {"query": "x", "since": "soon"}),
        ("/v1/memories/batch-delete", {"ids": []}),
        ("/v1/memories/batch-delete", {"ids": ["x"] * 101}),
        ("/v1/memories/batch", {"items": [{"content": "x"}] * 501}),
        ("/v1/hubs", {"name": ""}),
        ("/v1/hubs", {"name": "../up"}),
        ("/v1/hubs", {"name": "x" * 201}),
        ("/v1/keys", {"name": ""}),
        ("/v1/keys", {"name": "x", "expires_at": "soon"}),
        ("/v1/keys", {"name": "x", "expires_at": 0}),
        ("/v1/decisions", {"question": "", "options": ["a", "b"]}),
        ("/v1/log", {"role": "nobody", "content": "x"}),
        ("/v1/journal", {"text": ""}),
        ("/v1/undo", {"force": "yes"}),
    ],
)
def test_values_out_of_bounds_are_refused(ask: Asking, path: str, body: Any) -> None:
    answer = ask.post(path, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["message"]


def test_a_foreign_key_or_invitation_cannot_be_ended(house: House, ask: Asking) -> None:
    mine = ask.post("/v1/keys", {"name": "mine"}).json()["data"]
    ben = house.ask(house.member("ben", "admin"))
    assert ben("DELETE", f"/v1/keys/{mine['id']}").status_code == 404
    other = house.memory.create_hub("other")
    elsewhere = ask.post(f"/v1/hubs/{other.id}/invites", {}).json()["data"]
    path = f"/v1/hubs/{house.hub.id}/invites/{elsewhere['id']}"
    assert ben("DELETE", path).status_code == 404
    assert len(ask.get(f"/v1/hubs/{other.id}/invites").json()["data"]) == 1


def test_a_packed_body_is_refused_by_its_name(house: House, ask: Asking) -> None:
    packed = gzip.compress(b'{"content": "Tea at four"}')
    sent = {**JSON, "Content-Encoding": "gzip"}
    answer = ask("POST", "/v1/memories", content=packed, headers=sent)
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "identity"
    assert answer.json()["error"]["code"] == "unsupported_media_type"
    assert "Content-Encoding" in answer.json()["error"]["message"]
    plain = {**JSON, "Content-Encoding": "identity"}
    assert ask("POST", "/v1/memories", content=b'{"content": "Tea"}', headers=plain).is_success


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", "/v1/memories/", "nothing at /v1/memories/. Leave the slash at its end out."),
        ("GET", "/v1/memories/a%2Fb", "looked up by /v1/memories/find?reference=KEY."),
        ("GET", "/v1/nothing", "nothing at /v1/nothing. /openapi.json lists"),
        ("PUT", "/v1/memories", "/v1/memories takes GET, POST and not PUT."),
        ("OPTIONS", "/v1/recall", "/v1/recall takes POST and not OPTIONS."),
    ],
)
def test_a_path_or_method_that_is_not_there_is_reported_in_a_sentence(
    ask: Asking, method: str, path: str, said: str
) -> None:
    answer = ask(method, path)
    assert answer.status_code in (404, 405)
    assert said in answer.json()["error"]["message"]


@pytest.mark.parametrize("sent", ["caf%C3%A9", "café".encode().decode("latin-1")])
def test_a_hub_with_a_name_beyond_ascii_is_named_in_the_header(house: House, sent: str) -> None:
    # Percent-encoded, or as the bytes of UTF-8, which is how curl sends what was typed.
    made = house.memory.create_hub("café")
    answer = house.ask(hub="-").get("/v1/hub", headers={"X-Hub-ID": sent.encode("latin-1")})
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["id"] == made.id


@pytest.mark.parametrize("sent", ["caf%E9", "caf%", "%2F", "%00"])
def test_a_wrong_name_in_the_header_is_no_fault_of_the_server(ask: Asking, sent: str) -> None:
    answer = ask.get("/v1/hub", headers={"X-Hub-ID": sent})
    assert answer.status_code in (400, 404), answer.text


def test_every_time_is_written_in_one_way(house: House, ask: Asking) -> None:
    made = ask.post("/v1/memories", {"content": "Tea at four"}).json()
    ask.post("/v1/log", {"role": "user", "content": "When is tea?"})
    found = [
        *re.findall(r'"(\d{4}-\d\d-\d\dT[^"]*)"', str(made).replace("'", '"')),
        *re.findall(
            r'"(\d{4}-\d\d-\d\dT[^"]*)"',
            "".join(
                ask.get(f"/v1/{path}").text
                for path in ("hub", "hubs", "changes", "log", "keys", "usage", "memories/1/history")
            ),
        ),
    ]
    assert len(found) > 12
    assert [one for one in found if not re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{6}Z", one)] == []


def test_a_load_balancer_may_ask_for_the_head_alone(ask: Asking) -> None:
    for path in ("/healthz", "/readyz"):
        answer = ask("HEAD", path)
        assert (answer.status_code, answer.content) == (200, b"")
