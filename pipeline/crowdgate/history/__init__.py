"""Records of past runs: verdicts, settings, and the ledger's summary."""
