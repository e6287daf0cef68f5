# SPDX-License-Identifier: Apache-2.0
"""Averaged weights of optimizers."""
import copy
import gc
import pickle

import numpy as np
import pytest

import pybraintrace as bt

OPTIMIZERS = [n for n in bt.optim.__all__ if isinstance(getattr(bt.optim, n), type) and issubclass(getattr(bt.optim, n), bt.optim.Optimizer) and n != "Optimizer"]
SLOPES = [3.0, -1.0, 2.0, 0.5, -4.0]


def made(name="SGD", average=3, model=None, **options):
    model = model or bt.nn.Linear(1, 1, b_init=None)
    opt = getattr(bt.optim, name)(lr=0.1, average=average, **options)
    opt.register_trainable_weights(model)
    (path, weight), = model.states(bt.ParamState).items()
    return opt, weight, lambda g: opt.update({path: bt.tree.map(lambda w: bt.numpy.full_like(w, g), weight.value)})


def number(weight):
    return float(np.asarray(bt.tree.leaves(weight.value)[0]).ravel()[0])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_average_is_over_the_last_updates_and_changes_no_learning(name):
    opt, weight, update = made(name)
    first = weight.value
    plain, its_weight, its_update = made(name, average=0)
    its_weight.value = first
    step, mean = bt.jit(update), 0.0
    with opt.averaged():
        assert number(weight) == number(its_weight)  # no update yet: the weights themselves
    for t, g in enumerate(SLOPES, 1):
        step(g)
        its_update(g)
        mean += (number(its_weight) - mean) / min(t, 3)
        with opt.averaged():
            assert number(weight) == pytest.approx(mean, rel=1e-5, abs=1e-6)
        assert number(weight) == pytest.approx(number(its_weight), rel=1e-6)
    assert abs(mean - number(weight)) > 1e-5
    assert [p for p in opt.states() if p[-1] == "average"] and not [p for p in plain.states() if p[-1] == "average"]


def test_averages_inside_a_jitted_function():
    opt, weight, update = made()

    @bt.jit
    def judged(x):
        with opt.averaged():
            averaged = bt.tree.leaves(weight.value)[0].sum() * x
        return averaged, bt.tree.leaves(weight.value)[0].sum() * x

    update(1.0), update(1.0)
    now = number(weight)
    averaged, plain = judged(1.0)
    assert float(plain) == pytest.approx(now) and float(averaged) == pytest.approx(now + 0.05, rel=1e-5) and number(weight) == now


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_keep_the_averages(twin):
    model = bt.nn.Linear(1, 1, b_init=None)
    opt, weight, update = made("Adam", model=model)
    update(1.0), update(-2.0)
    other, its_model = twin((opt, model))
    (its_weight,) = its_model.states(bt.ParamState).values()
    with opt.averaged(), other.averaged():
        assert number(weight) == number(its_weight)


def test_an_error_inside_leaves_the_weights_as_they_were():
    opt, weight, update = made()
    update(1.0), update(1.0)
    now = number(weight)
    with pytest.raises(ZeroDivisionError), opt.averaged():
        1 / 0
    assert number(weight) == now
    with opt.averaged(), opt.averaged():
        assert number(weight) != now
    assert number(weight) == now


def test_misuse():
    opt, weight, update = made()
    update(1.0), update(1.0)
    now = number(weight)
    with pytest.raises(ValueError, match="would be lost"), opt.averaged():
        update(1.0)
    assert number(weight) == now and opt.step_count == 2
    scope = opt.averaged()
    with scope, pytest.raises(ValueError, match="already"), scope:
        pass
    with pytest.raises(ValueError, match="average=N"):
        bt.optim.SGD(0.1).averaged()
    with pytest.raises(ValueError, match="average"):
        bt.optim.SGD(0.1, average=-1)
    with pytest.raises(TypeError):
        bt.optim.SGD(0.1, average=1.5)


def test_averages_that_are_left_to_the_garbage_collector():
    opt, weight, update = made()
    update(1.0), update(1.0)
    now, held = number(weight), []

    @bt.jit
    def leaks():
        held.append(opt.averaged())
        held[-1].__enter__()
        return bt.numpy.zeros(1)

    leaks()
    held.clear()
    gc.collect()
    scope = opt.averaged()
    scope.__enter__()
    del scope, opt
    gc.collect()
    assert np.isfinite(number(weight)) and now
