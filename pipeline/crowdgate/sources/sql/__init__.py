"""Tables in databases: the engine counts the distinct combinations of values, and only these leave it."""
