"""Members, teams, organisations, invitations and API keys."""
