"""How good is recall? The same measurement as `holdfast bench recall`, without an installed script.

python -m bench.recall [FILE...] [--json] [--baselines] [--limit-stores N] [--cache FOLDER]
    [--text-only]
"""

from __future__ import annotations

import argparse
import json
import sys

from holdfast.embed.providers import find_embedder
from holdfast.evaluation.report import as_text, bench_recall

# The bundled model was trained on these: figures on them say nothing of unseen text.
SEEN_BY_MODEL = ("longmemeval", "beam-100k", "realmem-notes")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--baselines", action="store_true", help="measure simple systems as well")
    parser.add_argument("--limit-stores", type=int, metavar="N", help="only the first N stores")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--model", default="auto", help="the embedding model, as in embed.model")
    parser.add_argument(
        "--text-only", action="store_true", help="no speaker, session or time: texts alone"
    )
    args = parser.parse_args()

    def progress(what: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{what} {done}/{total}", end="", file=sys.stderr, flush=True)

    measured = bench_recall(
        args.files,
        find_embedder(args.model),
        baselines=args.baselines,
        limit_stores=args.limit_stores,
        cache=args.cache,
        text_only=args.text_only,
        seen=SEEN_BY_MODEL,
        progress=progress,
    )
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(json.dumps(measured, indent=2) if args.json else as_text(measured))


if __name__ == "__main__":
    main()
