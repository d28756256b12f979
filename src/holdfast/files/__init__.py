"""Memory as plain files that a person can read and edit, and the mirror that keeps them and the
store in step."""
