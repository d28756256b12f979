"""The review inbox, verdicts on held memories, and questions that agents ask people."""
