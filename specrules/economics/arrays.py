"""The types of arrays and numbers that the arithmetic works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Number: TypeAlias = float | Array
Vector: TypeAlias = Sequence[float] | Array

ZERO: Array = np.zeros(())
ONE: Array = np.ones(())
