"""Probabilities that the next release passes the gates of its policy, before anything is spent."""
