"""Kind `dp_synthetic`: synthetic rows drawn from a model of noisy tables, with a certificate of each pair of
columns."""

from crowdgate.kinds.synthetic.kind import SYNTHETIC

__all__ = ["SYNTHETIC"]
