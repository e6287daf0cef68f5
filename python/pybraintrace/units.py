# SPDX-License-Identifier: Apache-2.0
"""Conversion of `brainunit` (`saiunit`) quantities to numbers in ms, mV and mA, the units of the library.

These units are consistent: mV/mA is one ohm, mA/mV one siemens, 1/ms one kHz.
"""

from __future__ import annotations

from typing import Any


def _dimensions(unit: Any) -> tuple[float, ...]:
    """Exponents of (length, mass, time, current, temperature, substance, luminosity) in SI."""
    dim = getattr(unit, "dim", None)
    return tuple(float(d) for d in getattr(dim, "_dims", ()))


def magnitude(quantity: Any) -> Any:
    """Return the value of a quantity in ms, mV and mA; other objects are returned unchanged.

    Raises:
        ValueError: the unit is not a product of powers of time, voltage and current.
    """
    if not (hasattr(quantity, "mantissa") and hasattr(quantity, "unit")):
        return quantity
    unit = quantity.unit
    dims = _dimensions(unit)
    length, mass, time, current, *others = dims if len(dims) >= 4 else (0.0,) * 7
    if any(others):
        raise ValueError(f"{quantity!r}: expected a unit of time, voltage and current")
    # kg^m m^l s^t A^i = V^v s^(t+3v) A^(i+v) with v = m and l = 2m
    if length != 2 * mass:
        raise ValueError(f"{quantity!r}: expected a unit of time, voltage and current")
    volts, seconds, amperes = mass, time + 3 * mass, current + mass
    scale = getattr(unit, "magnitude", None)
    if scale is None:
        scale = float(getattr(unit, "base", 10.0)) ** float(getattr(unit, "scale", 0)) * float(getattr(unit, "factor", 1.0))
    return quantity.mantissa * (float(scale) * 1e3 ** (volts + seconds + amperes))
