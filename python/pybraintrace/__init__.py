# SPDX-License-Identifier: Apache-2.0
"""Online learning in recurrent and spiking networks with eligibility traces.

>>> import pybraintrace as bt
>>> model = bt.nn.Sequential(bt.nn.GRUCell(3, 8), bt.nn.Linear(8, 2))
>>> learner = bt.compile(model, 'D_RTRL', bt.numpy.zeros(3))
>>> grads = bt.grad(lambda x: (learner(x) ** 2).mean(), model.states(bt.ParamState))(bt.numpy.ones(3))
>>> sorted(grads)[0]
('layers', 0, 'Wh', 'weight')
"""

from . import _compiler as _compiler  # before the library looks for one
from . import _core
from . import _tensor as _tensor
from ._core import (CompilationError, CompilationRecord, CompilationReport, DTypeError, ETraceGraph, ETraceVjpGraphExecutor, FileError, HiddenGroup,
                    HiddenGroupState, HiddenParamOpRelation, HiddenPerturbation, HiddenState, HiddenTreeState, InternalError,
                    LongTermState, ModuleInfo, OutOfRangeError, ParamState, RandomState, ShapeError, ShortTermState, State, StateError,
                    Tensor, UnknownNameError, UserError, add_hidden_perturbation_from_minfo, add_hidden_perturbation_in_module,
                    advise, backends, build_model, builtin_models, compile_etrace_graph, default_backend, export_c, fidelity, extract_module_info, find_hidden_groups_from_minfo,
                    find_hidden_groups_from_module, find_hidden_param_op_relations_from_minfo,
                    find_hidden_param_op_relations_from_module, list_of_algorithms, product_precision, set_default_backend, set_product_precision)
from ._core.ops import conv, einsum, element_wise, embedding, grouped_matmul, lora_matmul, matmul, sparse_matmul
from . import environ, init, metric, nn, numpy, optim, progress, random, surrogate, transform, tree, units
from . import algorithms, data, display
from .algorithms import *  # noqa: F403
from .checkpoint import load, save
from .environ import backend_scope
from .fleet import Fleet
from .operations import OpCall, Operation, register_op
from .rules import LearningRule, TraceSite, register_rule
from .training import Trainer
from .transform import (checkpoint, cond, custom_vjp, for_loop, fori_loop, grad, hessian, jacfwd, jacrev, jit, jvp, pure_callback, scan, value_and_grad, vjp, vmap,
                        while_loop)

NotSupportedError, ETraceGraphExecutor = CompilationError, ETraceVjpGraphExecutor
__version__: str = _core.version
__all__ = [n for n in dir() if not n.startswith("_")]
