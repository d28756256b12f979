"""Slots: how a new statement relates to an older one about the same thing."""
