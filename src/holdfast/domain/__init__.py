"""The nouns of Holdfast as typed values: pure data, no I/O, no clock, no store."""
