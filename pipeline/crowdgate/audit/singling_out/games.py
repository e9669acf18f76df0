"""How singling out is asked of a policy: the games that are played."""

from crowdgate.audit.common.audit import AuditProcedure, FinishedAudit
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.record import SinglingOutRecord
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.singling_out.findings import SinglingOutFindings
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out.reading import READING
from crowdgate.audit.singling_out.setting import controls_of, policy_fields, public_knowledge, refuse, setting_of
from crowdgate.audit.singling_out_attackers import ATTACKERS
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

SingledOut = FinishedAudit[SinglingOutRecord, SinglingOutFindings]


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """The policy's own mechanism, and the mechanisms of which it is known what must be found."""
    setting, known = setting_of(plan, spec, population), public_knowledge(spec, population)
    own = SinglingOutGame(PolicyMechanism(plan.protection), ATTACKERS, known, setting.weights, seed, 0)
    games = [ScheduledGame(own, setting.trials, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan, known), start=1):
        shown, attackers = (
            control.public_knowledge(known),
            [each for each in ATTACKERS if each.name in control.attackers],
        )
        game = SinglingOutGame(control, attackers, shown, control.weights(shown.n), seed, number)
        rate = control.claimed(known) if control.must == "be caught" else None
        games.append(ScheduledGame(game, control.trials, control.must, control.note, rate))
    return games


SINGLING_OUT: AuditProcedure[SinglingOutRecord, SinglingOutFindings] = AuditProcedure(
    READING, lambda: None, lambda _: None, policy_fields, setting_of, refuse, _schedule
)
