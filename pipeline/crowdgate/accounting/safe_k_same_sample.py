"""The delta of sampling and suppression when the levels are chosen, privately, on the released sample itself.

Li, Qardaji and Su (2012) add the epsilon of the choice to that of a fixed scheme (epsilon-safe generalisations). That
is wrong: both use one sample, and the choice can follow the classes with too many sampled rows. Enumerated in
tests/accounting/test_safe_k_same_sample.py, and through the released choice in tests/mechanisms/rows/test_choice.py.

The theorem concerns two tables, with and without t, in both directions and for each set of outputs. S0 is the sample of
all rows but one, t; S is S0, with t in it with probability beta. G is a choice of scheme with independent randomness,
e1-DP (delta 0) for any two samples of which one has a row more. The output is the scheme g with the sizes of all its
classes of at least k rows in S, by name, so that it reveals whether the class of t is among them. Under g the class of
t has n rows with t, and J of the other n - 1 are in S0; r is the published part of g's other classes, which the
sampling of t does not change. P is the distribution without t, P( | t) the one with t in the table. There are countably
many outputs, so that an inequality with a factor for each output holds for all sets.

1. From without t to with t. P(any output | t) >= (1 - beta) P(that output), because t may not be sampled: this is
   independent of S0, and then S is S0. So epsilon >= -ln(1 - beta) is enough, with delta 0.
2. With t, its class not published. P(g, below k, r | t) is at most (1 - beta) P(G(S0) = g, J < k, r) + beta e^e1
   P(G(S0) = g, J < k - 1, r), and that (1 + beta (e^e1 - 1)) times the probability without t. So epsilon >= ln(1 + beta
   (e^e1 - 1)) is enough, with delta 0.
3. With t, size j >= k, j < n: P(g, j, r | t) is (1 - beta) P(G(S0) = g, J = j, r) and, with t in the sample, beta
   P(G(S0 with t) = g, J = j - 1, r). From a sample s with j rows of the class, take one of these rows away: s'. Then
   P(s') = P(s) (1 - beta) / beta, and r is unchanged; each s has j such s', each s' comes from n - j such s. s' with t
   differs from s by one row removed and one added, so it has G = g with at most e^(2 e1) times the probability of s.
   Summed, beta P(G(S0 with t) = g, J = j - 1, r) <= (1 - beta) e^(2 e1) j / (n - j) P(G(S0) = g, J = j, r), and P(g, j,
   r | t) <= (1 - beta) (1 + e^(2 e1) j / (n - j)) P(g, j, r), which is at most e^epsilon P(g, j, r) unless j / (n - j)
   > x = (e^epsilon / (1 - beta) - 1) e^(-2 e1), that is unless j > n x / (1 + x). j = n, which cannot occur without t,
   is among these exceptions.
4. So P(A | t) <= e^epsilon P(A without E) + P(E | t) for each set A of outputs, E being the exceptions of step 3. In E,
   under some scheme, the class of t has a size in the sample, t included, of at least k and above n x / (1 + x). t has
   at most `schemes` classes, each with its own n, and each size is Bin(n, beta): delta is at most `schemes` times the
   supremum over n of that tail.

Rounding. P(Bin(n, beta) >= l) rises with beta: beta is rounded upwards. The threshold rises with the share x / (1 + x):
it is rounded downwards by the error of its own operations, from epsilon downwards and e1 upwards. Only the rounded beta
raises it. If the share is above beta (below, delta is 1) this is less than a relative 3e-16, and the supremum is taken
over n up to a relative 1e-12 beyond the end of each block of one threshold (`log_greatest_tail`).

Each step enumerated, for all choices between two schemes on small tables:
tests/accounting/test_same_sample_steps.py::test_no_choice_exceeds_the_four_steps
"""

import math

from crowdgate.accounting.amplification import amplified
from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, probability, raised, up, whole
from crowdgate.accounting.safe_k_exact import slack
from crowdgate.accounting.safe_k_theorem5 import log_greatest_tail
from crowdgate.limits import GREATEST_K
from crowdgate.number_text import Rounding, decimal


def same_sample_delta(k: Number, beta: Number, epsilon: Number, side_epsilon: Number, schemes: Number) -> float:
    """Return delta at the total `epsilon` when a side_epsilon-DP output is computed on the released sample itself.

    The side output may be the choice among `schemes` generalisations (the number of distinct ones a row can get; 1 for
    a fixed scheme). With x = (e^epsilon / (1 - beta) - 1) e^(-2 side_epsilon), it is schemes times the supremum over n
    of P(Bin(n, beta) >= max(k, floor(n x / (1 + x)) + 1)), at most 1, rounded up.

    The proof is in the docstring of this file. Raises ValueError also unless epsilon >= max(-ln(1 - beta), ln(1 + beta
    (e^side_epsilon - 1))).
    """
    least, many = whole("k", k, 1, GREATEST_K), whole("schemes", schemes, 1)
    b, eps = up(probability("beta", beta, open_high=True)), down(epsilon_of(epsilon))
    side = up(epsilon_of(side_epsilon, "side_epsilon"))
    needed = math.inf if b >= 1 else raised(max(-math.log1p(-b), amplified(side, b)))
    if eps < needed:
        given = decimal(eps, rounding=Rounding.DOWN)
        raise ValueError(f"epsilon must be at least {decimal(needed)} for this beta and side_epsilon, not {given}")
    if b == 0:
        return 0.0
    ratio = eps - math.log1p(-b)
    # rounded down, which raises the tail: five operations on numbers up to ratio + 2 side err by less than this
    log_odds = ratio + math.log(-math.expm1(-ratio)) - 2 * side - 1e-15 * (ratio + 2 * side)
    share = 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0
    log = log_greatest_tail(least, b, share)
    return min(1.0, exp_up(log + slack(least, log) + math.log(many)))
