"""Capture: the facts that a person states in a turn, found by rules."""

from holdfast.text.capture.facts import CAPTURED_MAX, Captured, capture

__all__ = ["CAPTURED_MAX", "Captured", "capture"]
