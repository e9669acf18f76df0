"""Mechanisms that protect the data, each with its part of a policy (`spec`). A folder for each kind of release."""
