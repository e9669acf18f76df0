"""The formulas of chapters 4 to 6 of M. Koot, Measuring and predicting anonymity (thesis, 2012), by their numbers.

N is the number of bins, k of people, a = k / N, kappa a distance to the uniform distribution; a group of bins is
(alpha, F): F bins of probability alpha / N. Errors of the thesis are corrected here, and the docstring says so. `kappa`
may be the Kullback-Leibler distance, as in the thesis, or the excess of collisions, which the expansions contain
(`risk.kl`). Neither is always nearer: the omitted terms are of the third order, and with ages kappa often compensates
for a part of them.

Functions here compute a formula wherever it is defined, also where it is far from the truth: statisticians compare
both. Arguments without a defined value are a ValueError. `validity` states where an approximation may be used, and
`checked` refuses elsewhere. Exact values are in `risk.singletons`.

This is a library for statisticians. `crowdgate predict` with an entry of a KL repository calls a few of them, by
`checked_value` (`anonymity/predict/entry.py`); the rest serves comparisons of formulas, as in the tests of the errata
and `tests/benchmarks/koot_figures.py`, and decides nothing about a release.
"""

from crowdgate.risk.approximations.densities import (
    ES_limit_linear_density,
    VarS_limit_density_corrected,
    VarS_limit_linear_density_corrected,
    argmax_a_gamma2,
    kappa_linear_density,
)
from crowdgate.risk.approximations.intervals import (
    ES_bivariate_normal_linear,
    ES_exponential_exact,
    ES_exponential_quadratic_corrected,
    ES_linear,
    ES_normal_binned_exact,
    ES_normal_linear,
    ES_normal_quadratic,
    ES_quadratic,
    ES_uniform_quadratic,
    ES_uniform_width,
    VarS_slope,
    VarS_slope_normal,
    bivariate_normal_power,
    normal_power,
    phi_j_quadratic,
)
from crowdgate.risk.approximations.singletons import (
    P_S0,
    ES_exact,
    ES_homogeneous,
    ES_kl,
    ES_limit,
    P_S0_poissonised,
    S_distribution,
    VarS_exact,
    VarS_homogeneous,
    VarS_kl_corrected,
    VarS_limit_heterogeneous_corrected,
    eta_j_kl,
    gamma_j_kl,
    logP_S0,
    optimal_k,
    phi_j_kl,
)
from crowdgate.risk.approximations.uniqueness import (
    logP_unique,
    pi_u,
    pi_u_exponential,
    pi_u_poisson,
    uniqueness_collision,
    uniqueness_exact,
    uniqueness_kl,
    uniqueness_kl_corrected,
    uniqueness_poisson,
)
from crowdgate.risk.approximations.validity import checked, validity
from crowdgate.risk.zeta import zeta

__all__ = [
    "P_S0",
    "ES_bivariate_normal_linear",
    "ES_exact",
    "ES_exponential_exact",
    "ES_exponential_quadratic_corrected",
    "ES_homogeneous",
    "ES_kl",
    "ES_limit",
    "ES_limit_linear_density",
    "ES_linear",
    "ES_normal_binned_exact",
    "ES_normal_linear",
    "ES_normal_quadratic",
    "ES_quadratic",
    "ES_uniform_quadratic",
    "ES_uniform_width",
    "P_S0_poissonised",
    "S_distribution",
    "VarS_exact",
    "VarS_homogeneous",
    "VarS_kl_corrected",
    "VarS_limit_density_corrected",
    "VarS_limit_heterogeneous_corrected",
    "VarS_limit_linear_density_corrected",
    "VarS_slope",
    "VarS_slope_normal",
    "argmax_a_gamma2",
    "bivariate_normal_power",
    "checked",
    "eta_j_kl",
    "gamma_j_kl",
    "kappa_linear_density",
    "logP_S0",
    "logP_unique",
    "normal_power",
    "optimal_k",
    "phi_j_kl",
    "phi_j_quadratic",
    "pi_u",
    "pi_u_exponential",
    "pi_u_poisson",
    "uniqueness_collision",
    "uniqueness_exact",
    "uniqueness_kl",
    "uniqueness_kl_corrected",
    "uniqueness_poisson",
    "validity",
    "zeta",
]
