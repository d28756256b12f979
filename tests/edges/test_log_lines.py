"""Text from outside cannot forge a line of the log or steer the terminal that shows it."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.edges.server.listening import LineFormatter, guard_log

HOSTILE = "x\nERROR forged\r\x1b[2J\x9b31m\u202etxet\u2028forged\x07"


def _logged(message: str, *values: object, error: BaseException | None = None) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter("%(levelname)s %(message)s"))
    kind = None if error is None else (type(error), error, error.__traceback__)
    handler.handle(logging.LogRecord("a", logging.ERROR, "a.py", 1, message, values, kind))
    return stream.getvalue()


def test_a_message_stays_on_its_line() -> None:
    shown = "x\\nERROR forged\\x0d\\x1b[2J\\x9b31m\\u202etxet\\u2028forged\\x07"
    assert _logged("The tool %s failed.", HOSTILE) == f"ERROR The tool {shown} failed.\n"


def test_the_lines_of_a_traceback_cannot_pose_as_lines_of_the_log() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as raised:
        first, *rest = _logged("failed", error=raised).splitlines()
    assert first == "ERROR failed"
    assert any("ERROR forged" in line for line in rest)
    assert all(line.startswith("  ") for line in rest)
    assert "\x1b" not in "".join(rest)


@given(st.text())
def test_whatever_is_logged_is_one_line(text: str) -> None:
    logged = _logged("%s", text)
    assert logged.endswith("\n")
    assert len(logged[:-1].splitlines()) <= 1


def test_json_lines_stay_json() -> None:
    assert _logged('{"a": "b\\n"}') == 'ERROR {"a": "b\\n"}\n'


def test_every_handler_of_the_process_is_guarded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [handler])
    monkeypatch.setattr(logging, "lastResort", None)
    guard_log()
    guard_log()
    assert len(handler.filters) == 1
    logging.getLogger("holdfast.tests").warning("a\nb %s", "\x1b")
    assert stream.getvalue() == "holdfast.tests: a\\nb \\x1b\n"
