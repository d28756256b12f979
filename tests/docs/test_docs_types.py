"""The examples that a developer begins with pass a type checker: programs are made from them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.documentation import ROOT, blocks_of

PAGES = (
    "README.md",
    "docs/tutorial/an-agents-memory.md",
    "docs/how-to/use-in-an-agent.md",
    "docs/how-to/use-a-server.md",
    "docs/how-to/choose-an-embedding-model.md",
)


def test_the_first_examples_pass_mypy(tmp_path: Path) -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        code = "\n".join(block.text for block in blocks_of(text) if block.language == "python")
        assert code
        name = page.removesuffix(".md").replace("/", "_").replace("-", "_")
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file=",
            "--check-untyped-defs",
            f"--cache-dir={ROOT / '.mypy_cache' / 'docs'}",
            *sorted(os.listdir(tmp_path)),
        ],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout.splitlines()[:-1]) == (0, []), ran.stdout + ran.stderr
