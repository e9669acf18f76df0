"""Judge the gates of a policy again on the records of its past releases."""
