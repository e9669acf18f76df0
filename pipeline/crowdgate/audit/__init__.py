"""Attacks on mechanisms: audits of singling out, membership and attribute inference, with their attackers and
controls."""
