"""From a question to passages: analyse, gather by words and by meaning, fuse, rank, explain."""
