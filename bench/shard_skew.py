"""How unevenly do hubs of very different sizes fill the shards and nodes of a cluster?

    python -m bench.shard_skew [--hubs N] [--mean N] [--shards N] [--nodes N] [--trials N] [--json]

Hub sizes are drawn from heavy-tailed distributions: a log-normal one, as sizes of mailboxes and
repositories have, and Pareto ones, whose largest hubs are a share of everything. A hub belongs to
the shard of the hash of its number, as on Citus (uniform), and shards are dealt to nodes in turn,
as Citus does. Then shards are moved from the fullest node to the emptiest until no move helps, as
`citus_rebalance_start` by size does; and then each hub that is larger than a node's tenth gets a
shard of its own (`isolate_tenant_to_new_shard`) before that.

Skew is the largest divided by the mean: 1.3 means that the fullest node holds 30 % more than its
share, and has to be sized for it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

# The number of shards of a table by default on Citus, and what one may choose.
SHARDS = (32, 64, 256, 1024)
# A hub of this share of a node is isolated.
_ISOLATED = 0.1


def sizes_of(kind: str, hubs: int, mean: float, rng: np.random.Generator) -> np.ndarray:
    """Memories of each hub, with this mean, at least one."""
    if kind.startswith("lognormal"):
        # Sigma 2: the median hub has a seventh of the mean, the largest of ten million 4,000 times.
        sigma = float(kind.partition("-")[2] or 2)
        drawn = rng.lognormal(0.0, sigma, hubs)
    else:
        # Pareto: the smaller the exponent, the larger the share of the largest.
        drawn = rng.pareto(float(kind.partition("-")[2]), hubs) + 1.0
    return np.maximum(1.0, drawn * (mean * hubs / drawn.sum()))


def filled(sizes: np.ndarray, shards: int, rng: np.random.Generator) -> np.ndarray:
    """Memories of each shard; the hash of a hub's number is as good as chance."""
    return np.bincount(rng.integers(0, shards, len(sizes)), weights=sizes, minlength=shards)


def dealt(shards: np.ndarray, nodes: int) -> np.ndarray:
    """Memories of each node, shards dealt in turn."""
    return np.array([shards[node::nodes].sum() for node in range(nodes)])


def rebalanced(shards: np.ndarray, nodes: int) -> np.ndarray:
    """The same after rebalancing by size: the largest shard first, to the emptiest node."""
    load = np.zeros(nodes)
    for size in np.sort(shards)[::-1]:
        load[load.argmin()] += size
    return load


def isolated(
    sizes: np.ndarray, shards: int, nodes: int, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Memories of each node where large hubs have shards of their own, and how many those are."""
    large = sizes > _ISOLATED * sizes.sum() / nodes
    rest = filled(sizes[~large], shards, rng)
    return rebalanced(np.concatenate([rest, sizes[large]]), nodes), int(large.sum())


def skew(parts: np.ndarray) -> float:
    return float(parts.max() / parts.mean())


def measure(
    kind: str, hubs: int, mean: float, shards: Sequence[int], nodes: int, trials: int
) -> list[dict[str, Any]]:
    """For each number of shards, the worst of the trials."""
    worst: dict[int, dict[str, float]] = {count: {} for count in shards}
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        sizes = sizes_of(kind, hubs, mean, rng)
        for count, row in worst.items():
            for name, value in _skews(sizes, count, nodes, rng).items():
                row[name] = max(value, row.get(name, 0.0))
    return [{"sizes": kind, "shards": count, "nodes": nodes, **row} for count, row in worst.items()]


def _skews(
    sizes: np.ndarray, shards: int, nodes: int, rng: np.random.Generator
) -> dict[str, float]:
    parts = filled(sizes, shards, rng)
    apart, count = isolated(sizes, shards, nodes, rng)
    return {
        "largest_hub_share": float(sizes.max() / sizes.sum()),
        "shard_skew": skew(parts),
        "node_skew": skew(dealt(parts, nodes)),
        "node_skew_rebalanced": skew(rebalanced(parts, nodes)),
        "node_skew_isolated": skew(apart),
        "isolated_hubs": float(count),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hubs", type=int, default=10_000_000)
    parser.add_argument("--mean", type=float, default=100.0, help="memories of a hub")
    parser.add_argument("--shards", type=int, nargs="*", default=list(SHARDS))
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--trials", type=int, default=3, help="the worst of so many is shown")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = [
        row
        for kind in ("lognormal-2", "pareto-1.5", "pareto-1.1")
        for row in measure(kind, args.hubs, args.mean, args.shards, args.nodes, args.trials)
    ]
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    print("sizes        shards  largest hub  shard  node  rebalanced  isolated (hubs)")
    for row in rows:
        print(
            f"{row['sizes']:<12} {row['shards']:>6}  {row['largest_hub_share']:>10.2%}"
            f"  {row['shard_skew']:>5.2f} {row['node_skew']:>5.2f}"
            f" {row['node_skew_rebalanced']:>11.2f}  {row['node_skew_isolated']:>8.2f}"
            f" ({row['isolated_hubs']:.0f})"
        )


if __name__ == "__main__":
    main()
