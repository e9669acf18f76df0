"""The repository of KL distances and commands on it: publish, query, list, decide, inventory; loaded when asked for.

Entries are signed, in a folder or behind a URL, apart from the ledger. M. Koot, Measuring and predicting anonymity
(thesis, 2012), chapter 7: a holder of data publishes how far a population's attributes are from uniform; whoever plans
a collection queries it and predicts anonymity without the data.
"""
