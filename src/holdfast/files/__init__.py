"""Memory as plain files that a person can read and edit, and the mirror that syncs them with the
store."""
