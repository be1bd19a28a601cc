"""What certificates say of mechanisms whose noise is not exact."""

from __future__ import annotations

import pytest

from certdp.verification.certificates.plugin_statements import PluginStatement
from certdp.verification.checker.declared import MECHANISMS
from certdp.verification.checker.options import PLUGINS


def stated(name: str, distribution: str = "certdp") -> PluginStatement:
    return PluginStatement(
        name=name, version="2", distribution=distribution, evidence="proved", citation="none", options={}
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_real_valued_noise_is_stated_as_of_a_version_whose_proof_assumes_it(name: str) -> None:
    found, exact = stated(name).with_real_valued_noise(), MECHANISMS[name].exact
    if exact is None:
        assert found == stated(name)  # its noise is discrete
    else:
        assert found.version in set(PLUGINS["mechanism"][name].versions) - set(exact)
        assert stated(name, "another").with_real_valued_noise() == stated(name, "another")
