"""
Surrogate gradients of the spike function. Each has a constructor (`ReluGrad`) and a function (`relu_grad`).

>>> from pybraintrace import surrogate
>>> surrogate.ReluGrad(alpha=0.3)
relu_grad(alpha=0.3, width=1)
"""

from typing import Any
from pybraintrace._core.spiking import (
    Surrogate as Surrogate,
    register_surrogate as register_surrogate,
    surrogates as surrogates
)


__all__: list = ['Surrogate', 'register_surrogate', 'surrogates', 'Arctan', 'arctan', 'Erf', 'erf', 'GaussianGrad', 'gaussian_grad', 'InvSquareGrad', 'inv_square_grad', 'LeakyRelu', 'leaky_relu', 'LogTailedRelu', 'log_tailed_relu', 'MultiGaussianGrad', 'multi_gaussian_grad', 'NonzeroSignLog', 'nonzero_sign_log', 'PiecewiseExp', 'piecewise_exp', 'PiecewiseLeakyRelu', 'piecewise_leaky_relu', 'PiecewiseQuadratic', 'piecewise_quadratic', 'QPseudoSpike', 'q_pseudo_spike', 'ReluGrad', 'relu_grad', 'S2NN', 's2nn', 'Sigmoid', 'sigmoid', 'SlayerGrad', 'slayer_grad', 'SoftSign', 'soft_sign', 'SquarewaveFourierSeries', 'squarewave_fourier_series']

def Arctan(*args: float, **kwargs: float) -> Surrogate:
    """α/2 / (1+(παx/2)²); parameters: alpha=1."""

def arctan(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α/2 / (1+(παx/2)²); parameters: alpha=1.
    """

def Erf(*args: float, **kwargs: float) -> Surrogate:
    """α/√π e^(-α²x²); parameters: alpha=1."""

def erf(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α/√π e^(-α²x²); parameters: alpha=1.
    """

def GaussianGrad(*args: float, **kwargs: float) -> Surrogate:
    """α N(x; 0, σ); parameters: sigma=0.5, alpha=0.5."""

def gaussian_grad(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α N(x; 0, σ); parameters: sigma=0.5, alpha=0.5.
    """

def InvSquareGrad(*args: float, **kwargs: float) -> Surrogate:
    """1 / (α|x|+1)²; parameters: alpha=100."""

def inv_square_grad(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: 1 / (α|x|+1)²; parameters: alpha=100.
    """

def LeakyRelu(*args: float, **kwargs: float) -> Surrogate:
    """α if x<0 else β; parameters: alpha=0.1, beta=1."""

def leaky_relu(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α if x<0 else β; parameters: alpha=0.1, beta=1.
    """

def LogTailedRelu(*args: float, **kwargs: float) -> Surrogate:
    """1/x if x>1; 1 if 0<x≤1; α if x≤0; parameters: alpha=0."""

def log_tailed_relu(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: 1/x if x>1; 1 if 0<x≤1; α if x≤0; parameters: alpha=0.
    """

def MultiGaussianGrad(*args: float, **kwargs: float) -> Surrogate:
    """
    scale [(1+h) N(x;0,σ) - h N(x;σ,sσ) - h N(x;-σ,sσ)]; parameters: h=0.15, s=6, sigma=0.5, scale=0.5.
    """

def multi_gaussian_grad(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: scale [(1+h) N(x;0,σ) - h N(x;σ,sσ) - h N(x;-σ,sσ)]; parameters: h=0.15, s=6, sigma=0.5, scale=0.5.
    """

def NonzeroSignLog(*args: float, **kwargs: float) -> Surrogate:
    """1 / (1/α + |x|); parameters: alpha=1."""

def nonzero_sign_log(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: 1 / (1/α + |x|); parameters: alpha=1.
    """

def PiecewiseExp(*args: float, **kwargs: float) -> Surrogate:
    """α/2 e^(-α|x|); parameters: alpha=1."""

def piecewise_exp(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α/2 e^(-α|x|); parameters: alpha=1.
    """

def PiecewiseLeakyRelu(*args: float, **kwargs: float) -> Surrogate:
    """c if |x|>w else 1/(2w); parameters: c=0.01, width=1."""

def piecewise_leaky_relu(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: c if |x|>w else 1/(2w); parameters: c=0.01, width=1.
    """

def PiecewiseQuadratic(*args: float, **kwargs: float) -> Surrogate:
    """α - α²|x| if |x| ≤ 1/α else 0; parameters: alpha=1."""

def piecewise_quadratic(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α - α²|x| if |x| ≤ 1/α else 0; parameters: alpha=1.
    """

def QPseudoSpike(*args: float, **kwargs: float) -> Surrogate:
    """(1 + 2|x|/(α+1))^-α; parameters: alpha=2."""

def q_pseudo_spike(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: (1 + 2|x|/(α+1))^-α; parameters: alpha=2.
    """

def ReluGrad(*args: float, **kwargs: float) -> Surrogate:
    """max(α w - α|x|, 0); parameters: alpha=0.3, width=1."""

def relu_grad(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: max(α w - α|x|, 0); parameters: alpha=0.3, width=1.
    """

def S2NN(*args: float, **kwargs: float) -> Surrogate:
    """
    α q (1-q), q = σ(αx), for x<0; β/(x+1) for x≥0; parameters: alpha=4, beta=1.
    """

def s2nn(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α q (1-q), q = σ(αx), for x<0; β/(x+1) for x≥0; parameters: alpha=4, beta=1.
    """

def Sigmoid(*args: float, **kwargs: float) -> Surrogate:
    """α q (1-q), q = σ(αx); parameters: alpha=4."""

def sigmoid(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α q (1-q), q = σ(αx); parameters: alpha=4.
    """

def SlayerGrad(*args: float, **kwargs: float) -> Surrogate:
    """e^(-α|x|); parameters: alpha=1."""

def slayer_grad(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: e^(-α|x|); parameters: alpha=1.
    """

def SoftSign(*args: float, **kwargs: float) -> Surrogate:
    """α/2 / (1+|αx|)²; parameters: alpha=1."""

def soft_sign(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: α/2 / (1+|αx|)²; parameters: alpha=1.
    """

def SquarewaveFourierSeries(*args: float, **kwargs: float) -> Surrogate:
    """4/T Σ_{i=1..n} cos((2i-1) 2πx/T); parameters: n=2, T=8."""

def squarewave_fourier_series(x: Any, **kwargs: float) -> Any:
    """
    Return 1 where x >= 0, else 0; derivative: 4/T Σ_{i=1..n} cos((2i-1) 2πx/T); parameters: n=2, T=8.
    """

def __getattr__(name: str) -> Any: ...
