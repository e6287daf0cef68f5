# SPDX-License-Identifier: Apache-2.0
"""Spike recordings in HDF5 files, as batches of NumPy arrays. Needs h5py: pip install 'pybraintrace[data]'."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._core import FileError

__all__ = ["SpikeFile"]


class SpikeFile:
    """A file in the layout of Spiking Heidelberg Digits and Spiking Speech Commands.

    `spikes/times` (seconds) and `spikes/units` hold one array per sample, `labels` one number. Spikes are read on demand.

    Args:
        path: the file.
        units: number of units.

    Example:

        train = bt.data.SpikeFile("shd_train.h5")
        xs, labels = train.batch(range(32), steps=100, dt=10.0)       # xs : [100, 32, 700]
    """

    def __init__(self, path: str | os.PathLike[str], units: int = 700) -> None:
        try:
            import h5py
        except ImportError as error:
            raise ImportError("SpikeFile needs h5py: pip install 'pybraintrace[data]'") from error
        self.path, self.units = os.fspath(path), units
        try:
            self._file = h5py.File(self.path, "r")
        except OSError as error:
            raise FileError(f"{self.path}: not a readable HDF5 file: {error}") from error
        missing = [name for name in ("spikes/times", "spikes/units", "labels") if name not in self._file]
        if missing:
            raise FileError(f"{self.path}: expected spikes/times, spikes/units and labels; missing: {', '.join(missing)}")
        self.labels = np.asarray(self._file["labels"][:], np.int32)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Return (times in seconds, units, label) of a sample."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.path}: sample {index} is out of range; the file has {len(self)} samples")
        index %= len(self)
        return self._file["spikes/times"][index], self._file["spikes/units"][index], int(self.labels[index])

    def batch(self, indices: Sequence[int], *, steps: int, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return spike counts and labels of some samples.

        Args:
            indices: the samples.
            steps: number of steps; later spikes are ignored.
            dt: length of a step (ms).

        Returns:
            Spike counts [steps, samples, units] and labels [samples].
        """
        if steps < 1 or not dt > 0:
            raise ValueError(f"batch: expected at least one step and a positive dt in ms, got steps={steps}, dt={dt}")
        xs = np.zeros((steps, len(indices), self.units), np.float32)
        for b, index in enumerate(indices):
            times, units, _ = self[index]
            if len(units) and not 0 <= units.min() <= units.max() < self.units:
                raise ValueError(f"{self.path}: sample {index} has a spike of unit {units.max()}; expected units from 0 to {self.units - 1}")
            step = np.floor(np.asarray(times, np.float64) * 1000 / dt).astype(np.int64)
            inside = (step >= 0) & (step < steps)
            np.add.at(xs, (step[inside], b, np.asarray(units, np.int64)[inside]), 1)
        return xs, self.labels[[i % len(self) for i in indices]]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> SpikeFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
