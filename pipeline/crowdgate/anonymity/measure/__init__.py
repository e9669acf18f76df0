"""`crowdgate anonymity`: anonymity sets of a contract's table, and the linkage of a release with a register."""
