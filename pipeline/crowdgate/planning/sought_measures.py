"""Measures that people look for under other names: the reason why there is none, and the one to use instead."""

_K = "k of the mechanism, which each released class reaches anyway; a gate on it is smallest_class"
_L = "distinct_diversity or entropy_diversity, of one attribute; they limit what a class reveals, and no singling out"
_SHARES = "invalid_share with a charge, since the share of cells outside the domain is confidential"
_UNIQUE = "singletons with a charge, or expected_singletons from public counts: the release itself holds none"
_RISK = "pso_bound, an upper bound on singling out, or singletons; there is no single figure of risk"

SOUGHT: dict[str, tuple[str, str | None]] = {
    **dict.fromkeys(
        ("k", "k_anonymity", "kanonymity", "anonymity", "class_size", "min_class_size"), (_K, "smallest_class")
    ),
    **dict.fromkeys(("l_diversity", "ldiversity", "l", "diversity"), (_L, None)),
    **dict.fromkeys(
        ("tcloseness", "closeness", "t"),
        ("t_closeness, of one released attribute, as the release has it; none reads the source table", "t_closeness"),
    ),
    **dict.fromkeys(("null_share", "nulls", "null_rate", "completeness", "missing", "missing_share"), (_SHARES, None)),
    **dict.fromkeys(("uniqueness", "unique", "uniques", "unique_rows", "population_uniques"), (_UNIQUE, None)),
    **dict.fromkeys(
        ("risk", "reidentification_risk", "re_identification_risk", "prosecutor_risk", "journalist_risk"), (_RISK, None)
    ),
    **dict.fromkeys(
        ("rows", "row_count", "rowcount", "n", "count", "number_of_rows"),
        ("released_rows: the number of rows of the source table is confidential", "released_rows"),
    ),
    **dict.fromkeys(("suppression", "suppression_rate"), ("suppressed_share, which advises", "suppressed_share")),
    "epsilon": ("guarantee_epsilon, the privacy cost of one release", "guarantee_epsilon"),
    "delta": ("guarantee_delta, the privacy cost of one release", "guarantee_delta"),
}
"""By another name: the expected measure and the reason, and the measure that replaces the name (None: a choice)."""
