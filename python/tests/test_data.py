# SPDX-License-Identifier: Apache-2.0
"""Recordings in HDF5."""
import sys

import h5py
import numpy as np
import pytest

import pybraintrace as bt


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "spikes.h5"
    with h5py.File(path, "w") as f:
        for name, kind, rows in (("times", "f4", [[0.0005, 0.0125, 0.0126], [0.0199, 0.5]]), ("units", "i4", [[0, 2, 2], [1, 0]])):
            data = f.create_dataset(f"spikes/{name}", (2,), dtype=h5py.vlen_dtype(kind))
            for i, row in enumerate(rows):
                data[i] = np.array(row, kind)
        f["labels"] = np.array([3, 7])
    return path


def test_spikes_become_batches(recording):
    with bt.data.SpikeFile(recording, units=3) as spikes:
        times, units, label = spikes[1]
        assert len(spikes) == 2 and label == 7 and units.tolist() == [1, 0] and times[1] == 0.5
        xs, labels = spikes.batch([1, 0, -1], steps=2, dt=10.0)
        assert xs.shape == (2, 3, 3) and xs.dtype == np.float32 and labels.tolist() == [7, 3, 7]
        assert xs[:, 1].tolist() == [[1, 0, 0], [0, 0, 2]] and xs[:, 0].tolist() == xs[:, 2].tolist() == [[0, 0, 0], [0, 1, 0]]


def test_bad_recordings(recording, tmp_path, monkeypatch):
    spikes = bt.data.SpikeFile(recording, units=2)
    for use, error in ((lambda: spikes[2], IndexError), (lambda: spikes.batch([0], steps=2, dt=10.0), ValueError), (lambda: spikes.batch([1], steps=0, dt=10.0), ValueError),
                       (lambda: spikes.batch([1], steps=2, dt=0.0), ValueError), (lambda: bt.data.SpikeFile(tmp_path / "nothing.h5"), bt.FileError)):
        with pytest.raises(error):
            use()
    with h5py.File(tmp_path / "other.h5", "w") as f:
        f["labels"] = np.zeros(2)
    with pytest.raises(bt.FileError, match="missing: spikes/times, spikes/units"):
        bt.data.SpikeFile(tmp_path / "other.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install 'pybraintrace\[data\]'"):
        bt.data.SpikeFile(recording)
