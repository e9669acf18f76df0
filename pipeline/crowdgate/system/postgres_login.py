"""Logging in to a PostgreSQL server that a file names: no way by which the server learns a password."""

SAFE_LOGIN = "scram-sha-256,gss,sspi,none"
"""The value of libpq's `require_auth`: proofs of a password, tickets, certificates and sockets. A contract or a
crowdgate.toml may be somebody else's, and its server could ask for the password of the environment in clear."""
