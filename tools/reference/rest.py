"""Generates docs/reference/rest.md from the OpenAPI description and the table of error codes.

`python -m tools.reference.rest > docs/reference/rest.md` writes it; a test compares the two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from holdfast.edges.http.app import create_app
from holdfast.edges.http.call import HUB_HEADER

_OPENING = """\
# The REST API

`holdfast serve` answers under `/v1`. Every answer is JSON: `{"data": …}`, or
`{"error": {"code": …, "message": …, "details": …, "hint": …}}` with a message for people and a code
for programs; `command` is the next step at the command line, if there is one. Times are ISO 8601 in UTC. The OpenAPI description is at
`/openapi.json`. Permissions: [roles and boundaries](../explanation/roles-and-boundaries.md).

This page is generated from that description by
`make reference`.

## A request

| header | meaning |
| --- | --- |
| `Authorization: Bearer KEY` | the caller; a key in the address is refused |
| `X-Hub-ID` | the hub, by id or name (percent-encoded beyond ASCII: `caf%C3%A9`); without it, the server's default hub |
| `Content-Type: application/json` | required for every body except uploads; any other type, or a `Content-Encoding`, is 415 |
| `X-Holdfast-Client` | on writes without a key and without JSON: any name; proves that no web page sends the request |
| `Idempotency-Key` | on writes: a request that is repeated with the same key within a day runs once |
| `If-Match` | on a change of a memory: its `ETag`; 412 if there is a newer version |
| `X-Request-ID` | your id for the server's log; the response repeats it, or has a new one |
| `Last-Event-ID` | on the stream of events: the last event you received |

An unknown field is refused, and so is a value of another type. A caller who may not see a hub or a
memory gets the same 404 as for one that does not exist.

A server without a key must also distinguish its user's programs from web pages that the user has
open. It refuses requests of a page of another origin (`foreign_origin`), and every `POST`, `PUT`, `PATCH` and
`DELETE` that has none of these headers: `Authorization: Bearer`, `Content-Type: application/json`,
`X-Holdfast-Client`, `X-Hub-ID`, `Idempotency-Key`. Curl needs one with an upload and with a write
that has no body: `curl -X POST -H 'X-Holdfast-Client: curl' URL`.
[Why](../decisions/cross-origin.md)

`POST /v1/operations/{operation}` is internal: `holdfast.RemoteHub` sends the operations of a hub
there, with arguments encoded by the types of the library; it may change with every version. It has
the same permissions as the routes below ([permissions](permissions.md)), and it is not in `/openapi.json`.
[Why](../decisions/remote-hub.md)

Lists are paged: `next_cursor` fetches the next page, and is null on the last. A cursor is valid for
the hub and the order that it was made for, and stays valid while others write.

If the first request with a key was cut off by a crash, it runs again where that is harmless (storing
the same text again is a duplicate); otherwise the answer is 409 `interrupted`, and nothing runs
twice. A repeated answer has the header `Idempotent-Replay: true`, or `state-only` if the caller no
longer sees a memory in it: then it has ids, numbers, times and states, and no text. Answers with
secrets (keys, invitations) are not stored, so these routes take no idempotency key. The routes of
hubs, organisations, teams and members take none either: creating a second one of the same name is
409, and setting the same role twice changes nothing.

## Codes of errors

| code | status | means |
| --- | --- | --- |
"""  # noqa: E501  a row of a table is one line

# Every code, its status, and what it means to a client.
CODES: tuple[tuple[str, int, str], ...] = (
    ("invalid_request", 400, "a field is missing, unknown, of the wrong type or out of bounds"),
    ("invalid_input", 400, "a value cannot be used: a date, a name, a cursor, a filter"),
    ("invalid_setting", 400, "a setting's name or value"),
    ("missing_content", 400, "there is no content, or no file"),
    ("key_in_query", 400, "the address contains a key; send it in the header, and revoke it"),
    ("disconnected", 400, "an upload ended before its end"),
    ("unauthorized", 401, "no key, or one that is unknown, revoked or expired"),
    ("forbidden", 403, "the role or the key does not allow it"),
    ("no_write_access", 403, "the role or the key does not allow writing to this hub"),
    ("foreign_origin", 403, "a web page of another origin asks; another port is another origin"),
    ("client_header_missing", 403, "a write without a key, JSON or `X-Holdfast-Client`"),
    ("not_found", 404, "it does not exist, or the caller may not see it"),
    ("method_not_allowed", 405, "the path has other methods; `Allow` names them"),
    ("too_slow", 408, "the body did not arrive in time"),
    ("already_exists", 409, "that name is taken"),
    ("conflict", 409, "the state has changed since"),
    ("in_progress", 409, "the first request with this idempotency key is being worked on"),
    ("interrupted", 409, "the first request with this idempotency key was cut off half-way"),
    ("version_mismatch", 412, "the memory has another version than `If-Match`"),
    ("body_too_large", 413, "the body has more bytes than `server.body_bytes_max`"),
    ("unsupported_media_type", 415, "the body is of another type than the route takes, or packed"),
    ("wrong_host", 421, "the server does not serve that host name"),
    ("idempotency_mismatch", 422, "this idempotency key was used for another request"),
    (
        "too_many_requests",
        429,
        "too many requests with this key; `Retry-After` says how long to wait",
    ),
    (
        "too_many_sessions",
        429,
        "this key starts too many sessions of agents; `Retry-After` says how long to wait",
    ),
    ("cancelled", 499, "the caller has given up"),
    ("http_error", 400, "what the web framework refuses, with the status it chose"),
    ("internal", 500, "an error of the server; its log has the details under the request id"),
    ("store_error", 500, "the store failed"),
    ("store_damaged", 500, "the store is corrupted; `holdfast doctor` says where"),
    ("store_too_new", 500, "a newer version of Holdfast wrote the store"),
    ("in_doubt", 500, "the store was lost in the middle of a write; look before you write again"),
    ("error", 500, "any other error"),
    ("overloaded", 503, "too many requests or listeners at once; come back after `Retry-After`"),
    ("busy", 503, "other writers kept the store locked"),
    ("store_unreachable", 503, "the store's server does not answer; nothing was written"),
    ("stopping", 503, "the server is stopping"),
    ("read_only", 503, "the store cannot be written"),
    ("model_unavailable", 503, "an embedding model does not answer"),
    ("language_model_unavailable", 503, "a language model does not answer, or its cap is reached"),
    ("deadline_exceeded", 504, "it took longer than allowed"),
    ("store_full", 507, "the disk is full"),
    ("hub_full", 507, "the hub has as many bytes of files as it may have"),
)

_OUTSIDE = """
## Beside the API

| path | what it is |
| --- | --- |
| `GET /healthz`, `HEAD /healthz` | 200 while the process runs; needs no key |
| `GET /readyz`, `HEAD /readyz` | 200 while the store answers, else 503; needs no key |
| `GET /metrics` | counts and times for Prometheus: by route, method and status, without texts, names or keys |
| `/mcp`, `/mcp/{hub}` | [MCP](mcp.md) over streamable HTTP; `?dialect=NAME` chooses the tools |
| `GET /openapi.json` | the description of the API; needs no key |
"""  # noqa: E501  a row of a table is one line


def page() -> str:
    """The whole page."""
    # It is only described: nothing is asked of it, so there is no memory behind it.
    described = create_app(None).openapi()  # type: ignore[arg-type]
    codes = "".join(f"| `{code}` | {status} | {means} |\n" for code, status, means in CODES)
    by_tag: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            text = "\n".join(_route(described, method.upper(), path, route))
            by_tag.setdefault(route["tags"][0], []).append(text)
    parts = [f"\n## {tag.capitalize()}\n\n" + "\n".join(told) for tag, told in by_tag.items()]
    return _OPENING + codes + _OUTSIDE + "".join(parts)


def _route(described: Any, method: str, path: str, route: Any) -> Iterator[str]:
    yield f"### `{method} {path}`"
    yield ""
    yield " ".join(route.get("description", "").split())
    rows = [*_parameters(route), *_fields(described, route)]
    if rows:
        yield ""
        yield "| field | in | type | |"
        yield "| --- | --- | --- | --- |"
        yield from rows
        yield ""
        yield from _example(described, route)
    else:
        yield ""
    good = [
        f"{status} ({', '.join(f'`{kind}`' for kind in answer.get('content', {}))})"
        for status, answer in route["responses"].items()
        if status < "300"
    ]
    yield f"Answers {' or '.join(sorted(good))}."
    yield ""


def _parameters(route: Any) -> Iterator[str]:
    for one in route.get("parameters", ()):
        # On every route, and told above.
        if one["name"] == HUB_HEADER:
            continue
        about = one.get("description", "")
        yield _row(one["name"], one["in"], one["schema"], about, required=one.get("required"))


def _fields(described: Any, route: Any) -> Iterator[str]:
    for content in route.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(described, content["schema"])
        for name, field in schema.get("properties", {}).items():
            about = field.get("description", "")
            yield _row(name, "body", field, about, required=name in schema.get("required", ()))


def _resolved(described: Any, schema: Any) -> Any:
    if "$ref" not in schema:
        return schema
    return described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


def _example(described: Any, route: Any) -> Iterator[str]:
    """A body that can be sent unchanged."""
    for content in route.get("requestBody", {}).get("content", {}).values():
        for example in _resolved(described, content["schema"]).get("examples", ()):
            if example:
                yield f"For example `{json.dumps(example, ensure_ascii=False)}`"
                yield ""


def _row(name: str, where: str, schema: Any, about: str, *, required: bool) -> str:
    notes = []
    if required:
        notes.append("needed")
    elif schema.get("default") not in (None, "", [], {}):
        notes.append(f"default `{str(schema['default']).lower()}`")
    for part in (schema, *schema.get("anyOf", ())):
        notes += [f"{word} {part[key]:,.0f}" for key, word in _BOUNDS.items() if key in part]
    said = "; ".join(one for one in (about.replace("|", "\\|"), ", ".join(notes)) if one)
    return f"| `{name}` | {where} | {_type(schema)} | {said} |"


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "items at least",
    "maxItems": "items at most",
}


def _type(schema: Any) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if "$ref" in schema:
        return "object"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("format") == "binary":
        return "file"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}s" if schema["items"] else "list"
    return str(schema.get("type", "any"))


if __name__ == "__main__":
    sys.stdout.write(page())
