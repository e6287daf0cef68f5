"""C++ extension module of pybraintrace."""

from typing import Any
from collections.abc import Iterator, Mapping, Sequence

import numpy

from pybraintrace import (
    CompilationError as CompilationError,
    DTypeError as DTypeError,
    FileError as FileError,
    InternalError as InternalError,
    OutOfRangeError as OutOfRangeError,
    ShapeError as ShapeError,
    StateError as StateError,
    UnknownNameError as UnknownNameError,
    UserError as UserError
)
from pybraintrace._core import (
    init as init,
    layers as layers,
    losses as losses,
    ops as ops,
    optim as optim,
    spiking as spiking,
    tasks as tasks
)
from pybraintrace._modules import (
    _init_subclass as __init_subclass__,
    _nodes as nodes,
    _rrshift as __rrshift__,
    _rshift as __rshift__,
    _states as states
)
from pybraintrace._pickle import (
    _reduce_config as __reduce__,
    _set_module as __setstate__,
    _text_of_step_data as __repr__
)
from pybraintrace._tensor import (
    _array as __array__,
    _array_function as __array_function__,
    _array_namespace as __array_namespace__,
    _array_ufunc as __array_ufunc__,
    _contains as __contains__,
    _copy as __copy__,
    _deepcopy as __deepcopy__,
    _divmod as __divmod__,
    _dlpack as __dlpack__,
    _dlpack_device as __dlpack_device__,
    _iter as __iter__,
    _rdivmod as __rdivmod__,
    _round as __round__,
    _setitem as __setitem__,
    _str as __str__
)
import pybraintrace.typing


class Tensor:
    """
    An immutable array, or a traced value inside a transform.

    `x.at[i].set(v)` returns an updated copy. `numpy.asarray(x)` returns a read-only view without copying.

    >>> import pybraintrace as bt
    >>> (bt.numpy.ones(2) * 3).tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: pybraintrace.typing.ArrayLike | None) -> None: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the tensor."""

    @property
    def dtype(self) -> numpy.dtype:
        """Element type, as a NumPy dtype."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def nbytes(self) -> int:
        """Total size of the elements in bytes."""

    @property
    def T(self) -> Tensor:
        """The tensor with its axes reversed."""

    @property
    def mT(self) -> Tensor:
        """The matrices in the last two axes, transposed."""

    @property
    def weak_type(self) -> bool:
        """
        Whether the tensor is weakly typed, that is, adopts the dtype of the other operand.
        """

    @property
    def is_traced(self) -> bool:
        """Whether this is a traced value, which has no elements yet."""

    @property
    def at(self) -> Any:
        """Indexed updates: `x.at[key].set(value)` returns an updated copy."""

    def numpy(self) -> Any:
        """Return a read-only NumPy array that shares the memory."""

    def item(self) -> Any:
        """Return the only element as a Python number."""

    def tolist(self) -> Any:
        """Return the elements as nested lists."""

    def __float__(self) -> float: ...

    def __int__(self) -> Any: ...

    def __index__(self) -> Any: ...

    def __bool__(self) -> bool: ...

    def __len__(self) -> int: ...

    def __hash__(self) -> int: ...

    def __add__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __radd__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __sub__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rsub__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __mul__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rmul__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __truediv__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rtruediv__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __floordiv__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rfloordiv__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __mod__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rmod__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __pow__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rpow__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __matmul__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rmatmul__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __and__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rand__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __or__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __ror__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __xor__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __rxor__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __eq__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __ne__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __lt__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __le__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __gt__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __ge__(self, arg: pybraintrace.typing.ArrayLike | None, /) -> Tensor: ...

    def __neg__(self) -> Tensor: ...

    def __pos__(self) -> Tensor: ...

    def __abs__(self) -> Tensor: ...

    def __invert__(self) -> Tensor: ...

    def __getitem__(self, key: object | None) -> Tensor: ...

    def all(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Test whether all elements are true."""

    def any(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Test whether any element is true."""

    def max(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Return the maximum."""

    def mean(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Return the mean."""

    def min(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Return the minimum."""

    def prod(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Return the product of the elements."""

    def sum(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Return the sum of the elements."""

    def var(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
        """Return the variance, with divisor N - ddof."""

    def std(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
        """Return the standard deviation, with divisor N - ddof."""

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Return the index of the first maximum."""

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Return the index of the first minimum."""

    def sort(self, axis: int = -1) -> Tensor:
        """Return a copy sorted along an axis."""

    def argsort(self, axis: int = -1) -> Tensor:
        """Return the indices that sort the tensor along an axis."""

    def cumsum(self, axis: int) -> Tensor:
        """Return the cumulative sum along an axis."""

    def cumprod(self, axis: int) -> Tensor:
        """Return the cumulative product along an axis."""

    def round(self, decimals: int = 0) -> Tensor:
        """Round to a number of decimals; integers stay integers."""

    def clip(self, min: pybraintrace.typing.ArrayLike | None = None, max: pybraintrace.typing.ArrayLike | None = None) -> Tensor:
        """Limit the elements to [min, max]; None leaves a side open."""

    def dot(self, w: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """
        Return the matrix product. `w` gets the gradient of the current step only.
        """

    def take(self, indices: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> Tensor:
        """
        Return the elements at the given indices along an axis. Negative indices count from the end.
        """

    def astype(self, dtype: pybraintrace.typing.DTypeLike | None) -> Tensor:
        """Convert to another dtype."""

    def reshape(self, *args) -> Tensor:
        """Return the elements in a new shape; one size may be -1."""

    def flatten(self) -> Tensor:
        """Return the elements as a vector."""

    def ravel(self) -> Tensor:
        """Return the elements as a vector."""

    def transpose(self, *args) -> Tensor:
        """Permute the axes; without arguments, reverse them."""

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Exchange two axes."""

    def repeat(self, repeats: pybraintrace.typing.ArrayLike, axis: int | None = None) -> Tensor:
        """
        Repeat each element along an axis, all equally often or each a number of times; None flattens first.
        """

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Return a diagonal of the matrices in two axes, as the last axis."""

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Return the sum of a diagonal."""

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """Remove axes of size one: the given ones, or all."""

    def copy(self) -> Tensor:
        """Return a tensor of the same elements, in memory of its own."""

    def block_until_ready(self) -> Tensor:
        """
        Return the tensor itself; results are always ready when they are returned.
        """

class OpCall:
    """
    One use of a trainable operation: the first argument of its trace rules.
    """

    @property
    def key(self) -> str:
        """Name of the weight that the rule is called for."""

    @property
    def shapes(self) -> Any:
        """Shapes of the operands."""

    @property
    def y_shape(self) -> Any:
        """Shape of the result."""

    @property
    def y_ndim(self) -> int:
        """Number of axes of the result."""

class Operation:
    """An operation registered with register_op."""

    @property
    def name(self) -> str:
        """Name of the operation."""

    def __call__(self, *operands) -> Tensor: ...

    def check(self) -> None:
        """
        Check the trace rules against the derivative on random values; an error names the law that fails.
        """

    def __repr__(self) -> str: ...

def register_op(name: str, doc: str, operands: str, meaning: object, weights: object | None, x: int, mixes: bool, coefficient: object | None, spread: object | None, fold: object | None, x_ndim: int | None, samples: object) -> Operation:
    """Register an operation; see pybraintrace.register_op."""

class TreeDef:
    """Structure of a tree, without its leaves."""

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""

    def unflatten(self, leaves: object) -> Any:
        """Return the tree with the given leaves."""

    def __eq__(self, other: object | None) -> bool: ...

    def __repr__(self) -> str: ...

def tree_flatten(tree: object | None, is_leaf: object | None = None) -> tuple:
    """Return the leaves of a tree in order, and its structure."""

def register_node(type: object, flatten: object, unflatten: object) -> None:
    """
    Register a class whose instances are nodes of trees.

    Args:
        type: the class.
        flatten: function from an instance to (children, aux).
        unflatten: function from (aux, children) to an instance.
    """

class State:
    """
    A value that a model keeps between calls: one tensor, or a dict of named tensors.
    """

    @property
    def value(self) -> Any:
        """
        The current value. Inside a transform, reads give traced tensors, and writes take effect when the program runs.
        """

    @value.setter
    def value(self, value: object | None) -> None: ...

    @property
    def place(self) -> str:
        """Path of the state in its model, for messages."""

    @property
    def kind(self) -> str:
        """Kind of the state, such as 'ParamState'."""

    @property
    def initialized(self) -> bool:
        """Whether the state has a value."""

    def init(self, batch_size: int | None = None) -> None:
        """
        Set the initial value.

        Args:
            batch_size: size of the leading batch axis; None for no batch axis.
        """

    def reset(self) -> None:
        """Restore the initial value, with the batch size of the last `init`."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ParamState(State):
    """
    A trainable weight. The operation that reads it determines whether it learns online.

    Args:
        value: an array, a dict of arrays, or a function of the batch size that returns one.
        name: ignored; states are named after the attributes that hold them.
    """

    def __init__(self, value: object, name: object | None = None) -> None: ...

class ShortTermState(State):
    """A value carried from one step to the next."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenState(ShortTermState):
    """A recurrent state, which eligibility traces follow."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenGroupState(HiddenState):
    """Several recurrent states, stacked along the last axis of one tensor."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenTreeState(HiddenGroupState):
    """
    A HiddenGroupState with named slots.

    Args:
        value: the stacked tensor.
        slots: one name for each entry of the last axis.
    """

    def __init__(self, value: pybraintrace.typing.ArrayLike | None, slots: Sequence[str]) -> None: ...

    def slot(self, name: str) -> Tensor:
        """Return one slot of the stacked tensor."""

class LongTermState(State):
    """A value that persists over sequences, such as running statistics."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class RandomState(LongTermState):
    """A seeded stream of random keys."""

    def __init__(self, seed: int = 0) -> None: ...

    def next_key(self) -> Tensor:
        """Return a fresh key and advance the stream."""

    def seed(self, seed: int) -> None:
        """Restart the stream from a seed."""

class Module:
    """
    Base class of models and their parts.

    A subclass keeps children and states as attributes, and defines one step of the computation in `update`.

    >>> import pybraintrace as bt
    >>> class Net(bt.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.rnn = bt.nn.GRUCell(3, 4)
    ...         self.out = bt.nn.Linear(4, 2)
    ...     def update(self, x):
    ...         return self.out(self.rnn(x))
    >>> net = bt.nn.init_all_states(Net())
    >>> net(bt.numpy.zeros(3)).shape
    (2,)
    """

    def __init__(self) -> None: ...

    def __call__(self, *args, **kwargs) -> Any:
        """Run one step."""

    def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str: ...

def init_all_states(model: Module, batch_size: int | None = None) -> None:
    """Initialize all states of a model."""

def reset_all_states(model: Module, batch_size: int | None = None) -> None:
    """Reset all states of a model."""

def is_made(object: object) -> bool:
    """Return whether the constructor of the base class ran."""

def is_updating() -> bool:
    """Return whether the update of a module is running."""

def environ_set(dt: pybraintrace.typing.ArrayLike | None = None, precision: pybraintrace.typing.DTypeLike | None = None, training: bool | None = None) -> None: ...

def environ_enter(dt: pybraintrace.typing.ArrayLike | None = None, precision: pybraintrace.typing.DTypeLike | None = None, training: bool | None = None) -> None: ...

def environ_leave() -> None: ...

def environ_dt() -> float: ...

def environ_precision() -> Any: ...

def environ_training() -> bool: ...

def default_backend() -> str:
    """Return the name of the backend that runs programs."""

def set_default_backend(name: str) -> None:
    """
    Set the backend of the process.

    Args:
        name: 'cpu', 'reference', 'cuda', 'cuda:1', or 'auto' (cuda if a device works).
    """

def backends() -> dict[str, str]:
    """
    Return all backends as {name: problem}.

    The problem says why a backend cannot run programs, or is slower than it should be; it is empty if there is none.
    """

def backend_enter(arg: str, /) -> None: ...

def backend_leave() -> None: ...

def product_precision() -> str:
    """
    Return the precision of float32 matrix products: 'f32', 'tf32' or 'bf16'.
    """

def set_product_precision(name: str) -> None:
    """
    Set the precision of float32 matrix products in programs compiled from now on.

    Args:
        name: 'f32', or 'tf32' or 'bf16' to round the operands, on backends that support it (cuda).
    """

version: str = '0.2.0'

class Jitted:
    """A function that is compiled once per signature."""

    def __call__(self, *args, **kwargs) -> Any: ...

    @property
    def num_traces(self) -> int:
        """Number of times the function was traced."""

    @property
    def __wrapped__(self) -> Any: ...

def make_jitted(f: object, static_argnums: object, static_argnames: Sequence[str]) -> Jitted: ...

def differentiate(where: str, f: object, args: tuple, kwargs: dict, argnums: object, states: object | None) -> Any: ...

def mapped(f: object, args: tuple, kwargs: dict, in_axes: object | None, out_axis: int, size: int | None, states: object | None) -> Any: ...

def scan(f: object, init: object | None, xs: object | None, length: int = -1, reverse: bool = False) -> Any: ...

def for_loop(f: object, xs: tuple, reverse: bool = False) -> Any: ...

def cond(pred: pybraintrace.typing.ArrayLike | None, true_fun: object, false_fun: object, args: tuple) -> Any: ...

def while_loop(cond_fun: object, body_fun: object, init_val: object | None, max_steps: int = 0) -> Any: ...

def custom_vjp(f: object, fwd: object, bwd: object, args: tuple) -> Any: ...

def host_call(f: object, results: object, args: tuple) -> Any: ...

def jvp(f: object, primals: object, tangents: object) -> Any: ...

def vjp(f: object, primals: tuple) -> Any: ...

def jacobian(f: object, args: tuple, argnum: int, forward: bool) -> Any: ...

class CompilationRecord:
    """One decision of the compiler."""

    @property
    def kind(self) -> str:
        """Kind of decision, such as 'relation_included'."""

    @property
    def level(self) -> str:
        """Level: 'info', 'warning' or 'error'."""

    @property
    def message(self) -> str:
        """Reason for the decision."""

    @property
    def primitive(self) -> str:
        """Name of the operation."""

    @property
    def weight_path(self) -> Any:
        """Path of the weight, or None."""

    @property
    def hidden_paths(self) -> Any:
        """Paths of the hidden states."""

    @property
    def context(self) -> dict[str, str]:
        """Additional facts by name."""

    def __repr__(self) -> str: ...

diagnostic_kinds: list = ...

class HiddenGroup:
    """Hidden states that depend on each other position by position."""

    @property
    def index(self) -> int:
        """Index of the group."""

    @property
    def num_state(self) -> int:
        """Number of states per position."""

    @property
    def varshape(self) -> Any:
        """Shape of the positions."""

    @property
    def hidden_paths(self) -> Any:
        """Paths of the states."""

    @property
    def hidden_states(self) -> list:
        """The states."""

    @property
    def state_names(self) -> list[str]:
        """
        Names of the states at one position, in the order of the last axis of the group's arrays.
        """

    @property
    def is_diagonal_recurrence(self) -> bool:
        """Whether the transition treats products as constants."""

    @property
    def diagonal(self) -> bool:
        """Whether the compiler proved that no position reads another."""

    def concat_hidden(self, members: object) -> Tensor:
        """Stack the states along a new last axis."""

    def split_hidden(self, stacked: pybraintrace.typing.ArrayLike | None) -> Any:
        """Inverse of concat_hidden."""

    def diagonal_jacobian(self, hidden_vals: object, const_vals: object) -> Tensor:
        """
        Return the Jacobian block of each position, [*positions, states, states].
        """

    def dict(self) -> Any:
        """Return the fields as a dict."""

    def __eq__(self, other: object | None) -> bool:
        """Return whether it has the same index and the same states."""

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class HiddenParamOpRelation:
    """
    A trainable operation with its weights and the hidden groups that it drives.
    """

    @property
    def weight_path(self) -> Any:
        """Path of the weight."""

    @property
    def path(self) -> Any:
        """Path of the weight."""

    @property
    def primitive(self) -> str:
        """Name of the operation."""

    @property
    def hidden_groups(self) -> list:
        """Hidden groups that the operation drives."""

    @property
    def group_indices(self) -> list[int]:
        """Indices of the hidden groups."""

    @property
    def trainable_paths(self) -> list:
        """Names of the operands that learn."""

    @property
    def path_classification(self) -> list:
        """
        How the operation reaches each group: 'all_direct', 'mixed' or 'windowed'.
        """

    @property
    def carries_trace(self) -> bool:
        """Whether the operation has an eligibility trace."""

    @property
    def through(self) -> Any:
        """
        Paths of weights whose products lie on every path from the operation to a group.
        """

    def dict(self) -> Any:
        """Return the fields as a dict."""

    def __repr__(self) -> str: ...

class HiddenPerturbation:
    """
    The step with a perturbation added to the new value of every hidden state.
    """

    @property
    def hidden_paths(self) -> Any:
        """Paths of the hidden states, in the order of the perturbations."""

    def init_perturb_data(self) -> Any:
        """Return zero perturbations."""

    def eval(self, inputs: object, perturb_data: object) -> Any:
        """Run the perturbed step and return its results."""

    def dict(self) -> Any:
        """Return the fields as a dict."""

class ModuleInfo:
    """One step of a model as a program, and which of its values are states."""

    @property
    def states(self) -> Any:
        """States of the module by path."""

    @property
    def hidden_paths(self) -> list:
        """Paths of the hidden states, in the order in which the step uses them."""

    @property
    def weight_paths(self) -> list:
        """Paths of the weights, one per leaf."""

    @property
    def program(self) -> str:
        """Text form of the step."""

    def jaxpr_call(self, *args) -> Any:
        """
        Run the step; return (output, new hidden states, other new states); several outputs are a tuple.
        """

    def dict(self) -> Any:
        """Return the fields as a dict."""

class ETraceGraph:
    """
    Hidden groups of a model, and the weights that drive them; also a tuple of its fields.
    """

    @property
    def module_info(self) -> ModuleInfo:
        """The step as a program."""

    @property
    def hidden_groups(self) -> Any:
        """The hidden groups."""

    @property
    def hid_path_to_group(self) -> dict:
        """Hidden group of each hidden state, by path."""

    @property
    def hidden_param_op_relations(self) -> Any:
        """Relations of weights, operations and hidden groups."""

    @property
    def hidden_perturb(self) -> Any:
        """The perturbed step, or None."""

    @property
    def diagnostics(self) -> Any:
        """Records of the compiler's decisions."""

    def explain(self, *, weight_path: object | None = None, hidden_path: object | None = None, kind: object | None = None) -> Any:
        """
        Return the compiler's records that match all given filters.

        Args:
            weight_path: path of a weight.
            hidden_path: path of a hidden state.
            kind: kind of record, such as 'relation_included'.
        """

    def call_hidden_perturb(self, args: object, perturb_data: object, old_state_vals: object | None = None) -> Any:
        """
        Run the perturbed step; return (output, new hidden states, other new states); several outputs are a tuple.

        Args:
            args: input of the step, or a list of inputs.
            perturb_data: perturbations, one per hidden state.
            old_state_vals: state values to start from; default: the current ones.
        """

    def dict(self) -> Any:
        """Return the fields as a dict."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: object) -> Any: ...

    def __iter__(self) -> Iterator: ...

    def show(self) -> str:
        """
        Return a text summary: groups, weights, and the groups that they reach.
        """

    def to_json(self) -> str:
        """Return the graph as JSON."""

    def to_html(self) -> str:
        """Return the graph as an interactive page."""

    def to_svg(self) -> str:
        """Return the graph as an SVG picture."""

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""

    def __repr__(self) -> str: ...

def compile_etrace_graph(model: Module, *args, **kwargs) -> ETraceGraph:
    """
    Find the hidden groups of a model and the weights that drive them.

    Args:
        model: a module with initialized states.
        args: example inputs of one step.
        kwargs: example keyword inputs.

    Raises:
        CompilationError: the model cannot learn online as written.
    """

def extract_module_info(model: Module, *args, **kwargs) -> ModuleInfo:
    """Trace one step of a model."""

def find_hidden_groups_from_minfo(minfo: ModuleInfo) -> Any:
    """Return the hidden groups of a traced step."""

def find_hidden_groups_from_module(model: Module, *args, **kwargs) -> Any:
    """Return the hidden groups of a model, given example inputs of one step."""

def find_hidden_param_op_relations_from_module(model: Module, *args, **kwargs) -> Any:
    """
    Return the weight-to-group relations of a model, given example inputs of one step.
    """

def find_hidden_param_op_relations_from_minfo(minfo: ModuleInfo, groups: object) -> Any:
    """Return the weight-to-group relations of a traced step."""

def add_hidden_perturbation_from_minfo(minfo: ModuleInfo) -> HiddenPerturbation:
    """Return the perturbed form of a traced step."""

def add_hidden_perturbation_in_module(model: Module, *args, **kwargs) -> HiddenPerturbation:
    """Return the perturbed form of a model's step, given example inputs."""

class CompilationReport:
    """Report of the compiler's decisions."""

    @property
    def hidden_groups(self) -> list:
        """(index, paths) of each hidden group."""

    @property
    def etrace_weights(self) -> list:
        """(path, key, groups, windowed) of each operand that learns online."""

    @property
    def excluded_weights(self) -> list:
        """(path, reason) of each parameter without an eligibility trace."""

    @property
    def dynamic_states(self) -> Any:
        """Paths of short-term states outside of all groups."""

    @property
    def diagnostics(self) -> Any:
        """Records of all decisions."""

    @property
    def counts(self) -> dict:
        """Number of groups, weights, warnings and errors."""

    def to_str(self, level: int = 1) -> str:
        """Return the report as text; level 2 includes warnings and errors."""

    def __repr__(self) -> str: ...

class ETraceVjpGraphExecutor:
    """A compiled model that returns the Jacobians of a step, for inspection."""

    def __init__(self, model: object) -> None: ...

    def compile_graph(self, *args, **kwargs) -> None:
        """Compile the model for example inputs of one step."""

    def __call__(self, *args, **kwargs) -> Any:
        """Run one step of the model and store its states."""

    def solve_h2w_h2h_jacobian(self, *args, **kwargs) -> Any:
        """
        Run one step from the current states without storing the result.

        Returns:
            A dict with `out`, `hidden_vals` by path, `other_vals`, `xs` (inputs of the trainable operations), `dfs` (D_f by weight and group) and `Ds` (D of each group).
        """

    @property
    def model(self) -> Any:
        """The model."""

    @property
    def graph(self) -> ETraceGraph:
        """Hidden groups and relations that the compiler found."""

    @property
    def is_compiled(self) -> bool:
        """Whether compile_graph was called."""

    def show_graph(self, verbose: bool = True, return_msg: bool = False) -> str | None:
        """
        Print a summary of groups and weights; return the text if `return_msg` is set.
        """

class StepData:
    @property
    def data(self) -> Any:
        """The inputs."""

    @property
    def is_multi(self) -> bool:
        """Whether the inputs have a leading time axis."""

def SingleStepData(value: object) -> StepData:
    """Mark inputs that are the same in every step of a window."""

def MultiStepData(value: object) -> StepData:
    """Mark inputs of several steps along a leading time axis."""

def algorithms() -> list:
    """Return (name, aliases, description, options) of every learning rule."""

def algorithm_name(name: str) -> str:
    """Return the canonical name of a rule."""

def list_of_algorithms() -> str:
    """Return a list of the learning rules as text, one line per rule."""

class ETraceConfig:
    """
    A learning rule as a point in a space of six axes.

    Args:
        axes: axis names and values, such as recurrence_scope='coupled'; the others have their defaults.
    """

    def __init__(self, **axes) -> None: ...

    def describe(self) -> str:
        """Return the axes that differ from the default, as text."""

    def __eq__(self, arg: ETraceConfig, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class OnlineLearner:
    """
    A model with a learning rule. A call runs the model, advances the eligibility traces, and is differentiable.
    """

    def __init__(self, algorithm: object, model: object, **options) -> None: ...

    def compile_graph(self, *args, **kwargs) -> None:
        """
        Compile the model for example inputs of one step: find groups and relations, and create the traces.
        """

    def __call__(self, *args, **kwargs) -> Any:
        """Run one step of the model, or a window of MultiStepData."""

    def update(self, *args, **kwargs) -> Any:
        """Run one step of the model, or a window of MultiStepData."""

    def attach_synthesizer(self, scale: float = 0.0, seed: int = 0) -> None:
        """
        Attach a gradient synthesizer, for the rule DNI.

        Args:
            scale: scale of its initial weights; with 0 its first estimates are zero.
            seed: seed of the weights.
        """

    def set_modulator(self, modulator: pybraintrace.typing.ArrayLike | None) -> None:
        """Set the modulator of a three-factor rule."""

    @property
    def model(self) -> Any:
        """The model."""

    @property
    def module(self) -> Any:
        """The model."""

    @property
    def is_compiled(self) -> bool:
        """Whether compile_graph was called."""

    @property
    def graph(self) -> ETraceGraph:
        """Hidden groups and relations that the compiler found."""

    @property
    def report(self) -> CompilationReport:
        """Report of the compiler's decisions."""

    def show_graph(self, verbose: bool = True, return_msg: bool = False) -> str | None:
        """
        Print a summary of groups and weights; return the text if `return_msg` is set.
        """

    @property
    def name(self) -> str:
        """Name of the learner."""

    @property
    def rule(self) -> str:
        """Name of the learning rule."""

    @property
    def vjp_method(self) -> str:
        """Gradient method: 'single-step' or 'multi-step'."""

    @property
    def running_index(self) -> int:
        """Number of completed calls since the last reset."""

    @property
    def param_states(self) -> Any:
        """Parameters by path."""

    @property
    def hidden_states(self) -> Any:
        """Hidden states by path."""

    @property
    def other_states(self) -> Any:
        """Other states by path."""

    def reset(self) -> None:
        """Start a new sequence: reset the model's states and the traces."""

    def reset_state(self, batch_size: object | None = None, *, path: object | None = None) -> None:
        """
        Set the traces to zero.

        Args:
            batch_size: ignored.
            path: reset only the traces of this parameter.
        """

    def init_etrace_state(self) -> None:
        """Reinitialize the rule's memory."""

    def get_etrace_of(self, weight: object) -> list:
        """
        Return the traces of a parameter, as dicts with kind, relation, group, key and value.

        Args:
            weight: path or state of the parameter.
        """

    def memory(self) -> list:
        """Return the rule's memory as a list of tensors."""

    def set_memory(self, values: object) -> None:
        """Restore what `memory` returned."""

    def memory_states(self) -> Any:
        """Return the states that hold the rule's memory, for checkpoints."""

def prepare_model(model: object, inputs: object, batch_size: int | None = None, seed: int | None = None) -> None:
    """Initialize the states of a model for example inputs."""

def compile_learner(learner: OnlineLearner, *args) -> None:
    """Compile a learner with example inputs of one step."""

class TraceSite:
    """
    A weight and a hidden group that it drives, in one step: the argument of the methods of a LearningRule.
    """

    @property
    def weight_path(self) -> Any:
        """Path of the parameter."""

    @property
    def key(self) -> str:
        """Operand of the operation: 'weight', 'bias', …"""

    @property
    def group(self) -> Any:
        """The hidden group."""

    @property
    def shape(self) -> Any:
        """
        Shape of a trace: the trace axes of the weight, then the states of the group.
        """

    @property
    def weight_shape(self) -> Any:
        """Shape of the weight."""

    @property
    def operands(self) -> list:
        """Operands of the operation in this step."""

    @property
    def D(self) -> Tensor:
        """Transition ∂h_t/∂h_{t-1} per position, [*positions, states, states]."""

    @property
    def D_f(self) -> Tensor:
        """
        Derivative ∂h_t/∂y_t per position by the result y of the operation, [*positions, states].
        """

    @property
    def L(self) -> Tensor:
        """
        Learning signal ∂ℓ_t/∂h_t, [*positions, states]. Available only in `gradient`.
        """

    @property
    def credit_before(self) -> Tensor:
        """
        Dᵀ L + O, the derivative of the step's loss by the states before it. Available only in `gradient`.
        """

    @property
    def instant(self) -> Tensor:
        """D_f ⊗ ∂y_t/∂w, the contribution of the current step to a trace."""

    def propagate(self, trace: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """Return D ε, the trace propagated through the step."""

    def contract(self, credit: pybraintrace.typing.ArrayLike | None, trace: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """
        Return Σ ℓ ∘ ε, the gradient of the weight from a credit of the states and a trace.
        """

def register_rule(name: str, doc: str, rule: object) -> None:
    """Register a learning rule under a name."""

class FidelityReport:
    """Agreement of learning rules with the exact gradient on a model."""

    @property
    def rules(self) -> list:
        """One dict per rule and window."""

    @property
    def parameters(self) -> list[str]:
        """Names of the parameter leaves."""

    def table(self) -> str:
        """Return the report as a text table."""

    def to_json(self) -> str:
        """Return the report as JSON."""

    def to_svg(self) -> str:
        """Return the report as an SVG picture."""

    def __repr__(self) -> str: ...

def fidelity(model: Module, x: pybraintrace.typing.ArrayLike | None, batch_size: int | None = None, *, steps: int = 20, windows: Sequence[int] = [], rules: Sequence[str] = [], seed: int = 1, last_only: bool = False) -> FidelityReport:
    """
    Compare the gradient of every learning rule with BPTT on a random sequence.

    Args:
        model: the model.
        x: example input of one step.
        batch_size: size of the batch axis of `x`; None for no batch axis.
        steps: length of the sequence.
        windows: window lengths to test as well.
        rules: names of rules; default: all.
        seed: seed of the sequence.
        last_only: use only the loss of the last step.

    Returns:
        A FidelityReport.
    """

class GradCheck:
    """Comparison of the gradient of every parameter with reference values."""

    @property
    def passed(self) -> bool:
        """Whether all required checks passed."""

    @property
    def loss(self) -> float:
        """Loss of the sequence."""

    @property
    def rules(self) -> list[str]:
        """Names of the compared learning rules."""

    @property
    def left_out(self) -> list[str]:
        """Rules that cannot run on this model, and the reason."""

    @property
    def parameters(self) -> list:
        """
        One dict per parameter with `finite_differences`, `rtrl` and `rules`, each with `digits` and `words`.
        """

    def to_json(self) -> str:
        """Return the comparison as JSON."""

    def __repr__(self) -> str: ...

def check_grad(model: Module, loss: object, xs: object, *, digits: int = 6, rules: Sequence[str] = ['D_RTRL'], entries: int = 8, seed: int = 1) -> GradCheck:
    """
    Check the gradient of a model in double precision against finite differences, exact RTRL and learning rules.

    The model is not changed.

    Args:
        model: a module with initialized states.
        loss: function (y, t) from the output of step t to its loss.
        xs: a sequence [T, ...], or a tuple with one sequence per input.
        digits: significant digits that must agree.
        rules: learning rules to compare.
        entries: entries of each parameter to check by finite differences.
        seed: seed that selects the entries.

    Returns:
        A GradCheck.

    >>> import pybraintrace as bt
    >>> model = bt.nn.init_all_states(bt.nn.ValinaRNNCell(2, 3, activation='tanh'))
    >>> check = bt.check_grad(model, lambda y, t: (y ** 2).mean(), bt.numpy.ones((4, 2)))
    >>> check.passed
    True
    """

class Advice:
    """Estimated cost of each learning rule on a model."""

    @property
    def reason(self) -> str:
        """Reason for the recommendation."""

    @property
    def recommended(self) -> Any:
        """Name of the recommended rule, or None."""

    def table(self) -> str:
        """Return the estimates as a text table."""

    def to_json(self) -> str:
        """Return the estimates as JSON."""

    def __repr__(self) -> str: ...

def advise(model: Module, x: pybraintrace.typing.ArrayLike | None, batch_size: int = 1, *, length: int = 100, rules: Sequence[str] = []) -> Advice:
    """
    Estimate memory and time of training a model with each rule, without running it.

    Args:
        model: the model.
        x: example input of one step.
        batch_size: samples per batch.
        length: steps per sequence.
        rules: names of rules; default: all.

    Returns:
        An Advice.
    """

def export_c(model: Module, x: pybraintrace.typing.ArrayLike | None, rule: str = 'D_RTRL', *, optimizer: str = 'sgd', lr: float = 0.01, loss: str = 'mse', name: str = 'model') -> dict:
    """
    Export a model with its learning step as C99 source code for a device.

    Args:
        model: the model, with initialized states.
        x: example input of one step.
        rule: name of the learning rule.
        optimizer: name of the optimizer.
        lr: learning rate.
        loss: name of the loss.
        name: prefix of files and functions.

    Returns:
        The files, as {name: text}.
    """

def build_model(description: str) -> Module:
    """Build a model from a JSON description."""

def builtin_models() -> dict[str, str]:
    """Return the built-in models as {name: description}."""

def write_safetensors(path: str, arrays: dict, metadata: Mapping[str, str] = {}) -> None:
    """Write named arrays to a safetensors file."""

def read_safetensors(path: str) -> dict:
    """Read the arrays of a safetensors file by name."""

class Predictions:
    """Predictions, one row per step with a target."""

    @property
    def samples(self) -> Any:
        """Index of the sample of each row."""

    @property
    def steps(self) -> Any:
        """Step of each row within its sample."""

    @property
    def outputs(self) -> Any:
        """Outputs of the network, [rows, n]."""

    @property
    def targets(self) -> Any:
        """Targets: classes [rows], or values [rows, n]."""

    @property
    def classes(self) -> Any:
        """Predicted classes [rows]; empty for values."""

    @property
    def probabilities(self) -> Any:
        """
        Class probabilities [rows, n], the softmax of the outputs; empty for values.
        """

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, if the data have them."""

    def save(self, path: object) -> None:
        """
        Write a file: .npz with one array per property, or .csv with one line per row.
        """

    def __len__(self) -> int: ...

class Trainer:
    """A training run from a configuration."""

    def __init__(self, config: str, replaced: Sequence[str], is_file: bool, together: bool = False) -> None: ...

    @staticmethod
    def of_checkpoint(path: str, data: str | None = None, needs_targets: bool = True) -> Trainer:
        """Create the run of a checkpoint, with its weights."""

    def observe(self, callback: object) -> None:
        """Call `callback(what, step, numbers)` after every step and validation."""

    def run(self) -> str:
        """
        Train to the end; return 'finished', 'early_stop', 'interrupted' or 'not_finite'. Ctrl-C stops between updates.
        """

    def step(self) -> float:
        """Run one update of the weights; return its loss."""

    def validate(self, batches: int = 1, part: str = 'validation') -> tuple:
        """
        Return (loss, accuracy) over batches of a part.

        Args:
            batches: number of batches; 0 for the whole part.
            part: 'train', 'validation' or 'test'.
        """

    def evaluate(self, batches: int, part: str) -> str:
        """Evaluate a part; return the result as JSON."""

    def predict(self, part: str) -> Predictions:
        """Return the predictions for all samples of a part."""

    def save(self, path: str) -> None:
        """Write a checkpoint."""

    def load(self, path: str) -> None:
        """Resume from a checkpoint."""

    @property
    def updates(self) -> int:
        """Number of updates so far."""

    @property
    def total_updates(self) -> int:
        """Number of updates of the whole run."""

    @property
    def goal_reached(self) -> bool:
        """Whether the last validation reached the goal of the configuration."""

    @property
    def config(self) -> str:
        """The configuration as JSON, with defaults filled in."""

class OnlineStream:
    """A model that learns from a stream of records."""

    def __init__(self, model: object, example: pybraintrace.typing.ArrayLike | None, rule: str, rule_options: str, loss: str, optimizer: str, lr: float) -> None: ...

    def learn(self, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> tuple:
        """Predict a record, then learn from it; return (prediction, loss)."""

    def predict(self, x: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """Predict without learning; states and traces advance."""

    def reset(self) -> None:
        """Start a new sequence: reset states and traces, keep the weights."""

    def save(self, path: str, records: int) -> None:
        """Write weights, states, traces and optimizer to a file."""

    def load(self, path: str) -> int:
        """Resume from a file; return the number of records learned from."""

class Fleet:
    """Many small learners that share one compiled program."""

    def __init__(self, model: object, example: pybraintrace.typing.ArrayLike | None, rule: str, rule_options: str, loss: str, optimizer: str, lr: float, most: int, guard: bool) -> None: ...

    def learn(self, ids: Sequence[str] | None, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> tuple:
        """
        Run one step of these members, or of all; return (predictions, losses, undone).
        """

    def predict(self, ids: Sequence[str] | None, x: pybraintrace.typing.ArrayLike | None) -> tuple:
        """Predict without learning; states and traces advance."""

    def reset(self, id: str) -> None:
        """
        Start a new sequence of a member: reset its states and traces, keep its weights.
        """

    def add(self, id: str) -> None:
        """Add a member with the initial weights."""

    def remove(self, id: str) -> None:
        """Remove a member."""

    def records(self, id: str) -> int:
        """Return the number of records a member has learned from."""

    def save(self, path: str) -> None:
        """Write all members to one file."""

    def load(self, path: str) -> None:
        """Replace all members by those of a file."""

    def save_member(self, id: str, path: str) -> None:
        """Write a member to a file for a single stream."""

    def load_member(self, id: str, path: str) -> None:
        """Add or replace a member from the file of a single stream."""

    def __len__(self) -> int: ...

    def __contains__(self, id: str) -> bool: ...

    @property
    def ids(self) -> list[str]:
        """Ids of the members, in order."""

    @property
    def bytes_per_member(self) -> int:
        """Memory of one member in bytes."""

def import_nir(path: str, dt: float | None = None, method: str | None = None, reset: str = 'hard', surrogate: str = 'relu_grad') -> tuple:
    """Read a NIR file; return (description, weights, notes)."""

def export_nir(path: str, description: str, model: Module, input_shape: Sequence[int]) -> None:
    """Write a model as NIR, given its description."""

def read_weights(path: str) -> dict:
    """Read the arrays of a .npz, .safetensors or msgpack file by name."""

def set_weights(model: Module, weights: dict, strict: bool = True) -> dict:
    """Assign arrays to the parameters of the same names; return a report."""

def command(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status."""
