"""Great Expectations in a process of its own, for rules that a contract states for it.

It takes two seconds to import and 124 MB, so it starts before the table is read, and its memory is not
that of the run. It is told limits and facts through a pipe, no names and no rows, and answers with yes, no or neither;
whatever else it says goes nowhere. It ends with the run.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from crowdgate.contracts.contract import TableRule
from crowdgate.errors import EnvironmentFault
from crowdgate.sources.rules import Answers, Ask

_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("expectations.py")))
_PATIENCE = 300
"""The number of seconds after which a process without an answer counts as hanging."""


@contextmanager
def engine(rules: Sequence[TableRule]) -> Iterator[Ask]:
    """Yield a function that asks Great Expectations once which of the rules hold. Its process ends with the block;
    without rules none starts.
    """
    if not rules:
        yield lambda _: {}
        return
    with Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process:
        try:
            yield lambda facts: _engine_answers(process, rules, facts)
        finally:
            process.kill()


def _engine_answers(process: Popen[bytes], rules: Sequence[TableRule], facts: Mapping[str, float]) -> Answers:
    """Return for each rule whether it holds; a rule whose fact is absent has no answer.

    Raises EnvironmentFault if there is no answer to all others, as after a crash or a hang they are unknown. No fact of
    the table can cause that.
    """
    asked = [rule for rule in rules if rule.column in facts]
    question = json.dumps([[facts[rule.column], rule.low, rule.high] for rule in asked])
    try:
        told = json.loads(process.communicate(question.encode(), _PATIENCE)[0])
    except (TimeoutExpired, ValueError, OSError):
        told = None
    answered = isinstance(told, list) and all(each is None or isinstance(each, bool) for each in told)
    if process.returncode != 0 or not answered or len(told) != len(asked):
        raise EnvironmentFault(
            "Great Expectations, which checks rules of the contract, did not answer. Run again, or see whether "
            "it works here"
        )
    return dict(zip(asked, told, strict=True))
