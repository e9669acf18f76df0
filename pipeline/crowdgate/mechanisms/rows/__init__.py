"""Safe k-anonymity: levels, the choice among them, suppression. Its part of a policy is in `spec`."""
