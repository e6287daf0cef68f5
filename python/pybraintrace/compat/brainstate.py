# SPDX-License-Identifier: Apache-2.0
"""`brainstate`: states, modules, transforms, random numbers, the environment."""

from types import SimpleNamespace
from typing import Any, Union

from .. import environ, nn as _nn, random, surrogate, transform as _transform, tree
from .._core import (HiddenGroupState, HiddenState, HiddenTreeState, LongTermState, ParamState, RandomState, ShortTermState, State)
from .._modules import StateDict
from ._lanes import Map, Vmap, vmap_init_all_states, vmap_new_states

BatchState = LongTermState


class DotDict(dict[str, Any]):
    """A dict whose keys are attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    __setattr__ = dict.__setitem__


def _namespace(module: Any, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(**{n: getattr(module, n) for n in dir(module) if not n.startswith("_")}, **more)


nn = _namespace(_nn, Vmap=Vmap, Map=Map, vmap_init_all_states=vmap_init_all_states, DropoutFixed=_nn.Dropout)
transform = _namespace(_transform, vmap_new_states=vmap_new_states, StatefulFunction=_transform.jit,
                       ProgressBar=__import__("pybraintrace.progress", fromlist=["ProgressBar"]).ProgressBar)
compile = augment = transform
typing = SimpleNamespace(Size=Union[int, tuple], ArrayLike=Any, DTypeLike=Any, PyTree=Any, Array=Any)
util = SimpleNamespace(DotDict=DotDict, StateDict=StateDict)
