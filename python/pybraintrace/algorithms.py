# SPDX-License-Identifier: Apache-2.0
"""Learning rules: one class per rule of the library, and `compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

from . import _core, _modules, environ, tree
from ._core import ETraceConfig, Module, MultiStepData, SingleStepData
from .rules import LearningRule

__all__ = ["ETraceConfig", "MultiStepData", "OnlineLearner", "SingleStepData", "compile"]


class OnlineLearner(_core.OnlineLearner):
    """A model with a learning rule. A call runs the model, advances the eligibility traces, and is differentiable.

    Args:
        algorithm: name of a rule, an ETraceConfig, or a LearningRule.
        model: the model, with initialized states.
        options: options of the rule.

    >>> import pybraintrace as bt
    >>> learner = bt.OnlineLearner('D_RTRL', bt.nn.init_all_states(bt.nn.GRUCell(3, 4))).compile_graph(bt.numpy.zeros(3))
    >>> learner.rule
    'D_RTRL'
    """

    def __init__(self, algorithm: str | ETraceConfig | LearningRule, model: Module, **options: Any) -> None:
        if not isinstance(algorithm, (str, ETraceConfig, LearningRule)):
            raise TypeError(f"OnlineLearner: expected a learning rule (a name, a class, an ETraceConfig or a LearningRule), got {algorithm!r}")
        if not isinstance(model, Module):
            raise TypeError(f"OnlineLearner: expected an nn.Module, got {model!r}")
        super().__init__(algorithm, model, **options)
        self._made, self._examples, self._lanes = (algorithm, options), None, None

    def compile_graph(self, *args: Any, **kwargs: Any) -> OnlineLearner:
        """Compile the model for example inputs of one step: find groups and relations, and create the traces. Return the learner."""
        super().compile_graph(*args, **kwargs)
        if not kwargs:
            self._remember_examples(args)
        _modules.record(self)
        return self

    def _remember_examples(self, args: tuple[Any, ...]) -> None:
        """Keep zeros like the example inputs, to compile a pickled learner again."""
        plain = tuple(a.data if isinstance(a, _core.StepData) else a for a in args)
        self._examples = tree.map(lambda x: _np.zeros(_np.shape(x), _core.ops.asarray(x).dtype), plain)

    def _run_in_lanes(self, count: int) -> None:
        """Run `count` samples side by side from now on."""
        self._map_over(count)
        self._lanes = count

    def etrace_grad(self, *sequences: Any, step_fn: Callable[..., Any] | None = None, mask: Any = None, chunk_size: Any = None,
                    weights: Any = None, reduction: str = "mean", loss_output: str = "per_step", has_aux: bool = False,
                    return_value: bool = True, drop_traces: bool = False) -> Any:
        """Compute the gradient over sequences.

        Args:
            sequences: trees of arrays with a leading time axis.
            step_fn: function of one step's inputs that calls the learner once and returns the loss of the step.
            mask: weight of each step's loss, [T], or [T, ...] with the shape of the losses.
            chunk_size: steps per window, or 'all'; default: all, at most 128; one with `vmap=True`.
            weights: parameters by path; default: all of the model.
            reduction: 'mean' or 'sum' over steps.
            loss_output: 'per_step', 'masked' or 'scalar'.
            has_aux: whether `step_fn` returns (loss, aux).
            return_value: whether to return the losses.
            drop_traces: start from zero traces and keep none; needs one window for the whole call.

        Returns:
            `(grads, losses)`; `(grads, losses, aux)` with `has_aux`; without `return_value`, the same without losses.
        """
        if step_fn is None:
            raise TypeError("etrace_grad: step_fn is missing; pass a function of one step that calls the learner and returns a loss")
        grads, out = self._etrace_grad(step_fn, sequences, mask=mask, chunk_size=chunk_size, weights=weights, reduction=reduction,
                                       loss_output=loss_output, drop_traces=drop_traces)
        if has_aux:
            if not (isinstance(out, tuple) and len(out) == 2):
                raise TypeError("etrace_grad: with has_aux, step_fn must return (loss, aux)")
            losses, aux = out
            return (grads, losses, aux) if return_value else (grads, aux)
        if not isinstance(out, _core.Tensor):
            raise TypeError(f"etrace_grad: step_fn must return a loss, got a {type(out).__name__}; set has_aux=True if it returns (loss, aux)")
        return (grads, out) if return_value else grads

    def etrace_evolve(self, *sequences: Any, return_outputs: bool = True) -> Any:
        """Run along sequences without gradients; states and traces advance.

        Args:
            sequences: trees of arrays with a leading time axis.
            return_outputs: whether to return the outputs, stacked along time.
        """
        return self._etrace_evolve(sequences, return_outputs)

    def __repr__(self) -> str:
        return f"<{self.rule} of {type(self.model).__name__}, {'' if self.is_compiled else 'not '}compiled>"

    def __reduce__(self) -> Any:
        algorithm, options = self._made
        if self.is_compiled and self._examples is None:
            raise TypeError("OnlineLearner: a learner compiled with keyword inputs cannot be pickled or copied")
        memory = [_np.array(m) for m in self.memory()] if self.is_compiled else None
        return _again, (type(self), algorithm, self.model, options, self._examples, memory, self._lanes)


def _again(kind: type[OnlineLearner], algorithm: Any, model: Module, options: dict[str, Any], examples: Any, memory: Any, lanes: int | None) -> OnlineLearner:
    learner = kind.__new__(kind)
    OnlineLearner.__init__(learner, algorithm, model, **options)
    if memory is None:
        return learner
    states = model.states()
    values = states.to_dict_values()
    if lanes is not None:
        _modules.reset_all_states(model)  # the graph is compiled for one sample
    learner.compile_graph(*examples)
    if lanes is not None:
        learner._run_in_lanes(lanes)
        states.assign_values(values)
    with environ.context(precision=64):  # counters are double
        learner.set_memory(memory)
    return learner


def _rule(name: str, doc: str, options: list[str]) -> type[OnlineLearner]:
    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(options, args))
        if len(args) > len(options):
            raise TypeError(f"{name}: expected a model and at most {options}, got {len(args)} further arguments")
        OnlineLearner.__init__(self, name, model, **given, **kwargs)

    text = f"{doc[:1].upper()}{doc[1:]}.\n\nOptions: {', '.join(options + ['vjp_method', 'name', 'check_finite'])}."
    return type(name, (OnlineLearner,), {"__init__": __init__, "__doc__": text, "__module__": __name__, "options": options})


for _name, _aliases, _doc, _options in _core.algorithms():
    globals()[_name] = _rule(_name, _doc, list(_options))
    __all__.append(_name)
    for _alias in _aliases:
        if _alias.isidentifier() and _alias not in globals():
            globals()[_alias] = globals()[_name]
            __all__.append(_alias)


def compile(model: Module, algorithm: Any = "D_RTRL", *example_inputs: Any, batch_size: int | None = None, seed: int | None = None,
            vmap: bool = False, verbose: int = 0, **options: Any) -> OnlineLearner:
    """Compile a model and a learning rule into a learner: initialize the states, create the learner, compile its graph.

    Args:
        model: the model.
        algorithm: name or class of a rule, an ETraceConfig, or a LearningRule.
        example_inputs: example inputs of one step.
        batch_size: size of the leading batch axis of the inputs; None for no batch axis.
        seed: seed of the initial values; None uses the global stream.
        vmap: the model is written for one sample, and the learner runs `batch_size` of them side by side.
        verbose: print a report: 1 for a summary, 2 with warnings and errors.
        options: options of the rule.

    Returns:
        The learner.

    Raises:
        CompilationError: the model cannot learn online as written.

    >>> import pybraintrace as bt
    >>> learner = bt.compile(bt.nn.GRUCell(3, 4), 'D_RTRL', bt.numpy.zeros(3))
    >>> learner(bt.numpy.ones(3)).shape
    (4,)
    """
    if not isinstance(model, Module):
        raise TypeError(f"compile: expected an nn.Module, got {model!r}")
    if not example_inputs:
        raise TypeError("compile: no example inputs; pass the inputs of one step after the algorithm")
    if batch_size is not None and not hasattr(batch_size, "__index__"):
        raise TypeError(f"compile: expected batch_size to be an integer, got {batch_size!r}")
    # The first step of a window is the example.
    examples = [tree.map(lambda x: _core.ops.asarray(x)[0], e.data) if isinstance(e, _core.StepData) and e.is_multi
                else getattr(e, "data", e) if isinstance(e, _core.StepData) else e for e in example_inputs]
    single = [tree.map(lambda x: _core.ops.asarray(x)[0], e) for e in examples] if vmap and batch_size else examples
    _core.prepare_model(model, tree.leaves(single), None if vmap else batch_size, seed)
    if isinstance(algorithm, type) and issubclass(algorithm, OnlineLearner):
        learner = algorithm(model, **options)
    else:
        learner = OnlineLearner(algorithm, model, **options)
    _core.compile_learner(learner, *single)
    learner._remember_examples(tuple(single))
    if vmap:
        learner._run_in_lanes(batch_size or len(tree.leaves(examples)[0]))
    if verbose:
        print(learner.report.to_str(verbose))
    return learner
