"""The web page, on which people read and correct memory. Pages are rendered from the declared
operations of a hub, with the caller's permissions; nothing is decided here."""
