"""Folders of documents: which files to read, indexing them, watching them."""
