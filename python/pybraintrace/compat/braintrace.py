# SPDX-License-Identifier: Apache-2.0
"""`braintrace`: the whole of this package, and the names of its base classes there."""

from .. import *  # noqa: F403
from .. import OnlineLearner, __version__, nn

ETraceAlgorithm = ETraceVjpAlgorithm = OnlineLearner
__version_info__ = tuple(int(part) for part in __version__.split("."))
