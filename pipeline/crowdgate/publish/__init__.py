"""Staging where only the owner sees it, and renaming into place."""
