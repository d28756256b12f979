"""Hooks are put into settings files of many shapes and taken out again; the rest stays to the
letter."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from holdfast.edges.clients import find, install_hooks, json_text
from holdfast.edges.clients.program import Platform
from holdfast.errors import InvalidInput

NOW = datetime(2026, 11, 16, tzinfo=UTC)
COMMAND = install_hooks.command_of("/opt/python", None)
THEIRS = '{"hooks": [{"type": "command", "command": "notify-send done"}]}'
SHAPES = {
    "empty object": "{}",
    "empty object and a line end": "{}\n",
    "open object": "{\n}\n",
    "one setting": '{\n  "model": "opus"\n}\n',
    "four spaces": '{\n    "model": "opus",\n    "theme": "dark"\n}\n',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "one line": '{"model": "opus", "theme": "dark"}',
    "compact": '{"model":"opus","env":{"A":"1"}}',
    "windows line ends": '{\r\n  "model": "opus"\r\n}\r\n',
    "a mark at the beginning": '\ufeff{\n  "model": "opus"\n}\n',
    "comments": '{\n  // which one\n  "model": "opus", /* for now */\n  "theme": "dark" // ok\n}\n',
    "trailing comma": '{\n  "model": "opus",\n}\n',
    "no end of the last line": '{\n  "model": "opus"\n}',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "hooks of another event": '{\n  "hooks": {\n    "PostToolUse": [\n      '
    + THEIRS
    + "\n    ]\n  }\n}\n",
    "hooks of the same event": '{\n  "hooks": {\n    "Stop": [\n      '
    + THEIRS
    + "\n    ]\n  }\n}\n",
    "two of the same event, one line": '{"hooks": {"Stop": [' + THEIRS + ", " + THEIRS + "]}}",
    "an empty list": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "a list with a trailing comma": '{\n  "hooks": {\n    "Stop": [\n      '
    + THEIRS
    + ",\n    ]\n  }\n}\n",
    "permissions": '{\n  "permissions": {\n    "allow": ["Bash(ls:*)"],\n    "deny": []\n  }\n}\n',
    "permissions over lines": (
        '{\n  "permissions": {\n    "allow": [\n      "Bash(ls:*)",\n      "Read"\n    ]\n  }\n}\n'
    ),
    "other scripts": '{\n  "name": "日本語 — ключ",\n  "x": "\\u00e9"\n}\n',
    "a comment in a list": '{\n  "hooks": {\n    "Stop": [\n      // mine\n      '
    + THEIRS
    + "\n    ]\n  }\n}\n",
}


def place(tmp_path: Path) -> Platform:
    return Platform("linux", {}, str(tmp_path), str(tmp_path))


def settings_of(tmp_path: Path, client: str = "claude-code") -> install_hooks.HookFile:
    return install_hooks.files_of(find(client), place(tmp_path), COMMAND)[0]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_setup_and_teardown_leave_everything_else_to_the_letter(tmp_path: Path, shape: str) -> None:
    client, file = find("claude-code"), settings_of(tmp_path)
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(shape.encode())
    assert install_hooks.put_in(client, file, now=NOW).result == "added"
    value = json_text.parse(path.read_bytes().decode())
    for addition in file.additions:
        assert addition.item in value[addition.path[0]][addition.path[1]]
    before = json_text.parse(shape)
    for key in before:
        if key not in ("hooks", "permissions"):
            assert value[key] == before[key]
    with_hooks = path.read_bytes()
    assert install_hooks.put_in(client, file, now=NOW).result == "unchanged"
    assert path.read_bytes() == with_hooks
    assert install_hooks.take_out(client, file, now=NOW).result == "removed"
    assert path.read_bytes() == shape.encode()
    assert install_hooks.take_out(client, file, now=NOW).result == "absent"


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_without_a_backup_what_it_says_stays_the_same(tmp_path: Path, shape: str) -> None:
    client, file = find("claude-code"), settings_of(tmp_path)
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_bytes(shape.encode())
    install_hooks.put_in(client, file, now=NOW)
    for backup in path.parent.glob("*.bak"):
        backup.unlink()
    install_hooks.take_out(client, file, now=NOW)
    old, new = json_text.parse(shape), {}
    if path.exists():
        new = json_text.parse(path.read_bytes().decode())

    def without_empty(value: dict[str, object]) -> dict[str, object]:
        inner = {
            key: without_empty(item) if isinstance(item, dict) else item
            for key, item in value.items()
        }
        return {key: item for key, item in inner.items() if item not in ({}, [])}

    assert without_empty(new) == without_empty(old)
    for comment in ("// which one", "/* for now */", "// mine"):
        assert (comment in shape) == (path.exists() and comment in path.read_text())


def test_what_a_person_changed_since_stays(tmp_path: Path) -> None:
    client, file = find("claude-code"), settings_of(tmp_path)
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "model": "opus"\n}\n')
    install_hooks.put_in(client, file, now=NOW)
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))
    install_hooks.take_out(client, file, now=NOW)
    assert path.read_text() == '{\n  "model": "sonnet"\n}\n'


def test_hooks_of_another_installation_are_replaced(tmp_path: Path) -> None:
    client, file = find("claude-code"), settings_of(tmp_path)
    install_hooks.put_in(client, file, now=NOW)
    moved = install_hooks.files_of(client, place(tmp_path), ["/new/python", *COMMAND[1:]])[0]
    assert install_hooks.put_in(client, moved, now=NOW).result == "updated"
    text = Path(file.path).read_text()
    assert "/opt/python" not in text
    assert text.count("front.py") == len([one for one in moved.additions if one.path[0] == "hooks"])


def test_a_file_that_was_made_is_gone_afterwards(tmp_path: Path) -> None:
    for name in install_hooks.HOOKS:
        client = find(name)
        for file in install_hooks.files_of(client, place(tmp_path / name), COMMAND):
            assert install_hooks.put_in(client, file, now=NOW).result == "added"
            assert install_hooks.has_hooks(file)
            if file.path.endswith(".json"):
                json.loads(Path(file.path).read_text())
            assert install_hooks.take_out(client, file, now=NOW).result == "removed"
            assert not Path(file.path).exists()


@pytest.mark.parametrize(
    "shape", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', "[]", "{", "nonsense"]
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path, shape: str) -> None:
    client, file = find("claude-code"), settings_of(tmp_path)
    path = Path(file.path)
    path.parent.mkdir(parents=True)
    path.write_text(shape)
    with pytest.raises(InvalidInput):
        install_hooks.put_in(client, file, now=NOW)
    assert path.read_text() == shape


def test_a_command_does_not_fail_where_its_program_is_gone(tmp_path: Path) -> None:
    import subprocess

    file = install_hooks.files_of(
        find("claude-code"), place(tmp_path), install_hooks.command_of("/gone", None)
    )[0]
    command = file.additions[0].item["hooks"][0]["command"]
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True)
    assert (ran.returncode, ran.stdout) == (0, b"")


def test_the_command_of_claude_code_may_run_only_what_reads() -> None:
    """What changes memory goes through the client's own question to the person."""
    text = (files("holdfast.edges.clients") / "plugin" / "memory.md").read_text()
    allowed = re.findall(r"Bash\(holdfast (\w+):\*\)", text.partition("\n---")[0])
    assert allowed == ["session", "recall"]
