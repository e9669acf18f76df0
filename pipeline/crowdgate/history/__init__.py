"""What past runs recorded: verdicts, settings, and the ledger in rows for people."""
