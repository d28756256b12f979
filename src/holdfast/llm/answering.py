"""Whether the server of a language model is there: one question without a key, to which any answer
will do. It knows addresses, and nothing of models or settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from http.client import HTTPException
from threading import Thread
from time import monotonic
from urllib.error import HTTPError
from urllib.request import urlopen

# Longer than a server takes that is there, and short enough for somebody who looks on.
WAIT_S = 2.0


def answering(urls: Iterable[str], *, wait_s: float = WAIT_S) -> dict[str, str]:
    """Asks all of them at once, and waits no longer than this: '' for each that answers, and for
    the others why they do not."""
    told: dict[str, str] = {}
    wanted = list(dict.fromkeys(urls))
    # In threads, as looking a name up knows no bound; one that hangs ends with the process.
    asking = [Thread(target=_ask, args=(url, wait_s, told), daemon=True) for url in wanted]
    for one in asking:
        one.start()
    until = monotonic() + wait_s
    for one in asking:
        one.join(max(0.0, until - monotonic()))
    return {url: told.get(url, f"no answer within {wait_s:g} seconds") for url in wanted}


def _ask(url: str, wait_s: float, told: dict[str, str]) -> None:
    try:
        with urlopen(f"{url}/models", timeout=wait_s):
            told[url] = ""
    except HTTPError as refusal:
        # It wants a key, or knows no such list; it is there.
        refusal.close()
        told[url] = ""
    except TimeoutError:
        # Whoever waits says so.
        return
    except (OSError, HTTPException, ValueError) as error:
        cause = getattr(error, "reason", error)
        if not isinstance(cause, TimeoutError):
            told[url] = str(getattr(cause, "strerror", None) or cause)
