"""What can be read in the files of the container, without an engine; `make container-check` runs
its commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools import dockerfile

import holdfast
from holdfast.edges.cli.command import parser_of
from holdfast.edges.cli.table import find
from holdfast.edges.http.limits import UNPACED

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "Dockerfile"
# A tag with three numbers, and not one that moves.
_EXACT = re.compile(r"[\w./-]+:\d+\.\d+\.\d+-[\w-]+(@sha256:[0-9a-f]{64})?")


def _compose(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_the_base_image_has_an_exact_version() -> None:
    (base,) = [text for text in dockerfile.texts(FILE, "ARG") if text.startswith("PYTHON=")]
    assert _EXACT.fullmatch(base.removeprefix("PYTHON="))
    assert {text.split()[0] for text in dockerfile.texts(FILE, "FROM")} == {"${PYTHON}"}
    assert _EXACT.fullmatch("pgvector/pgvector:0.8.1-pg17")
    assert _compose("compose.postgres.yaml")["services"]["database"]["image"].count(".") == 2


def test_the_server_does_not_run_as_root_and_owns_its_volume() -> None:
    words = [one.word for one in dockerfile.instructions(FILE) if one.stage == 2]
    assert words.index("USER") < words.index("CMD")
    (user,) = dockerfile.texts(FILE, "USER", 2)
    assert user == "10001:10001"
    assert any("--uid 10001" in text for text in dockerfile.texts(FILE, "RUN", 2))
    (volume,) = dockerfile.texts(FILE, "VOLUME", 2)
    assert dockerfile.environment(FILE, 2)["HOLDFAST_HOME"] == volume


def test_the_command_is_one_that_the_command_line_knows() -> None:
    program, *words = dockerfile.exec_form(dockerfile.texts(FILE, "CMD", 2)[0])
    command, count = find(words)
    args = parser_of(command).parse(words[count:])
    assert (program, command.name, args.host) == ("holdfast", "serve", "0.0.0.0")
    assert str(args.port) in dockerfile.texts(FILE, "EXPOSE", 2)


def test_the_health_check_asks_a_route_that_exists() -> None:
    (check,) = dockerfile.texts(FILE, "HEALTHCHECK", 2)
    words = dockerfile.exec_form(check.partition("CMD ")[2])
    compile(words[2], "HEALTHCHECK", "exec")
    assert any(f"4653{route}'" in words[2] for route in UNPACED)


def test_everything_that_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for text in dockerfile.texts(FILE, "COPY", 1):
        *sources, _ = text.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, source


def test_every_requirement_has_a_hash_and_the_version_of_the_tests() -> None:
    text = (ROOT / "container" / "requirements.txt").read_text()
    pinned = re.findall(r"^([\w.-]+(?:\[\w]+\])?)==([^ ;]+)", text, re.M)
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert len(pinned) == len(blocks)
    assert all("--hash=sha256:" in block for block in blocks)
    ours = (ROOT / "constraints.txt").read_text()
    for name, version in pinned:
        assert f"\n{name}=={version}" in f"\n{ours}", name


@pytest.mark.parametrize("name", ["compose.yaml", "compose.postgres.yaml"])
def test_compose_opens_no_port_beyond_this_machine_and_gives_no_privilege(name: str) -> None:
    for service in _compose(name)["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert "privileged" not in service


def test_compose_runs_the_version_at_hand_with_a_volume_and_nothing_else_writable() -> None:
    service = _compose("compose.yaml")["services"]["holdfast"]
    assert service["image"].endswith(f":{holdfast.__version__}")
    assert service["volumes"] == ["holdfast:/data"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]


def test_no_password_is_written_down() -> None:
    file = _compose("compose.postgres.yaml")["services"]
    for value in (file["holdfast"]["environment"], file["database"]["environment"]):
        secrets = [text for key, text in value.items() if "PASSWORD" in key]
        assert secrets and all(text.startswith("${HOLDFAST_DB_PASSWORD:?") for text in secrets)
