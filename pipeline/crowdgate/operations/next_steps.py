"""The next step after an event, in a sentence of fixed words."""

NEXT_STEPS = {
    "withheld": "Change the release or the limit in a new version of the policy, or accept that nothing is published.",
    "held": "Change the policy, or charge the release anyway with a reason (crowdgate release --anyway).",
    "waiting": "Let the approvers run crowdgate approve, then run the release again.",
    "dry-run": "State enforcement: enforce in the policy when it should release.",
    "configuration": "Run crowdgate check on the policy, and correct what it names.",
    "file-fault": "Provide the table that the contract describes, then run the same slot again.",
    "environment": "Run crowdgate doctor, mend what it names, then run the same slot again.",
    "unapproved": "Let the approvers run crowdgate approve, then run the release again.",
    "unsigned": "Name the signing key in crowdgate.toml, then run the same slot again.",
    "edited": "Run crowdgate ledger verify; crowdgate ledger restore is the way on.",
    "lost": "Run crowdgate ledger verify; the message of the run says what is gone.",
    "frozen": "Run crowdgate ledger show for the reason, and crowdgate ledger thaw to go on.",
    "held-lease": "Another run has this release: wait a minute, then run the same slot again.",
    "spent": "Use another slot; the reason is in the custodian's private record.",
    "withdrawn": "Use another slot or version: this release was withdrawn.",
    "refused": "Run crowdgate plan on the policy: it shows what is left of the budget.",
    "crashed": "Use another slot, after the custodian has read the reason in the private record.",
    "low-budget": "Plan which releases are still worth the budget (crowdgate plan).",
    "audit-stale": "Run crowdgate audit on the policy.",
    "restored": "Inspect the bookings with crowdgate ledger show, and thaw what is frozen.",
}
"""The next step by kind of event or by code of an error."""
