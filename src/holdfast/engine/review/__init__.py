"""The review inbox, approval and rejection of held memories, and questions that agents ask
people."""
