"""Dates in English words, as windows of time."""

from holdfast.text.dates.find import EARLIEST, LATEST, DateMention, find_dates, parse_when

__all__ = ["EARLIEST", "LATEST", "DateMention", "find_dates", "parse_when"]
