"""Recognises text that this hub handed out itself, so that it is not stored again."""
