"""Kind `dp_synthetic`: rows that are nobody's, drawn from a model of noisy tables, with a certificate of every pair."""

from crowdgate.kinds.synthetic.kind import SYNTHETIC

__all__ = ["SYNTHETIC"]
