"""Pages for people who answer for releases: a release, a budget, and an index over all of a ledger."""
