# mypy: ignore-errors
"""Write joint deltas by dp-accounting to dp_accounting.json, for tests/accounting/test_joint_vectors.py.

Google's dp-accounting can't be installed beside this project's pins. It needs an environment of its own:
`python -m venv DIR`, `DIR/bin/pip install dp-accounting==0.6.0`, then `DIR/bin/python` with this file.
"""

import json
from pathlib import Path

from dp_accounting.pld import privacy_loss_distribution as pld

STEP = 1e-5
EPSILONS = (0.1, 0.3, 0.7, 1.0, 1.5, 2.0)
SETS = [
    {"gaussian": [[20.0, 1]]},
    {"gaussian": [[92.0, 1]] * 5},
    {"gaussian": [[12.0, 2], [40.0, 3], [9.0, 1]]},
    {"laplace": [[20.0, 1]]},
    {"laplace": [[10.0, 3], [2.0, 1]]},
    {"laplace": [[4.0, 1], [10.0, 1], [20.0, 1]]},
    {"gaussian": [[10.0, 1]], "laplace": [[20.0, 1]]},
    {"gaussian": [[30.0, 1]] * 6, "laplace": [[10.0, 1], [20.0, 2]]},
    {"gaussian": [[3.0, 1]], "beta": 0.2},
    {"gaussian": [[1.5, 1]], "beta": 0.05},
    {"discrete": [[3.0, 1]]},
    {"discrete": [[4.0, 1], [2.5, 1]]},
]


def _law(parts):
    beta = parts.get("beta", 1.0)
    made = [
        pld.from_gaussian_mechanism(sigma, change, True, STEP, sampling_prob=beta)
        for sigma, change in parts.get("gaussian", [])
    ]
    made += [
        pld.from_discrete_laplace_mechanism(1 / scale, change, True, STEP) for scale, change in parts.get("laplace", [])
    ]
    made += [
        pld.from_discrete_gaussian_mechanism(sigma, change, None, True, STEP)
        for sigma, change in parts.get("discrete", [])
    ]
    found, *others = made
    for other in others:
        found = found.compose(other)
    return found


def _vectors():
    for parts in SETS:
        law = _law(parts)
        for epsilon in EPSILONS:
            delta = float(law.get_delta_for_epsilon(epsilon))
            if delta > 1e-11:
                yield {"parts": parts, "epsilon": epsilon, "delta": delta}


if __name__ == "__main__":
    text = json.dumps(list(_vectors()), indent=1)
    Path(__file__).with_name("dp_accounting.json").write_text(text + "\n", encoding="utf-8")
