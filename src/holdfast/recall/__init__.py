"""Search: analyse a question, gather candidates by words and by vectors, fuse, rank, explain."""
