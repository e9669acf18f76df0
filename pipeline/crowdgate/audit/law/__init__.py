"""Audit of the stated distributions: fresh releases, compared with what the policy states about them."""
