"""The original bytes of files that memories were made from."""
