"""`holdfast proxy` as a process, and what it says when it cannot start."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import holdfast
from holdfast.edges.cli import main
from tests.clients.model_server import ModelServer


@contextmanager
def started(home: Path, *words: str, **environ: str) -> Iterator[tuple[str, str]]:
    """Its address and what it printed first; it ends with SIGTERM and 0."""
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "proxy", "--home", str(home), "--port", "0", *words],
        cwd=home.parent,
        env={**os.environ, "HOLDFAST_EMBED_MODEL": "none", **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            break
    found = re.search(r"listening on (http://\S+?),", "".join(lines))
    try:
        assert found is not None, lines
        yield found[1], "".join(lines)
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "")


def test_it_holds_the_key_of_the_endpoint_and_gives_clients_its_own(tmp_path: Path) -> None:
    from openai import AuthenticationError, OpenAI

    home = tmp_path / "home"
    with ModelServer("Noted.") as model:
        words = ("--upstream", model.url, "--key-from", "MY_MODEL_KEY")
        with started(home, *words, MY_MODEL_KEY="sk-endpoint") as (url, said):
            file = home / "proxy.key"
            assert str(file) in said and "sk-endpoint" not in said
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            key = file.read_text().strip()
            for given, is_right in (("sk-endpoint", False), (key, True)):
                with OpenAI(base_url=f"{url}/v1", api_key=given, max_retries=0) as client:
                    messages: list[dict[str, str]] = [
                        {"role": "user", "content": "Remember that the server is called heron."}
                    ]
                    if not is_right:
                        with pytest.raises(AuthenticationError):
                            client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
                        continue
                    client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
        (request,) = model.take()
        assert request.headers["authorization"] == "Bearer sk-endpoint"
    # It has logged the turn before it ended, and its worker may have noted it.
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        turns = memory.hub("default").turns()
        assert [turn.role for turn in turns] == ["assistant", "user"]
        assert not list(memory.core.store.check())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs an endpoint"),
        (["--upstream", "api.openai.com"], "not an address"),
        (["--upstream", "https://u:p@api.example"], "holds a password"),
        (["--upstream", "https://api.example", "--key-from", "NO_SUCH_KEY"], "holds no key"),
        (["--upstream", "https://api.example", "--key-file", "missing"], "no file missing"),
        (["--upstream", "https://api.example", "--port", "70000"], "no port"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["proxy", "--home", str(tmp_path / "home"), *words]) != 0
    assert said in capsys.readouterr().err


def test_a_key_is_made_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.key"
    words = ["proxy", "--home", str(tmp_path / "home"), "--make-key", str(file)]
    assert main(words) == 0
    assert len(file.read_text().strip()) > 30 and str(file) in capsys.readouterr().out
