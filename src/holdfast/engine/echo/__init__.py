"""Recognises text that this hub has returned itself (an echo), so that it is not stored again."""
