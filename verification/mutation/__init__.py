"""The mutation score: whether the verification suite notices small faults planted in the formulas.

Faults are made from the syntax trees of the listed modules and from the expression trees that mechanisms and samplers
declare. A mutant is killed when one of the claims that guard its module, or else one of the tests, is no longer as
expected. Every mutant is killed or exempted by an argument of its own.
"""
