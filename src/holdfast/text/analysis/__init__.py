"""Analysis of text: index terms, word forms, variants, languages, spans."""
