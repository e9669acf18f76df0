"""The repository of KL distances and its commands: publish, query, list, decide, inventory; loaded on first use.

Entries are signed, in a folder or behind a URL, apart from the ledger. M. Koot, Measuring and predicting anonymity
(thesis, 2012), chapter 7: a data holder publishes how far a population's attributes are from uniform; the planner of a
data collection queries it and predicts anonymity without the data.
"""
