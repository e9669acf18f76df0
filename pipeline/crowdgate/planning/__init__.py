"""Preparation of a release before anything is read: a policy with its files, plan, budget, ledger and destination."""
