"""Attacks on mechanisms: the game of predicate singling out, those who play it, and mechanisms that must lose it."""
