"""Expressions: losses, rates and profiles written once as trees over a closed grammar.

From one tree follow the float estimate (`evaluate`), the enclosure over a box (`enclose`), bulk upper bounds
(`upper`), the `derivative`, the simplified form, structural bounds (`range_of`) and the serialised form.
"""

from .bulk_upper import Rounded, rounded, roundings, upper
from .derivative import derivative
from .enclosing import Box, enclose
from .floats import evaluate
from .normal_form import is_identically, simplify, terms
from .pruned import prune
from .ranges import Range, range_of, ranges, symbol_range
from .serialised import Serialised, deserialise, serialise
from .text import text
from .tree import (
    ARITY,
    ONE,
    ORDER,
    ZERO,
    Algebra,
    Apply,
    Constant,
    Expression,
    Operand,
    Operation,
    Power,
    Symbol,
    Variable,
    W,
    between,
    deciding,
    exp,
    expm1,
    expression,
    fold,
    log,
    log1p,
    maximum,
    minimum,
    norm,
    rebuilt,
    rounding,
    select,
    sqrt,
    substitute,
    variables,
)

__all__ = [
    "ARITY",
    "ONE",
    "ORDER",
    "ZERO",
    "Algebra",
    "Apply",
    "Box",
    "Constant",
    "Expression",
    "Operand",
    "Operation",
    "Power",
    "Range",
    "Rounded",
    "Serialised",
    "Symbol",
    "Variable",
    "W",
    "between",
    "deciding",
    "derivative",
    "deserialise",
    "enclose",
    "evaluate",
    "exp",
    "expm1",
    "expression",
    "fold",
    "is_identically",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "norm",
    "prune",
    "range_of",
    "ranges",
    "rebuilt",
    "rounded",
    "rounding",
    "roundings",
    "select",
    "serialise",
    "simplify",
    "sqrt",
    "substitute",
    "symbol_range",
    "terms",
    "text",
    "upper",
    "variables",
]
