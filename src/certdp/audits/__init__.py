"""Audits: lower bounds on ε from runs, by two inputs or by one run with canaries."""

from ..verification.audit import Audit as Audit
from ..verification.audit import OneRunAudit as OneRunAudit
from ..verification.audit import audit as audit
from ..verification.audit import audit_one_run as audit_one_run
from ..verification.audit import correct_guesses as correct_guesses
from .of_runs import RunAudit as RunAudit
from .of_runs import audit_run as audit_run
