"""Mechanisms: what protects, each with what a policy says of it (`spec`). A folder for each kind of release."""
