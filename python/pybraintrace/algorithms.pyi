"""Learning rules: one class per rule of the library, and `compile`."""

from typing import Any
from collections.abc import Callable
from typing import TypeAlias

from pybraintrace import environ as environ, tree as tree
import pybraintrace._core
from pybraintrace._core import (
    ETraceConfig as ETraceConfig,
    Module as Module,
    MultiStepData as MultiStepData,
    SingleStepData as SingleStepData
)
from pybraintrace.rules import LearningRule as LearningRule


__all__: list = ['ETraceConfig', 'MultiStepData', 'OnlineLearner', 'SingleStepData', 'compile', 'D_RTRL', 'ES_D_RTRL', 'pp_prop', 'esd_rtrl', 'EProp', 'e_prop', 'OSTLRecurrent', 'ostl_recurrent', 'OSTLFeedforward', 'ostl_feedforward', 'SnAp', 'UORO', 'ThreeFactor', 'three_factor', 'DNI', 'RTRL', 'BPTT']

class OnlineLearner(pybraintrace._core.OnlineLearner):
    """
    A model with a learning rule. A call runs the model, advances the eligibility traces, and is differentiable.

        Args:
            algorithm: name of a rule, an ETraceConfig, or a LearningRule.
            model: the model, with initialized states.
            options: options of the rule.

        >>> import pybraintrace as bt
        >>> learner = bt.OnlineLearner('D_RTRL', bt.nn.init_all_states(bt.nn.GRUCell(3, 4))).compile_graph(bt.numpy.zeros(3))
        >>> learner.rule
        'D_RTRL'
    """

    def __init__(self, algorithm: str | ETraceConfig | LearningRule, model: Module, **options: Any) -> None: ...

    def compile_graph(self, *args: Any, **kwargs: Any) -> OnlineLearner:
        """
        Compile the model for example inputs of one step: find groups and relations, and create the traces. Return the learner.
        """

    def etrace_grad(self, *sequences: Any, step_fn: Callable[..., Any] | None = None, mask: Any = None, chunk_size: Any = None, weights: Any = None, reduction: str = 'mean', loss_output: str = 'per_step', has_aux: bool = False, return_value: bool = True, drop_traces: bool = False) -> Any:
        """
        Compute the gradient over sequences.

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

    def etrace_evolve(self, *sequences: Any, return_outputs: bool = True) -> Any:
        """
        Run along sequences without gradients; states and traces advance.

                Args:
                    sequences: trees of arrays with a leading time axis.
                    return_outputs: whether to return the outputs, stacked along time.
        """

    def __repr__(self) -> str: ...

    def __reduce__(self) -> Any: ...

class D_RTRL(OnlineLearner):
    """
    One trace per weight; exact for block-diagonal recurrence.

    Options: trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['trace_dtype']

class ES_D_RTRL(OnlineLearner):
    """
    A filtered input times a filtered sensitivity; memory of inputs and outputs only.

    Options: decay_or_rank, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['decay_or_rank']

pp_prop: TypeAlias = ES_D_RTRL

esd_rtrl: TypeAlias = ES_D_RTRL

class EProp(OnlineLearner):
    """
    D_RTRL with a filtered trace and, optionally, random feedback.

    Options: kappa_filter_decay, feedback, trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['kappa_filter_decay', 'feedback', 'trace_dtype']

e_prop: TypeAlias = EProp

class OSTLRecurrent(OnlineLearner):
    """
    D_RTRL with the true diagonal blocks of the whole transition.

    Options: trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['trace_dtype']

ostl_recurrent: TypeAlias = OSTLRecurrent

class OSTLFeedforward(OnlineLearner):
    """
    ES_D_RTRL with immediate decay (1e-6).

    Options: decay_or_rank, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['decay_or_rank']

ostl_feedforward: TypeAlias = OSTLFeedforward

class SnAp(OnlineLearner):
    """
    Traces over all states that a weight reaches within n steps (n = 2).

    Options: n, trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['n', 'trace_dtype']

class UORO(OnlineLearner):
    """
    A random rank-one estimate of the full influence; unbiased inside a group, noisy.

    Options: projection_key, projection_eps, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['projection_key', 'projection_eps']

class ThreeFactor(OnlineLearner):
    """
    D_RTRL traces with a modulator that you provide, such as a reward.

    Options: modulator, trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['modulator', 'trace_dtype']

three_factor: TypeAlias = ThreeFactor

class DNI(OnlineLearner):
    """
    D_RTRL with a learned estimate of the credit after each window.

    Options: trace_dtype, vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = ['trace_dtype']

class RTRL(OnlineLearner):
    """
    The full influence of every weight on every state; exact, for small networks.

    Options: vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = []

class BPTT(OnlineLearner):
    """
    Reverse mode inside each window; nothing passes between windows.

    Options: vjp_method, name, check_finite.
    """

    def __init__(self: OnlineLearner, model: Module, *args: Any, **kwargs: Any) -> None: ...

    options: list = []

def compile(model: Module, algorithm: Any = 'D_RTRL', *example_inputs: Any, batch_size: int | None = None, seed: int | None = None, vmap: bool = False, verbose: int = 0, **options: Any) -> OnlineLearner:
    """
    Compile a model and a learning rule into a learner: initialize the states, create the learner, compile its graph.

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
