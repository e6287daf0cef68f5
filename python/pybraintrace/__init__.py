# SPDX-License-Identifier: Apache-2.0
"""Online learning in recurrent and spiking networks with eligibility traces.

>>> import pybraintrace as bt
>>> model = bt.nn.Sequential(bt.nn.GRUCell(3, 8), bt.nn.Linear(8, 2))
>>> learner = bt.compile(model, 'D_RTRL', bt.numpy.zeros(3))
>>> grads = bt.grad(lambda x: (learner(x) ** 2).mean(), model.states(bt.ParamState))(bt.numpy.ones(3))
>>> sorted(grads)[0]
('layers', 0, 'Wh', 'weight')
"""

from . import _interpreter as _interpreter  # before the extension module
from . import _compiler as _compiler  # before the library looks for a compiler
from . import _core
from . import _tensor as _tensor
from ._core import (CompilationError, CompilationRecord, CompilationReport, DTypeError, ETraceGraph, ETraceVjpGraphExecutor, FileError, GradCheck, HiddenGroup,
                    HiddenGroupState, HiddenParamOpRelation, HiddenPerturbation, HiddenState, HiddenTreeState, InternalError,
                    LongTermState, ModuleInfo, OutOfRangeError, ParamState, Predictions, RandomState, ShapeError, ShortTermState, State, StateError,
                    Tensor, UnknownNameError, UserError, add_hidden_perturbation_from_minfo, add_hidden_perturbation_in_module,
                    advise, backends, build_model, builtin_models, check_grad, compile_etrace_graph, default_backend, export_c, fidelity, extract_module_info, find_hidden_groups_from_minfo,
                    find_hidden_groups_from_module, find_hidden_param_op_relations_from_minfo,
                    find_hidden_param_op_relations_from_module, list_of_algorithms, product_precision, set_default_backend, set_product_precision)
from ._core.ops import conv, einsum, element_wise, embedding, grouped_matmul, lora_matmul, matmul, sparse_matmul
from . import environ, init, metric, nn, numpy, optim, progress, random, surrogate, transform, tree, units
from . import algorithms, data, display, nir, tasks
from .algorithms import *  # noqa: F403
from .checkpoint import load, load_weights, save
from .environ import backend_scope
from .fleet import Fleet, OnlineStream
from .operations import OpCall, Operation, register_op
from .rules import LearningRule, TraceSite, register_rule
from .training import Trainer
from .transform import (checkpoint, cond, custom_vjp, for_loop, fori_loop, grad, hessian, jacfwd, jacrev, jit, jvp, pure_callback, scan, switch, value_and_grad, vjp,
                        vmap, while_loop)

NotSupportedError, ETraceGraphExecutor = CompilationError, ETraceVjpGraphExecutor
__version__: str = _core.version
__all__ = ["CompilationError", "CompilationRecord", "CompilationReport", "DTypeError", "ETraceGraph", "ETraceGraphExecutor", "ETraceVjpGraphExecutor",
           "FileError", "Fleet", "GradCheck", "HiddenGroup", "HiddenGroupState", "HiddenParamOpRelation", "HiddenPerturbation", "HiddenState",
           "HiddenTreeState", "InternalError", "LearningRule", "LongTermState", "ModuleInfo", "NotSupportedError", "OnlineStream", "OpCall",
           "Operation", "OutOfRangeError", "ParamState", "Predictions", "RandomState", "ShapeError", "ShortTermState", "State", "StateError",
           "Tensor", "TraceSite", "Trainer", "UnknownNameError", "UserError", "add_hidden_perturbation_from_minfo",
           "add_hidden_perturbation_in_module", "advise", "algorithms", "backend_scope", "backends", "build_model", "builtin_models", "check_grad",
           "checkpoint", "compile_etrace_graph", "cond", "conv", "custom_vjp", "data", "default_backend", "display", "einsum", "element_wise",
           "embedding", "environ", "export_c", "extract_module_info", "fidelity", "find_hidden_groups_from_minfo", "find_hidden_groups_from_module",
           "find_hidden_param_op_relations_from_minfo", "find_hidden_param_op_relations_from_module", "fleet", "for_loop", "fori_loop", "grad",
           "grouped_matmul", "hessian", "init", "jacfwd", "jacrev", "jit", "jvp", "list_of_algorithms", "load", "load_weights", "lora_matmul",
           "matmul", "metric", "nir", "nn", "numpy", "operations", "optim", "product_precision", "progress", "pure_callback", "random", "register_op",
           "register_rule", "rules", "save", "scan", "set_default_backend", "set_product_precision", "sparse_matmul", "surrogate", "switch", "tasks",
           "training", "transform", "tree", "units", "value_and_grad", "vjp", "vmap", "while_loop"]
__all__ += algorithms.__all__
