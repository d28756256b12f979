"""What does it cost to look for secrets in a text?

    python -m bench.secret_scan [--rounds 30]

The same texts are cut into passages, which is the least that keeping them costs; the figure is the
ratio of both. One text holds no cue at all, one is prose, one is code, one has a secret in every
tenth line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.measure import Times
from holdfast.text.chunking import chunk
from holdfast.text.secrets import find

ROOT = Path(__file__).parents[1]
_CHARS = 20_000


def texts() -> dict[str, tuple[str, str]]:
    """Name → (text, content type)."""
    plain = "The tea was good and the rain went on. We walked home over the hill.\n"
    prose = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    code = "".join(p.read_text("utf-8") for p in sorted(ROOT.glob("src/holdfast/engine/*.py")))
    lines = [f"{line}\npassword = 'Maple{n}!x7'" for n, line in enumerate(prose.splitlines()[::10])]
    return {
        "without a cue": (plain * (_CHARS // len(plain)), "text"),
        "prose": (prose[:_CHARS], "markdown"),
        "code": (code[:_CHARS], "code"),
        "with secrets": ("\n".join(lines) * 4, "markdown"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.secret_scan")
    parser.add_argument("--rounds", type=int, default=30)
    args = parser.parse_args()
    print("text               kB   ms/kB  chunk ms/kB   ratio   found")
    for name, (text, content_type) in texts().items():
        looking, cutting = Times(), Times()
        find(text)
        for _ in range(args.rounds):
            looking.add(lambda text=text: find(text))  # type: ignore[misc]
            cutting.add(lambda t=text, c=content_type: chunk(t, content_type=c))  # type: ignore[misc]
        kb = len(text) / 1_000
        each, bare = min(looking.cpu_ms) / kb, min(cutting.cpu_ms) / kb
        count = len(find(text))
        print(f"{name:<16}{kb:>5.0f}  {each:6.3f}  {bare:11.3f}  {each / bare:6.2f}  {count:6}")


if __name__ == "__main__":
    main()
