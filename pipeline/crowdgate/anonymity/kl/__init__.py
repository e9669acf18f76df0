"""The KL repository as users meet it: publish, query, list, decide, inventory."""
