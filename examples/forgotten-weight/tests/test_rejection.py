"""The conformance kit rejects the mechanism, and for the right reason."""

from forgotten_weight import ForgottenWeight

from certdp.plugins.conformance import check


def test_an_audit_on_a_heavy_record_refutes_the_declared_loss_and_no_other_law_fails() -> None:
    (failure,) = check(ForgottenWeight, options={"scale": "1"}, audit_trials=2000).failures
    assert failure.law == "audit"
    assert "wanted ε ≤ 2.0, as declared" in failure.reason
    assert "of weight 8, second input no record" in str(failure.witness)
