# SPDX-License-Identifier: Apache-2.0
"""Quantities of `brainunit` (`saiunit`) as plain numbers in ms, mV and mA, which is what the library computes in.

Then mV/mA is one ohm, mA/mV one siemens and 1/ms one kHz, and no factor is ever needed.
"""

from __future__ import annotations

from typing import Any

# Exponents of (length, mass, time, current, temperature, substance, luminosity) in SI, by what we count in.
_MILLI = {"second": 1e-3, "ampere": 1e-3, "volt": 1e-3}


def _dimensions(unit: Any) -> tuple[float, ...]:
    dim = getattr(unit, "dim", None)
    return tuple(float(d) for d in getattr(dim, "_dims", ()))


def magnitude(quantity: Any) -> Any:
    """The number of a quantity in ms, mV, mA; a plain number as it is."""
    if not (hasattr(quantity, "mantissa") and hasattr(quantity, "unit")):
        return quantity
    unit = quantity.unit
    dims = _dimensions(unit)
    length, mass, time, current, *others = dims if len(dims) >= 4 else (0.0,) * 7
    if any(others):
        raise ValueError(f"{quantity!r}: only units of time, voltage and current can be taken here")
    # kg^m m^l s^t A^i = V^v s^(t+3v) A^(i+v) with v = m and l = 2m
    if length != 2 * mass:
        raise ValueError(f"{quantity!r}: only units of time, voltage and current can be taken here")
    volts, seconds, amperes = mass, time + 3 * mass, current + mass
    scale = getattr(unit, "magnitude", None)
    if scale is None:
        scale = float(getattr(unit, "base", 10.0)) ** float(getattr(unit, "scale", 0)) * float(getattr(unit, "factor", 1.0))
    return quantity.mantissa * (float(scale) * 1e3 ** (volts + seconds + amperes))
