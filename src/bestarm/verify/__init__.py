"""Kept results and certificates are checked: by simulating again, and in exact arithmetic."""
