"""The web page: memory as people look at it and mend it. Pages are rendered here from the declared
operations of a hub, with the caller's permissions; nothing is decided here."""
