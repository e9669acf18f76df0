"""Safe k-anonymity: levels, the choice among them, suppression. What a policy says of it is in `spec`."""
