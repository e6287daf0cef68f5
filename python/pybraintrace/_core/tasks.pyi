"""Tasks and spike encodings."""

from typing import Any
import pybraintrace.typing


class Task:
    """Batches of sequences with targets."""

    def batch(self, part: str, index: int, size: int) -> tuple:
        """Return (inputs, targets, mask) of one batch."""

    def samples(self, part: str) -> int:
        """
        Return the number of samples of a part; 0 if batches are generated endlessly.
        """

    @property
    def input_shape(self) -> Any:
        """Shape of one step of one sample."""

    @property
    def outputs(self) -> int:
        """Number of classes, or width of the target values."""

    @property
    def length(self) -> int:
        """Number of steps of the longest sequence."""

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, if there are any."""

    @property
    def has_classes(self) -> bool:
        """Whether targets are classes rather than values."""

    def to_svg(self) -> str:
        """Draw one sample as SVG: inputs over time, and the targets below."""

def make_task(description: str, seed: int) -> Task:
    """Create a task from its JSON description."""

def task_types() -> dict[str, str]:
    """Return all task types as {type: description}."""

def poisson_spikes(p: pybraintrace.typing.ArrayLike | None, steps: int, seed: int = 0) -> Any:
    """
    Encode probabilities as random spikes.

    Args:
        p: probability of a spike in each step, any shape.
        steps: number of steps.
        seed: seed of the spikes.

    Returns:
        Spikes [steps, ...].
    """

def latency_spikes(values: pybraintrace.typing.ArrayLike | None, steps: int) -> Any:
    """
    Encode values in [0, 1] as spike times: larger values spike earlier, zero never.

    Returns:
        Spikes [steps, ...].
    """

def latency_values(spikes: pybraintrace.typing.ArrayLike | None) -> Any:
    """Inverse of latency_spikes."""

def delta_events(signal: pybraintrace.typing.ArrayLike | None, threshold: float) -> Any:
    """
    Encode the changes of a signal as events.

    Args:
        signal: [T, ...].
        threshold: change that emits an event.

    Returns:
        Events [T, 2, ...]: channel 0 for increases, 1 for decreases.
    """

def delta_signal(events: pybraintrace.typing.ArrayLike | None, first: pybraintrace.typing.ArrayLike | None, threshold: float) -> Any:
    """Inverse of delta_events, given the first values of the signal."""
