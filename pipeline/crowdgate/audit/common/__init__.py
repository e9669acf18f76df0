"""What the audits of all questions share: population, trials, records, levels, and the audit itself."""
