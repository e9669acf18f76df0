"""Public counts for planning: margins of the contract, verified releases and public tables."""
