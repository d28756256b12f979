"""A process that proposes the same facts over and over: `python proposing.py FOLDER ROUNDS`. It
says `ready`, waits for a line, and then says in lines what became of each call."""

from __future__ import annotations

import sys

import holdfast
from holdfast.engine.writing.proposals import Proposal, take_proposals

SAID = "I live in Lisbon and work at Acme. I prefer tabs. My dog is called Rex. I don't eat meat."
FACTS = (
    "Lives in Lisbon",
    "Works at Acme",
    "Prefers tabs",
    "Dog is called Rex",
    "Does not eat meat",
)


def main() -> None:
    folder, rounds = sys.argv[1], int(sys.argv[2])
    with holdfast.open(folder, settings={"embed.model": "none", "actor": "tester"}) as memory:
        hub = memory.hub()
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(rounds):
            # Each process and each round begins elsewhere.
            turned = FACTS[number % len(FACTS) :] + FACTS[: number % len(FACTS)]
            proposals = [Proposal(fact, said=SAID) for fact in turned]
            taken = take_proposals(hub.scope, proposals)
            print(*(one.outcome for one in taken), flush=True)


if __name__ == "__main__":
    main()
