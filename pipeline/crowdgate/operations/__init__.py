"""The operator's view of Crowdgate: events of runs, the channels that deliver them, and metrics."""
