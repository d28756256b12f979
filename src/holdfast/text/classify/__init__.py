"""Classification: which content type, kind, stability, category, tags and layer a memory has."""

from holdfast.text.classify.classifier import (
    LONG_TERM_CHARS_MAX,
    NOTE_CHARS_MAX,
    Classified,
    classify,
    read_hint,
)

__all__ = ["LONG_TERM_CHARS_MAX", "NOTE_CHARS_MAX", "Classified", "classify", "read_hint"]
