# SPDX-License-Identifier: Apache-2.0
"""Trees: arrays in nested tuples, lists, dicts and dataclasses.

>>> from pybraintrace import tree
>>> tree.map(lambda a: 2 * a, {'w': 1, 'b': (2, 3)})
{'b': (4, 6), 'w': 2}
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from ._core import TreeDef, register_node, tree_flatten

__all__ = ["TreeDef", "all", "flatten", "leaves", "map", "reduce", "register_node", "structure", "unflatten"]


IsLeaf = Callable[[Any], bool] | None


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeDef]:
    """Return the leaves in order, and the structure; `is_leaf` marks additional values as leaves."""
    return tree_flatten(tree, is_leaf)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves in order; dicts are ordered by key. `is_leaf` marks additional values as leaves."""
    return tree_flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> TreeDef:
    """Return the structure without its leaves; `is_leaf` marks additional values as leaves."""
    return tree_flatten(tree, is_leaf)[1]


def unflatten(treedef: TreeDef, leaves: Any) -> Any:
    """Return the tree with the given leaves."""
    return treedef.unflatten(leaves)


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to the leaves of trees with the same structure.

    Args:
        f: function of one leaf from each tree.
        tree: the first tree.
        rest: further trees.
        is_leaf: function that marks additional values as leaves.

    Returns:
        A tree of the results.
    """
    first, treedef = tree_flatten(tree, is_leaf)
    columns = [first]
    for other in rest:
        column, other_def = tree_flatten(other, is_leaf)
        if other_def != treedef:
            raise ValueError(f"tree.map: expected trees of the same structure, got {treedef} and {other_def}")
        columns.append(column)
    return treedef.unflatten([f(*row) for row in zip(*columns)])


def reduce(f: Callable[[Any, Any], Any], tree: Any, initializer: Any = None) -> Any:
    """Reduce the leaves with a function of two arguments, from left to right."""
    import functools

    found = leaves(tree)
    return functools.reduce(f, found) if initializer is None else functools.reduce(f, found, initializer)


def all(tree: Any) -> bool:
    """Return whether all leaves are true."""
    import builtins

    return builtins.all(bool(leaf) for leaf in leaves(tree))


# They keep their class, and an OrderedDict keeps its order.
register_node(OrderedDict, lambda d: (tuple(d.values()), tuple(d)), lambda keys, values: OrderedDict(zip(keys, values)))
register_node(defaultdict, lambda d: ((dict(d),), d.default_factory), lambda factory, values: defaultdict(factory, values[0]))
