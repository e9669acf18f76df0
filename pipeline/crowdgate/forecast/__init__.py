"""What is expected of the next releases: figures of a plan, chances of gates, other kinds beside it."""
