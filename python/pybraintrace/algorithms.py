# SPDX-License-Identifier: Apache-2.0
"""Learning rules: one class per rule of the library, `compile`, and drivers of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

from . import _core, _modules, tree
from ._core import ETraceConfig, Module, MultiStepData, OnlineLearner, SingleStepData, Tensor

__all__ = ["ETraceConfig", "MultiStepData", "OnlineLearner", "SingleStepData", "compile", "register_rule"]


def _rule(name: str, doc: str, options: list[str]) -> type[OnlineLearner]:
    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(options, args))
        if len(args) > len(options):
            raise TypeError(f"{name}: it takes a model and {options}, got {len(args)} further arguments")
        OnlineLearner.__init__(self, name, model, **given, **kwargs)

    text = f"{doc}\n\nOptions: {', '.join(options + ['vjp_method', 'name', 'check_finite'])}."
    return type(name, (OnlineLearner,), {"__init__": __init__, "__doc__": text, "__module__": __name__, "options": options})


for _name, _aliases, _doc, _options in _core.algorithms():
    globals()[_name] = _rule(_name, _doc, list(_options))
    __all__.append(_name)
    for _alias in _aliases:
        if _alias.isidentifier() and _alias not in globals():
            globals()[_alias] = globals()[_name]
            __all__.append(_alias)


def show_graph(self: OnlineLearner, verbose: bool = True, return_msg: bool = False) -> str | None:
    """Prints groups, weights and the groups they reach; gives the text where `return_msg` is set."""
    text = self.graph_text()
    if verbose:
        print(text)
    return text if return_msg else None


def etrace_grad(self: OnlineLearner, *sequences: Any, step_fn: Callable[..., Any] | None = None, mask: Any = None, chunk_size: Any = None,
                weights: Any = None, reduction: str = "mean", loss_output: str = "per_step", has_aux: bool = False,
                return_value: bool = True, drop_traces: bool = False) -> Any:
    """The gradient over sequences: step_fn(x_t, …) calls the learner once and returns the loss of the step.

    Gives `(grads, losses)`, `(grads, losses, aux)` with `has_aux`, or `grads` alone without `return_value`.
    """
    if step_fn is None:
        raise TypeError("etrace_grad: give step_fn, a function of one step that calls the learner and returns a loss")
    grads, out = self._etrace_grad(step_fn, sequences, mask=mask, chunk_size=chunk_size, weights=weights, reduction=reduction,
                                   loss_output=loss_output, drop_traces=drop_traces)
    if has_aux:
        losses, aux = out
        return (grads, losses, aux) if return_value else (grads, aux)
    return (grads, out) if return_value else grads


def etrace_evolve(self: OnlineLearner, *sequences: Any, return_outputs: bool = True) -> Any:
    """Runs along sequences without gradients; states and traces advance. Gives the outputs stacked."""
    return self._etrace_evolve(sequences, return_outputs)


_compile_graph = OnlineLearner.compile_graph


def compile_graph(self: OnlineLearner, *args: Any, **kwargs: Any) -> OnlineLearner:
    """Finds groups and relations from one example of a step's inputs and makes the traces; gives the learner."""
    _compile_graph(self, *args, **kwargs)
    if not kwargs:  # what a pickled learner is compiled with again
        plain = tuple(a.data if isinstance(a, _core.StepData) else a for a in args)
        self._examples = tree.map(lambda x: _np.zeros(_np.shape(x), _core.ops.asarray(x).dtype), plain)
    _modules.record(self)
    return self


_init = OnlineLearner.__init__


def _learner_init(self: OnlineLearner, algorithm: Any, model: Module, **options: Any) -> None:
    if isinstance(algorithm, str) and algorithm in _registered:
        algorithm = _registered[algorithm]
    _init(self, algorithm, model, **options)
    self._made = algorithm, options


setattr(OnlineLearner, "__init__", _learner_init)
_registered: dict[str, ETraceConfig] = {}


def register_rule(name: str, config: ETraceConfig) -> None:
    """Gives a point in the space of rules a name that `compile` and `OnlineLearner` take.

    >>> import pybraintrace as bt
    >>> bt.register_rule('coupled', bt.ETraceConfig(recurrence_scope='coupled'))
    >>> bt.compile(bt.nn.GRUCell(2, 3), 'coupled', bt.numpy.zeros(2)).is_compiled
    True
    """
    if name in _registered or any(name in (n, *aliases) for n, aliases, *_ in _core.algorithms()):
        raise ValueError(f"register_rule: there is a rule '{name}' already")
    _registered[name] = config


for _method in (compile_graph, show_graph, etrace_grad, etrace_evolve):
    setattr(OnlineLearner, _method.__name__, _method)


def compile(model: Module, algorithm: Any = "D_RTRL", *example_inputs: Any, batch_size: int | None = None, seed: int | None = None,
            vmap: bool = False, verbose: int = 0, **options: Any) -> OnlineLearner:
    """From a model to a learner that is ready to run: states are initialized, the learner is made, the graph is compiled.

    The algorithm is a name, a class, or an ETraceConfig. With `vmap` the model is one of a single sample, and the learner runs
    `batch_size` of them side by side.

    >>> import pybraintrace as bt
    >>> learner = bt.compile(bt.nn.GRUCell(3, 4), 'D_RTRL', bt.numpy.zeros(3))
    >>> learner(bt.numpy.ones(3)).shape
    (4,)
    """
    if not isinstance(model, Module):
        raise TypeError(f"compile: expected an nn.Module, got {model!r}")
    if not example_inputs:
        raise TypeError("compile: give an example of the inputs of one step")
    # Of a window its first step counts.
    examples = [tree.map(lambda x: _core.ops.asarray(x)[0], e.data) if isinstance(e, _core.StepData) and e.is_multi
                else getattr(e, "data", e) if isinstance(e, _core.StepData) else e for e in example_inputs]
    single = [tree.map(lambda x: _core.ops.asarray(x)[0], e) for e in examples] if vmap and batch_size else examples
    _core.prepare_model(model, tree.leaves(single), None if vmap else batch_size, seed)
    if isinstance(algorithm, type):
        learner = algorithm(model, **options)
    else:
        learner = OnlineLearner(algorithm, model, **options)
    _core.compile_learner(learner, *single)
    if not vmap:
        learner._examples = tree.map(lambda x: _np.zeros(_np.shape(x), _core.ops.asarray(x).dtype), tuple(single))
    if vmap:
        learner._map_over(batch_size or len(tree.leaves(examples)[0]))
    if verbose:
        print(learner.report.to_str(verbose))
    return learner
