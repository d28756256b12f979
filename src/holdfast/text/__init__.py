"""Pure functions of text: analysis, dates, chunking, classification, capture, guard, secrets."""
