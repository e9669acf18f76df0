"""How singling out is asked of a policy: the games that are played."""

from crowdgate.audit.attackers import ATTACKERS
from crowdgate.audit.findings import Findings
from crowdgate.audit.game import Game
from crowdgate.audit.population import Population
from crowdgate.audit.readings import READINGS
from crowdgate.audit.record import AuditRecord
from crowdgate.audit.released import Released
from crowdgate.audit.run import Scheduled
from crowdgate.candidate import Question
from crowdgate.jobs.audit import Asking, Audited
from crowdgate.jobs.singling_out.setting import controls_of, known_of, refuse, said_of, setting_of
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

SingledOut = Audited[AuditRecord, Findings]


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, and the mechanisms of which it is known what must be found."""
    setting, known = setting_of(plan, spec, population), known_of(spec, population)
    own = Game(Released(plan.protection), ATTACKERS, known, setting.weights, seed, 0)
    games = [Scheduled(own, setting.trials, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan, known), start=1):
        shown, attackers = control.known(known), [each for each in ATTACKERS if each.name in control.attackers]
        game = Game(control, attackers, shown, control.weights(shown.n), seed, number)
        rate = control.claimed(known) if control.must == "be caught" else None
        games.append(Scheduled(game, control.trials, control.must, control.note, rate))
    return games


SINGLING_OUT: Asking[AuditRecord, Findings] = Asking(
    READINGS[Question.SINGLING_OUT], lambda: None, lambda _: None, said_of, setting_of, refuse, _schedule
)
