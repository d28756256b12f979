"""Grounding: whether a claim is supported by the turn it was taken from."""

from holdfast.text.grounding.ground import Span, Unsupported, ground

__all__ = ["Span", "Unsupported", "ground"]
