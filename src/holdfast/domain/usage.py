"""What language models cost: the sum of a day, a pass and a model. Pure values."""

from datetime import date
from typing import NamedTuple


class UsageRow(NamedTuple):
    """What one pass spent with one model on one UTC day. Tokens are as the server counted them, or
    a guess where it counts nothing; `failed` is how often nothing usable came of asking."""

    day: date
    work: str
    model: str
    requests: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
