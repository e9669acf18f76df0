"""What is settled before anything is read: a policy with its files, its plan, budget, ledger and destination."""
