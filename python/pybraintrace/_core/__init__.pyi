"""The C++ library behind pybraintrace."""

from collections.abc import Mapping, Sequence

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
    _set_module as __setstate__
)
from pybraintrace._tensor import (
    _array as __array__,
    _array_function as __array_function__,
    _array_namespace as __array_namespace__,
    _array_ufunc as __array_ufunc__,
    _copy as __copy__,
    _deepcopy as __deepcopy__,
    _dlpack as __dlpack__,
    _dlpack_device as __dlpack_device__,
    _iter as __iter__,
    _repr as __repr__,
    _str as __str__
)
import pybraintrace.typing


class Tensor:
    """
    An array, or a value of a function that is being traced.

    Tensors never change: `x.at[i].set(v)` gives a new one. `numpy.asarray(x)` shares the memory, read-only.

    >>> import pybraintrace as bt
    >>> (bt.numpy.ones(2) * 3).tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: pybraintrace.typing.ArrayLike | None) -> None: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""

    @property
    def dtype(self) -> numpy.dtype:
        """Element type, as NumPy names it."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def T(self) -> Tensor:
        """Axes reversed."""

    @property
    def weak_type(self) -> bool:
        """Made of bare numbers: it takes the type of what it meets."""

    @property
    def is_traced(self) -> bool:
        """A value of a function that is being traced: it has no elements yet."""

    @property
    def at(self) -> object:
        """Places to set: x.at[key].set(value) gives a new tensor."""

    def numpy(self) -> object:
        """The elements as a read-only NumPy array that shares the memory."""

    def item(self) -> object:
        """The single element as a Python number."""

    def tolist(self) -> object:
        """The elements as nested lists."""

    def __float__(self) -> float: ...

    def __int__(self) -> object: ...

    def __index__(self) -> object: ...

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
        """Whether all elements hold."""

    def any(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """Whether any element holds."""

    def max(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """The largest element."""

    def mean(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """The mean."""

    def min(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element."""

    def prod(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """The product."""

    def sum(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False) -> Tensor:
        """The sum."""

    def var(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
        """Mean squared distance from the mean."""

    def std(self, axis: int | Sequence[int] | None | None = None, keepdims: bool = False, ddof: float = 0.0) -> Tensor:
        """Root of the mean squared distance from the mean."""

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Position of the first largest element."""

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Position of the first smallest element."""

    def sort(self, axis: int = -1) -> Tensor:
        """Sorted along an axis."""

    def argsort(self, axis: int = -1) -> Tensor:
        """Positions that sort it."""

    def cumsum(self, axis: int) -> Tensor:
        """Running sum."""

    def cumprod(self, axis: int) -> Tensor:
        """Running product."""

    def round(self) -> Tensor:
        """To the nearest whole number."""

    def clip(self, min: pybraintrace.typing.ArrayLike | None = None, max: pybraintrace.typing.ArrayLike | None = None) -> Tensor:
        """Limited to [min, max]."""

    def dot(self, w: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """The plain product."""

    def take(self, indices: pybraintrace.typing.ArrayLike | None, axis: int = 0) -> Tensor:
        """Rows at these positions."""

    def astype(self, dtype: pybraintrace.typing.DTypeLike | None) -> Tensor:
        """Converted to another element type."""

    def reshape(self, *args) -> Tensor:
        """The same elements in another shape; one size may be -1."""

    def flatten(self) -> Tensor:
        """One axis."""

    def ravel(self) -> Tensor:
        """One axis."""

    def transpose(self, *args) -> Tensor:
        """Axes in another order."""

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """Without axes of size one."""

    def copy(self) -> Tensor:
        """The tensor itself: it never changes."""

    def block_until_ready(self) -> Tensor:
        """The tensor itself: results are ready when they are returned."""

class OpCall:
    """
    One use of a trainable operation, as the rules of its eligibility trace see it.
    """

    @property
    def key(self) -> str:
        """The weight that the rule is asked for."""

    @property
    def shapes(self) -> object:
        """The shapes of the operands."""

    @property
    def y_shape(self) -> object:
        """The shape of the result."""

    @property
    def y_ndim(self) -> int:
        """Its number of axes."""

class Operation:
    """An operation that was registered with register_op."""

    @property
    def name(self) -> str:
        """Its name, also in reports."""

    def __call__(self, *operands) -> Tensor: ...

    def check(self) -> None:
        """
        Measures its rules against its derivative on random values; an error names the law that is broken.
        """

    def __repr__(self) -> str: ...

def register_op(name: str, doc: str, operands: str, meaning: object, weights: object | None, x: int, mixes: bool, coefficient: object | None, spread: object | None, fold: object | None, x_ndim: int | None, samples: object) -> Operation: ...

class TreeDef:
    """The structure of a tree without its leaves."""

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""

    def unflatten(self, leaves: object) -> object:
        """The tree with these leaves."""

    def __eq__(self, other: object | None) -> bool: ...

    def __repr__(self) -> str: ...

def tree_flatten(tree: object | None) -> tuple:
    """The leaves of a tree in order, and its structure."""

def register_node(type: object, flatten: object, unflatten: object) -> None:
    """Instances of a class become nodes of trees."""

class State:
    """
    A value that a model keeps between calls: one tensor, or a dict of named ones.
    """

    @property
    def value(self) -> object:
        """
        The value. Inside a transform it is traced, and what is written becomes the value when the program runs.
        """

    @value.setter
    def value(self, value: object | None) -> None: ...

    @property
    def place(self) -> str:
        """Where the state is in its model."""

    @property
    def kind(self) -> str:
        """The kind of the state."""

    @property
    def initialized(self) -> bool:
        """Whether it has a value."""

    def init(self, batch_size: int | None = None) -> None:
        """Makes the first value anew."""

    def reset(self) -> None:
        """The first value again, with the batch size of the last init."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class ParamState(State):
    """
    A trainable weight. The operation that reads it decides whether it learns online.
    """

    def __init__(self, value: object, name: object | None = None) -> None: ...

class ShortTermState(State):
    """A value carried from step to step."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenState(ShortTermState):
    """A recurrent state: eligibility traces follow it."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenGroupState(HiddenState):
    """Several recurrent states on the last axis of one tensor."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class HiddenTreeState(HiddenGroupState):
    """A HiddenGroupState whose slots have names."""

    def __init__(self, value: pybraintrace.typing.ArrayLike | None, slots: Sequence[str]) -> None: ...

    def slot(self, name: str) -> Tensor:
        """One slot of the stacked tensor."""

class LongTermState(State):
    """A value kept for the life of the model."""

    def __init__(self, value: object, name: object | None = None) -> None: ...

class RandomState(LongTermState):
    """A stream of random keys."""

    def __init__(self, seed: int = 0) -> None: ...

    def next_key(self) -> Tensor:
        """A fresh key."""

    def seed(self, seed: int) -> None:
        """Starts anew."""

class Module:
    """
    A model or a part of one. Derive from it, keep children and states as attributes, and write one step of the computation in `update`.

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

    def __call__(self, *args, **kwargs) -> object:
        """One step."""

    def __getattr__(self, name: str) -> object: ...

    def __repr__(self) -> str: ...

def init_all_states(model: Module, batch_size: int | None = None) -> None: ...

def reset_all_states(model: Module, batch_size: int | None = None) -> None: ...

def is_made(object: object) -> bool:
    """Whether the constructor of the base class ran."""

def is_updating() -> bool:
    """Whether the update of some module runs."""

def environ_set(dt: pybraintrace.typing.ArrayLike | None = None, precision: pybraintrace.typing.DTypeLike | None = None, training: bool | None = None) -> None: ...

def environ_enter(dt: pybraintrace.typing.ArrayLike | None = None, precision: pybraintrace.typing.DTypeLike | None = None, training: bool | None = None) -> None: ...

def environ_leave() -> None: ...

def environ_dt() -> float: ...

def environ_precision() -> object: ...

def environ_training() -> bool: ...

def default_backend() -> str:
    """The name of the backend that runs programs."""

def set_default_backend(name: str) -> None:
    """
    The backend for the whole process: 'cpu', 'reference', 'cuda', 'cuda:1', or 'auto' (cuda where a device works).
    """

def backends() -> dict[str, str]:
    """
    {name: why it cannot run programs, or not as fast as it should; empty where it can} of every backend.
    """

def backend_enter(arg: str, /) -> None: ...

def backend_leave() -> None: ...

def product_precision() -> str:
    """
    What matrix products of float32 round their operands to: 'f32' (not at all), 'tf32' or 'bf16'.
    """

def set_product_precision(name: str) -> None:
    """
    The same for programs that are compiled from now on, on backends that have a choice (cuda).
    """

version: str = '0.2.0'

class Jitted:
    """A function that is compiled once per signature."""

    def __call__(self, *args, **kwargs) -> object: ...

    @property
    def num_traces(self) -> int:
        """How often the function was traced."""

    @property
    def __wrapped__(self) -> object: ...

def make_jitted(f: object, static_argnums: object, static_argnames: Sequence[str]) -> Jitted: ...

def differentiate(where: str, f: object, args: tuple, kwargs: dict, argnums: object, states: object | None) -> object: ...

def mapped(f: object, args: tuple, kwargs: dict, in_axes: object | None, out_axis: int, size: int | None, states: object | None) -> object: ...

def scan(f: object, init: object | None, xs: object | None, length: int = -1, reverse: bool = False) -> object: ...

def for_loop(f: object, xs: tuple, reverse: bool = False) -> object: ...

def cond(pred: pybraintrace.typing.ArrayLike | None, true_fun: object, false_fun: object, args: tuple) -> object: ...

def while_loop(cond_fun: object, body_fun: object, init_val: object | None, max_steps: int = 0) -> object: ...

def custom_vjp(f: object, fwd: object, bwd: object, args: tuple) -> object: ...

def host_call(f: object, results: object, args: tuple) -> object: ...

def jvp(f: object, primals: object, tangents: object) -> object: ...

def vjp(f: object, primals: tuple) -> object: ...

def jacobian(f: object, args: tuple, argnum: int, forward: bool) -> object: ...

class CompilationRecord:
    """A decision of the compiler: kind, level, what it concerns and why."""

    @property
    def kind(self) -> str:
        """Such as 'relation_included'."""

    @property
    def level(self) -> str:
        """'info', 'warning' or 'error'."""

    @property
    def message(self) -> str:
        """Why."""

    @property
    def primitive(self) -> str:
        """The operation."""

    @property
    def weight_path(self) -> object:
        """The weight."""

    @property
    def hidden_paths(self) -> object:
        """Hidden states."""

    @property
    def context(self) -> dict[str, str]:
        """Further facts."""

    def __repr__(self) -> str: ...

diagnostic_kinds: list = ...

class HiddenGroup:
    """Hidden states that feed each other position by position."""

    @property
    def index(self) -> int:
        """Its number."""

    @property
    def num_state(self) -> int:
        """States per position."""

    @property
    def varshape(self) -> object:
        """Positions."""

    @property
    def hidden_paths(self) -> object:
        """Paths of its states."""

    @property
    def hidden_states(self) -> list:
        """Its states."""

    @property
    def state_names(self) -> list[str]:
        """
        The states at one position, in the order of the last axis of its arrays.
        """

    @property
    def is_diagonal_recurrence(self) -> bool:
        """Products are held constant in the transition."""

    @property
    def diagonal(self) -> bool:
        """Proven: no position reads another."""

    def concat_hidden(self, members: object) -> Tensor:
        """Members side by side on a last axis."""

    def split_hidden(self, stacked: pybraintrace.typing.ArrayLike | None) -> object:
        """And back."""

    def diagonal_jacobian(self, hidden_vals: object, const_vals: object) -> Tensor:
        """Blocks of each position."""

    def dict(self) -> object:
        """Its fields."""

    def __repr__(self) -> str: ...

class HiddenParamOpRelation:
    """A trainable operation, its weights and the groups it feeds."""

    @property
    def weight_path(self) -> object:
        """The weight."""

    @property
    def path(self) -> object:
        """The weight."""

    @property
    def primitive(self) -> str:
        """The operation."""

    @property
    def hidden_groups(self) -> list:
        """The groups it feeds."""

    @property
    def group_indices(self) -> list[int]:
        """Their numbers."""

    @property
    def trainable_paths(self) -> list:
        """Operands that learn."""

    @property
    def path_classification(self) -> list:
        """How it reaches each group: all_direct, mixed or windowed."""

    @property
    def carries_trace(self) -> bool:
        """Whether a trace follows it."""

    @property
    def through(self) -> object:
        """Weights of products that stand before every way to a group."""

    def dict(self) -> object:
        """Its fields."""

    def __repr__(self) -> str: ...

class HiddenPerturbation:
    """The step with something added to the new value of every hidden state."""

    @property
    def hidden_paths(self) -> object:
        """The states, in the order of perturbations."""

    def init_perturb_data(self) -> object:
        """Zeros."""

    def eval(self, inputs: object, perturb_data: object) -> object:
        """Results of the perturbed step."""

    def dict(self) -> object:
        """Its fields."""

class ModuleInfo:
    """
    One step of the model as a program, and which of its values are states.
    """

    @property
    def states(self) -> object:
        """States below the module by path."""

    @property
    def hidden_paths(self) -> list:
        """Hidden states, in the order the step touches them."""

    @property
    def weight_paths(self) -> list:
        """Weights, one per leaf."""

    @property
    def program(self) -> str:
        """The step as text."""

    def jaxpr_call(self, *args) -> object:
        """Runs the step: (outputs, new hidden states, other new states)."""

    def dict(self) -> object:
        """Its fields."""

class ETraceGraph:
    """Hidden groups of a model, and the weights that drive them."""

    @property
    def module_info(self) -> ModuleInfo:
        """The step."""

    @property
    def hidden_groups(self) -> object:
        """Its groups."""

    @property
    def hid_path_to_group(self) -> dict:
        """The group of each hidden state."""

    @property
    def hidden_param_op_relations(self) -> object:
        """Weight, operation, hidden groups."""

    @property
    def hidden_perturb(self) -> object:
        """The perturbed step, or None."""

    @property
    def diagnostics(self) -> object:
        """What the compiler decided."""

    def explain(self, *, weight_path: object | None = None, hidden_path: object | None = None, kind: object | None = None) -> object:
        """Records that pass all given filters."""

    def call_hidden_perturb(self, args: object, perturb_data: object, old_state_vals: object | None = None) -> object:
        """
        The step with perturbations: (outputs, new hidden states, other new states).
        """

    def dict(self) -> object:
        """Its fields."""

    def show(self) -> str:
        """Groups, weights and the groups they reach, as text."""

    def to_json(self) -> str:
        """All of it as JSON."""

    def to_html(self) -> str:
        """A page to click through."""

    def to_svg(self) -> str:
        """A picture."""

    def to_dot(self) -> str:
        """For Graphviz."""

    def __repr__(self) -> str: ...

def compile_etrace_graph(model: Module, *args, **kwargs) -> ETraceGraph:
    """
    Finds hidden groups and the weights that drive them, from one example of a step's inputs.
    """

def extract_module_info(model: Module, *args, **kwargs) -> ModuleInfo:
    """Traces one step."""

def find_hidden_groups_from_minfo(minfo: ModuleInfo) -> object:
    """The hidden groups of a traced step."""

def find_hidden_groups_from_module(model: Module, *args, **kwargs) -> object:
    """The hidden groups of a model."""

def find_hidden_param_op_relations_from_module(model: Module, *args, **kwargs) -> object:
    """The relations of a model."""

def find_hidden_param_op_relations_from_minfo(minfo: ModuleInfo, groups: object) -> object:
    """The relations of a traced step."""

def add_hidden_perturbation_from_minfo(minfo: ModuleInfo) -> HiddenPerturbation:
    """The perturbed step."""

def add_hidden_perturbation_in_module(model: Module, *args, **kwargs) -> HiddenPerturbation:
    """The perturbed step of a model."""

class CompilationReport:
    """What the compiler decided, as lists and as text."""

    @property
    def hidden_groups(self) -> list:
        """(number, paths) of each group."""

    @property
    def etrace_weights(self) -> list:
        """(path, key, groups, windowed) of each operand that learns."""

    @property
    def excluded_weights(self) -> list:
        """(path, why) of parameters of no relation."""

    @property
    def dynamic_states(self) -> object:
        """Short-term states of no group."""

    @property
    def diagnostics(self) -> object:
        """All decisions."""

    @property
    def counts(self) -> dict:
        """How many of each."""

    def to_str(self, level: int = 1) -> str:
        """As text; level 2 has warnings and errors as well."""

    def __repr__(self) -> str: ...

class ETraceVjpGraphExecutor:
    """
    A compiled model, and the Jacobians of one step of it as values: for looking at them.
    """

    def __init__(self, model: object) -> None: ...

    def compile_graph(self, *args, **kwargs) -> None:
        """Finds groups and relations from one example of a step's inputs."""

    def __call__(self, *args, **kwargs) -> object:
        """One step of the model; states are stored."""

    def solve_h2w_h2h_jacobian(self, *args, **kwargs) -> object:
        """
        One step from the present states, which stay as they are: a dict of `out`, `hidden_vals` by path, `other_vals`, `xs` (what each trainable operation reads), `dfs` (D_f by weight and group) and `Ds` (D of each group).
        """

    @property
    def model(self) -> object:
        """The model."""

    @property
    def graph(self) -> ETraceGraph:
        """What the compiler found."""

    @property
    def is_compiled(self) -> bool:
        """Whether compile_graph was called."""

    def show_graph(self, verbose: bool = True, return_msg: bool = False) -> str | None:
        """
        Prints groups, weights and the groups they reach; gives the text where `return_msg` is set.
        """

class StepData:
    @property
    def data(self) -> object:
        """The inputs."""

    @property
    def is_multi(self) -> bool:
        """Whether there is a time axis."""

def SingleStepData(value: object) -> StepData:
    """Inputs that are the same in every step of a window."""

def MultiStepData(value: object) -> StepData:
    """Inputs of several steps along a leading time axis."""

def algorithms() -> list:
    """(name, other names, what it is, options) of every rule."""

def algorithm_name(name: str) -> str:
    """The name of a rule from any spelling."""

def list_of_algorithms() -> str:
    """One line per rule."""

class ETraceConfig:
    """A learning rule as a point in a space of six axes."""

    def __init__(self, **axes) -> None: ...

    def describe(self) -> str:
        """What differs from the default."""

    def __eq__(self, arg: ETraceConfig, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class OnlineLearner:
    """
    A model with a learning rule: calling it runs the model, advances the eligibility traces, and is differentiable.
    """

    def __init__(self, algorithm: object, model: object, **options) -> None: ...

    def compile_graph(self, *args, **kwargs) -> None:
        """
        Finds groups and relations from one example of a step's inputs and makes the traces.
        """

    def __call__(self, *args, **kwargs) -> object:
        """One step of the model, or a window of MultiStepData."""

    def update(self, *args, **kwargs) -> object:
        """One step of the model, or a window of MultiStepData."""

    def attach_synthesizer(self, scale: float = 0.0, seed: int = 0) -> None:
        """
        Gives DNI a synthesizer of gradients; with scale 0 it estimates nothing at first.
        """

    def set_modulator(self, modulator: pybraintrace.typing.ArrayLike | None) -> None:
        """The modulator of a three-factor rule from now on."""

    @property
    def model(self) -> object:
        """The model."""

    @property
    def module(self) -> object:
        """The model."""

    @property
    def is_compiled(self) -> bool:
        """Whether compile_graph was called."""

    @property
    def graph(self) -> ETraceGraph:
        """What the compiler found."""

    @property
    def report(self) -> CompilationReport:
        """What the compiler decided."""

    def show_graph(self, verbose: bool = True, return_msg: bool = False) -> str | None:
        """
        Prints groups, weights and the groups they reach; gives the text where `return_msg` is set.
        """

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def rule(self) -> str:
        """The name of its rule."""

    @property
    def vjp_method(self) -> str:
        """'single-step' or 'multi-step'."""

    @property
    def running_index(self) -> int:
        """Completed calls since the last reset."""

    @property
    def param_states(self) -> object:
        """Parameters by path."""

    @property
    def hidden_states(self) -> object:
        """Hidden states by path."""

    @property
    def other_states(self) -> object:
        """Other states by path."""

    def reset(self) -> None:
        """
        Before a new sequence: the model's states start again, and so do the traces.
        """

    def reset_state(self, batch_size: object | None = None, *, path: object | None = None) -> None:
        """Zero traces; those of one parameter where its path is given."""

    def init_etrace_state(self) -> None:
        """Makes all that is remembered anew."""

    def get_etrace_of(self, weight: object) -> list:
        """
        What the rule remembers for a parameter, named by its path or given as its state.
        """

    def memory(self) -> list:
        """All that the rule remembers."""

    def set_memory(self, values: object) -> None:
        """Writes what `memory` gave."""

    def memory_states(self) -> object:
        """The states that hold the memory, for checkpoints."""

def prepare_model(model: object, inputs: object, batch_size: int | None = None, seed: int | None = None) -> None: ...

def compile_learner(learner: OnlineLearner, *args) -> None: ...

class TraceSite:
    """
    A weight and a hidden group it is traced to, in one step: what the methods of a LearningRule are given.
    """

    @property
    def weight_path(self) -> object:
        """The path of the parameter."""

    @property
    def key(self) -> str:
        """Which operand of the operation it is: 'weight', 'bias', …"""

    @property
    def group(self) -> object:
        """The hidden group."""

    @property
    def shape(self) -> object:
        """
        The shape of a trace: the trace axes of the weight, then the states of the group.
        """

    @property
    def weight_shape(self) -> object:
        """The shape of the weight."""

    @property
    def operands(self) -> list:
        """What the operation reads in this step."""

    @property
    def D(self) -> Tensor:
        """∂h_t/∂h_{t-1} per position: [*positions, states, states]."""

    @property
    def D_f(self) -> Tensor:
        """
        ∂h_t/∂y_t per position, y the result of the operation: [*positions, states].
        """

    @property
    def L(self) -> Tensor:
        """
        The learning signal ∂ℓ_t/∂h_t: [*positions, states]. In `gradient` alone.
        """

    @property
    def credit_before(self) -> Tensor:
        """
        Dᵀ L + O, what the loss of the step says about the states before it. In `gradient` alone.
        """

    @property
    def instant(self) -> Tensor:
        """D_f ⊗ ∂y_t/∂w, what the step adds to a trace."""

    def propagate(self, trace: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """D ε, a trace moved through the step."""

    def contract(self, credit: pybraintrace.typing.ArrayLike | None, trace: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """
        Σ ℓ ∘ ε: a credit of the states and a trace, to a gradient of the weight.
        """

def register_rule(name: str, doc: str, rule: object) -> None: ...

class FidelityReport:
    """How close learning rules come to the exact gradient on a model."""

    @property
    def rules(self) -> list:
        """One dict per rule and window."""

    @property
    def parameters(self) -> list[str]:
        """Leaves of parameters."""

    def table(self) -> str:
        """As text."""

    def to_json(self) -> str:
        """As JSON."""

    def to_svg(self) -> str:
        """As a picture."""

    def __repr__(self) -> str: ...

def fidelity(model: Module, x: pybraintrace.typing.ArrayLike | None, batch_size: int | None = None, *, steps: int = 20, windows: Sequence[int] = [], rules: Sequence[str] = [], seed: int = 1, last_only: bool = False) -> FidelityReport:
    """
    Every rule over the same random sequence, its gradient beside that of BPTT. `x` is an example of a step's input.
    """

class GradCheck:
    """The gradient of every parameter beside what it must equal."""

    @property
    def passed(self) -> bool:
        """No check that must hold fails."""

    @property
    def loss(self) -> float:
        """The loss of the sequence."""

    @property
    def rules(self) -> list[str]:
        """Learning rules that are shown beside the exact gradient."""

    @property
    def left_out(self) -> list[str]:
        """Rules that cannot run on this model, and why."""

    @property
    def parameters(self) -> list:
        """
        One dict per parameter: `finite_differences`, `rtrl` and `rules`, each with `digits` and `words`.
        """

    def to_json(self) -> str:
        """As JSON."""

    def __repr__(self) -> str: ...

def check_grad(model: Module, loss: object, xs: object, *, digits: int = 6, rules: Sequence[str] = ['D_RTRL'], entries: int = 8, seed: int = 1) -> GradCheck:
    """
    Is the gradient of my model right? In double precision beside finite differences, exact RTRL and learning rules.

    `loss(y, t)` is the loss of step t; `xs` is a sequence [T, ...], or a tuple of them, one for each input. The model stays as it is.

    >>> import pybraintrace as bt
    >>> model = bt.nn.init_all_states(bt.nn.ValinaRNNCell(2, 3, activation='tanh'))
    >>> check = bt.check_grad(model, lambda y, t: (y ** 2).mean(), bt.numpy.ones((4, 2)))
    >>> check.passed
    True
    """

class Advice:
    """What each rule would cost on a model."""

    @property
    def reason(self) -> str:
        """Why the recommended one."""

    @property
    def recommended(self) -> object:
        """The rule to start with."""

    def table(self) -> str:
        """As text."""

    def to_json(self) -> str:
        """As JSON."""

    def __repr__(self) -> str: ...

def advise(model: Module, x: pybraintrace.typing.ArrayLike | None, batch_size: int = 1, *, length: int = 100, rules: Sequence[str] = []) -> Advice:
    """
    Memory and time of training a model under each rule, found without running it.
    """

def export_c(model: Module, x: pybraintrace.typing.ArrayLike | None, rule: str = 'D_RTRL', *, optimizer: str = 'sgd', lr: float = 0.01, loss: str = 'mse', name: str = 'model') -> dict:
    """A network that keeps learning as C99 for a device: {file: text}."""

def build_model(description: str) -> Module:
    """A model from a description in JSON."""

def builtin_models() -> dict[str, str]:
    """{name: description} of the models that come with the library."""

def write_safetensors(path: str, arrays: dict, metadata: Mapping[str, str] = {}) -> None:
    """Writes named arrays."""

def read_safetensors(path: str) -> dict:
    """Reads named arrays."""

class Predictions:
    """Answers to samples, one row for each step that is asked for."""

    @property
    def samples(self) -> object:
        """The sample of each row, in the order of the part."""

    @property
    def steps(self) -> object:
        """Its step inside the sample."""

    @property
    def outputs(self) -> object:
        """What the network gives, [rows, n]."""

    @property
    def targets(self) -> object:
        """What the data say: classes [rows], or values [rows, n]."""

    @property
    def classes(self) -> object:
        """The largest output; empty for values."""

    @property
    def probabilities(self) -> object:
        """Softmax of the outputs; empty for values."""

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, where the data have them."""

    def save(self, path: object) -> None:
        """As .npz, arrays by the names above; or as .csv, a line for each row."""

    def __len__(self) -> int: ...

class Trainer:
    """A training run from a configuration: a dict, JSON text, or a file."""

    def __init__(self, config: str, replaced: Sequence[str], is_file: bool, together: bool = False) -> None: ...

    @staticmethod
    def of_checkpoint(path: str, data: str | None = None, needs_targets: bool = True) -> Trainer:
        """The run of a checkpoint, with its weights."""

    def observe(self, callback: object) -> None:
        """callback(what, step, numbers) hears of every step and validation."""

    def run(self) -> str:
        """To the end; Ctrl-C stops between updates. Gives why it ended."""

    def step(self) -> float:
        """One update of the weights; gives its loss."""

    def validate(self, batches: int = 1, part: str = 'validation') -> tuple:
        """(loss, accuracy) over batches of a part; 0: over all of it."""

    def evaluate(self, batches: int, part: str) -> str:
        """The judgment of a part as JSON."""

    def predict(self, part: str) -> Predictions:
        """The answers to all samples of a part."""

    def save(self, path: str) -> None:
        """Writes a checkpoint."""

    def load(self, path: str) -> None:
        """Goes on from a checkpoint."""

    @property
    def updates(self) -> int:
        """Updates so far."""

    @property
    def total_updates(self) -> int:
        """Updates of the whole run."""

    @property
    def goal_reached(self) -> bool:
        """By the last validation."""

    @property
    def config(self) -> str:
        """The configuration as JSON, defaults filled in."""

class OnlineStream:
    """A model that keeps learning."""

    def __init__(self, model: object, example: pybraintrace.typing.ArrayLike | None, rule: str, rule_options: str, loss: str, optimizer: str, lr: float) -> None: ...

    def learn(self, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> tuple:
        """(prediction, loss) of a record, which is then learned from."""

    def predict(self, x: pybraintrace.typing.ArrayLike | None) -> Tensor:
        """The answer alone; states and traces advance."""

    def reset(self) -> None: ...

    def save(self, path: str, records: int) -> None: ...

    def load(self, path: str) -> int: ...

class Fleet:
    """Many small learners through one compiled program."""

    def __init__(self, model: object, example: pybraintrace.typing.ArrayLike | None, rule: str, rule_options: str, loss: str, optimizer: str, lr: float, most: int, guard: bool) -> None: ...

    def learn(self, ids: Sequence[str] | None, x: pybraintrace.typing.ArrayLike | None, y: pybraintrace.typing.ArrayLike | None) -> tuple:
        """A step of these members, or of all: (predictions, losses, undone)."""

    def predict(self, ids: Sequence[str] | None, x: pybraintrace.typing.ArrayLike | None) -> tuple:
        """Answers without learning; states and traces advance."""

    def reset(self, id: str) -> None:
        """
        A new sequence of a member: states and traces start again, weights stay.
        """

    def add(self, id: str) -> None:
        """A member with the weights of the start."""

    def remove(self, id: str) -> None:
        """Lets a member go."""

    def records(self, id: str) -> int:
        """How many records a member learned from."""

    def save(self, path: str) -> None:
        """All members as one file."""

    def load(self, path: str) -> None:
        """The members of a file in place of the present ones."""

    def save_member(self, id: str, path: str) -> None:
        """A member as the file of a single stream."""

    def load_member(self, id: str, path: str) -> None:
        """A member from the file of a single stream; it joins, or is replaced."""

    def __len__(self) -> int: ...

    def __contains__(self, id: str) -> bool: ...

    @property
    def ids(self) -> list[str]:
        """The members in their order."""

    @property
    def bytes_per_member(self) -> int:
        """Memory of a member."""

def import_nir(path: str, dt: float | None = None, method: str | None = None, reset: str = 'hard', surrogate: str = 'relu_grad') -> tuple:
    """(description, weights, notes) of a NIR file."""

def export_nir(path: str, description: str, model: Module, input_shape: Sequence[int]) -> None:
    """Writes a model that a description describes as NIR."""

def read_weights(path: str) -> dict:
    """Named arrays of a .npz, .safetensors or msgpack file."""

def set_weights(model: Module, weights: dict, strict: bool = True) -> dict:
    """Writes arrays into the parameters of their names; gives a report."""

def command(arguments: Sequence[str]) -> int:
    """Runs the command line; gives its exit status."""
