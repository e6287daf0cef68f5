# SPDX-License-Identifier: Apache-2.0
"""Reverse mode over a sequence by torch's recurrent layers, which run in cuDNN: the net of `braintrace bench`, a recurrent
layer and a linear readout of 10 under a mean square, with gradients of all weights."""
import statistics
import time

import torch

NAME = f"torch {torch.__version__} (cuDNN), BPTT"
MODELS = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU}
OUTPUTS, CALLS = 10, 20


def usable():
    return torch.cuda.is_available()


class Net(torch.nn.Module):
    def __init__(self, w):
        super().__init__()
        self.cell = MODELS[w["model"]](w["n_in"], w["n"])
        self.out = torch.nn.Linear(w["n"], OUTPUTS)

    def loss(self, x, y):
        hidden, _ = self.cell(x)
        return torch.nn.functional.mse_loss(self.out(hidden), y)


def microseconds_per_step(w):
    """The median over calls, each measured until the device has finished."""
    tf32 = w["precision"] == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    dtype = torch.bfloat16 if w["precision"] == "bf16" else torch.float32
    torch.manual_seed(1)
    net = Net(w).to("cuda", dtype)
    x = torch.randn(w["T"], w["B"], w["n_in"], device="cuda", dtype=dtype)
    y = torch.randn(w["T"], w["B"], OUTPUTS, device="cuda", dtype=dtype)
    times = []
    for call in range(CALLS + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        net.zero_grad(set_to_none=True)
        net.loss(x, y).backward()
        torch.cuda.synchronize()
        if call >= 3:
            times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times) / w["T"]
