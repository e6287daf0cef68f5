"""Tasks and encodings."""

import pybraintrace.typing


class Task:
    """Batches of sequences with their targets."""

    def batch(self, part: str, index: int, size: int) -> tuple: ...

    def samples(self, part: str) -> int:
        """Samples of a part; 0 where batches are generated without end."""

    @property
    def input_shape(self) -> object:
        """Of one step of one sample."""

    @property
    def outputs(self) -> int:
        """Classes, or the width of the values."""

    @property
    def length(self) -> int:
        """Steps of the longest sequence."""

    @property
    def class_names(self) -> list[str]:
        """Names, where there are any."""

    @property
    def has_classes(self) -> bool:
        """Whether targets are classes; else values."""

    def to_svg(self) -> str:
        """One sample as a picture: inputs over time, and below them the targets."""

def make_task(description: str, seed: int) -> Task: ...

def task_types() -> dict[str, str]:
    """{type: what is learned} of all tasks."""

def poisson_spikes(p: pybraintrace.typing.ArrayLike | None, steps: int, seed: int = 0) -> object:
    """Spikes [steps, ...] with probability p in each step."""

def latency_spikes(values: pybraintrace.typing.ArrayLike | None, steps: int) -> object:
    """
    One spike for each value in 0 ... 1, the larger the earlier; none for 0.
    """

def latency_values(spikes: pybraintrace.typing.ArrayLike | None) -> object:
    """The way back from latency_spikes."""

def delta_events(signal: pybraintrace.typing.ArrayLike | None, threshold: float) -> object:
    """
    Events [T, 2, ...] where a signal moves up (0) or down (1) by a threshold.
    """

def delta_signal(events: pybraintrace.typing.ArrayLike | None, first: pybraintrace.typing.ArrayLike | None, threshold: float) -> object:
    """The way back from delta_events, given the first values."""
