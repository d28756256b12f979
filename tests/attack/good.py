"""The good client, as a process of its own: `python -m tests.attack.good PORT KEY HUB SECONDS`.
It asks about 30 times a second: recalls, lists and writes, mostly on one connection. Each line that
it prints is a request: when it began, how many seconds it took, its status (0: none)."""

from __future__ import annotations

import http.client
import json
import sys
import time

PAUSE_S = 0.02
TIMEOUT_S = 15.0


def main() -> None:
    port, key, hub, seconds = sys.argv[1:]
    headers = {
        "Authorization": f"Bearer {key}",
        "X-Hub-ID": hub,
        "Content-Type": "application/json",
    }
    line = http.client.HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT_S)
    ends = time.monotonic() + float(seconds)
    number = 0
    while time.monotonic() < ends:
        number += 1
        if number % 10 == 0:
            line.close()
        method, path, body = _request(number)
        began = time.monotonic()
        status = 0
        # A connection that the server closed between two requests is opened again, as any client
        # does: that is part of what the request took.
        for _ in range(2):
            try:
                line.request(method, path, body, headers)
                answer = line.getresponse()
                answer.read()
                status = answer.status
                break
            except (OSError, http.client.HTTPException):
                line.close()
        print(began, time.monotonic() - began, status, flush=True)
        time.sleep(PAUSE_S)


def _request(number: int) -> tuple[str, str, str | None]:
    if number % 3 == 0:
        return "GET", "/v1/memories?limit=20", None
    if number % 30 == 1:
        return "POST", "/v1/memories", json.dumps({"content": f"Berth {number} is free today."})
    return "POST", "/v1/recall", json.dumps({"query": "Which harbour is closed on Mondays?"})


if __name__ == "__main__":
    main()
