#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the NIR files of tests/data/nir with the packages that others use, and what their networks answer.

    python3 -m venv v && v/bin/pip install nir==1.0.8 nirtorch==2.6 snntorch==1.0.0 norse==1.1.0 torch==2.15.0
    v/bin/python tests/nir/make_files.py tests/data/nir

Each NAME.nir has its NAME.npz: x, the input of 100 steps, and y, the output. Files of nir alone are answered by the
equations of its documents, written below with NumPy (forward Euler, dt = 1 ms unless said otherwise).
"""
import os
import sys

import h5py
import nir
import numpy as np

folder = sys.argv[1]
rng = np.random.default_rng(7)
STEPS = 100


def f32(*shape, scale=1.0, shift=0.0):
    return (rng.normal(size=shape) * scale + shift).astype(np.float32)


def keep(name, graph, x, y, compression=None):
    nir.write(os.path.join(folder, name + '.nir'), graph, compression=compression)
    np.savez_compressed(os.path.join(folder, name + '.npz'), x=np.asarray(x, np.float32), y=np.asarray(y, np.float32))
    print(name, 'mean output', float(np.mean(y)))


# ---- what h5py can store
def h5py_file():
    a = 0.5 * np.arange(77, dtype=np.float32).reshape(7, 11)
    with h5py.File(os.path.join(folder, 'h5py.h5'), 'w') as f:
        f['plain'] = a
        f.create_dataset('deflated', data=a, chunks=(3, 4), compression='gzip')
        f.create_dataset('shuffled', data=a.astype('f8'), chunks=(2, 11), compression='gzip', shuffle=True)
        f.create_dataset('checked', data=a, chunks=(4, 5), fletcher32=True)
        f['big_endian'] = a.astype('>f4')
        f['small'] = np.array([1, -3], np.int16)
        f['flag'] = True
        f['half'] = np.array([1.5], np.float16)
        f.create_dataset('text', data='Grüße', dtype=h5py.string_dtype())
        f['fixed'] = np.array([b'ab', b'cde'])
        many = f.create_group('many')
        for i in range(40):
            many[f'name{i}'] = i


# ---- nir alone: one step of each node, forward Euler
class Steps:
    def __init__(self, dt=1e-3):
        self.dt, self.state = dt, {}

    def get(self, key, first):
        return self.state.get(key, np.asarray(first, np.float64))

    def fire(self, key, v, n):
        z = (v > n.v_threshold).astype(np.float64)
        self.state[key] = np.where(z > 0, n.v_reset, v)
        return z

    def run(self, key, n, x):
        dt, kind = self.dt, type(n).__name__
        if kind == 'Affine':
            return n.weight @ x + n.bias
        if kind == 'Linear':
            return n.weight @ x
        if kind == 'Scale':
            return n.scale * x
        if kind == 'Threshold':
            return (x > n.threshold).astype(np.float64)
        if kind == 'Flatten':
            return x.reshape(-1)
        if kind == 'SumPool2d':
            (kh, kw), (sh, sw) = n.kernel_size, n.stride
            c, h, w = x.shape
            return np.stack([[[x[k, i:i + kh, j:j + kw].sum() for j in range(0, w - kw + 1, sw)]
                              for i in range(0, h - kh + 1, sh)] for k in range(c)])
        if kind == 'Conv1d':
            p, s, d = int(n.padding), int(n.stride), int(n.dilation)
            o, per, k = n.weight.shape
            xp = np.pad(x, ((0, 0), (p, p)))
            out = (xp.shape[1] - d * (k - 1) - 1) // s + 1
            y = np.zeros((o, out))
            for q in range(o):
                first = q // (o // n.groups) * per
                for t in range(out):
                    y[q, t] = (n.weight[q] * xp[first:first + per, t * s:t * s + d * k:d]).sum() + n.bias[q]
            return y
        if kind == 'Delay':
            past = self.state.setdefault(key, [])
            past.append(x)
            back = np.rint(n.delay / dt).astype(int)
            return np.array([past[-1 - b][i] if len(past) > b else 0. for i, b in enumerate(back)])
        v = self.get(key, getattr(n, 'v_leak', np.zeros_like(x)))  # a population starts at rest
        if kind == 'I':
            self.state[key] = v + dt * n.r * x
            return self.state[key]
        if kind == 'IF':
            return self.fire(key, v + dt * n.r * x, n)
        if kind == 'LI':
            self.state[key] = v + dt / n.tau * (n.v_leak - v + n.r * x)
            return self.state[key]
        if kind == 'LIF':
            return self.fire(key, v + dt / n.tau * (n.v_leak - v + n.r * x), n)
        i = self.get(key + '/I', np.zeros_like(x))
        i = self.state[key + '/I'] = i + dt / n.tau_syn * (-i + n.w_in * x)
        v = v + dt / n.tau_mem * (n.v_leak - v + n.r * i)
        if kind == 'CubaLI':
            self.state[key] = v
            return v
        return self.fire(key, v, n)


def answer(order, nodes, sources, xs):
    """order: nodes in the order of a step; sources: node -> list of (node, late)."""
    s, out, old = Steps(), [], {}
    for x in xs.astype(np.float64):
        now = {'input': x}
        for k in order:
            terms = [old.get(a, None) if late else now[a] for a, late in sources[k]]
            total = sum(t for t in terms if t is not None)
            now[k] = total if k == 'output' else s.run(k, nodes[k], total if not np.isscalar(total) else np.zeros(1))
        old = dict(now)
        out.append(now['output'])
    return np.array(out)


def all_nodes():
    n = 6
    full = lambda v: np.full(n, v, np.float32)
    nodes = {
        'input': nir.Input(np.array([4])),
        'w': nir.Linear(f32(n, 4)),
        'li': nir.LI(tau=f32(n, scale=.001, shift=.01), r=full(1.5), v_leak=full(.1)),
        'scale': nir.Scale(f32(n, shift=1)),
        'cubali': nir.CubaLI(tau_syn=full(.005), tau_mem=full(.02), r=full(2), v_leak=full(0), w_in=full(1.2)),
        'i': nir.I(r=full(30)),
        'if': nir.IF(r=full(400), v_threshold=full(1), v_reset=full(-.25)),
        'affine': nir.Affine(f32(n, n), f32(n)),
        'threshold': nir.Threshold(f32(n, scale=.3)),
        'cubalif': nir.CubaLIF(tau_syn=full(.004), tau_mem=full(.01), r=full(3), v_leak=full(0), v_threshold=full(.5),
                               v_reset=full(.1), w_in=full(2)),
        'delay': nir.Delay(np.array([0, .001, .002, .003, .005, .008], np.float32)),
        'readout': nir.LIF(tau=full(.008), r=full(4), v_leak=full(0), v_threshold=full(1), v_reset=full(0)),
        'output': nir.Output(np.array([n])),
    }
    edges = [('input', 'w'), ('w', 'li'), ('li', 'scale'), ('scale', 'cubali'), ('w', 'i'), ('w', 'if'),
             ('cubali', 'affine'), ('i', 'affine'), ('if', 'affine'), ('affine', 'threshold'), ('threshold', 'cubalif'),
             ('cubalif', 'delay'), ('delay', 'readout'), ('readout', 'output')]
    order = ['w', 'li', 'scale', 'cubali', 'i', 'if', 'affine', 'threshold', 'cubalif', 'delay', 'readout', 'output']
    x = f32(STEPS, 4)
    y = answer(order, nodes, {k: [(a, False) for a, b in edges if b == k] for k in order}, x)
    keep('all_nodes', nir.NIRGraph(nodes, edges), x, y)


def shapes():
    nodes = {
        'input': nir.Input(np.array([2, 12])),
        'conv': nir.Conv1d(input_shape=12, weight=f32(4, 1, 3), stride=2, padding=1, dilation=1, groups=2, bias=f32(4)),
        'if': nir.IF(r=np.full((4, 6), 300, np.float32), v_threshold=np.ones((4, 6), np.float32)),
        'flat': nir.Flatten(input_type={'input': np.array([4, 6])}, start_dim=0, end_dim=-1),
        'w': nir.Affine(f32(3, 24), f32(3)),
        'i': nir.I(r=np.full(3, 10, np.float32)),
        'output': nir.Output(np.array([3])),
    }
    order = ['conv', 'if', 'flat', 'w', 'i', 'output']
    edges = list(zip(['input'] + order[:-1], order))
    x = f32(STEPS, 2, 12)
    y = answer(order, nodes, {b: [(a, False)] for a, b in edges}, x)
    keep('shapes', nir.NIRGraph(nodes, edges, type_check=False), x, y)  # nir takes the channels of a group for all


def sums():
    nodes = {
        'input': nir.Input(np.array([2, 6, 4])),
        'pool': nir.SumPool2d(kernel_size=np.array([2, 2]), stride=np.array([2, 1]), padding=np.array([0, 0])),
        'lif': nir.LIF(tau=np.full((2, 3, 3), .01, np.float32), r=np.ones((2, 3, 3), np.float32),
                       v_leak=np.zeros((2, 3, 3), np.float32), v_threshold=np.ones((2, 3, 3), np.float32)),
        'output': nir.Output(np.array([2, 3, 3])),
    }
    order = ['pool', 'lif', 'output']
    edges = list(zip(['input'] + order[:-1], order))
    x = f32(STEPS, 2, 6, 4, shift=.5)
    y = answer(order, nodes, {b: [(a, False)] for a, b in edges}, x)
    keep('sums', nir.NIRGraph(nodes, edges, type_check=False), x, y)


def old_cycle():
    """As the files of the NIR paper: version 0.2.0, no v_reset, a cycle, names with dots."""
    n = 8
    full = lambda v: np.full(n, v, np.float32)
    nodes = {
        'input': nir.Input(np.array([3])),
        'fc1': nir.Affine(f32(n, 3), f32(n)),
        'lif1.lif': nir.CubaLIF(tau_syn=full(.003), tau_mem=full(.01), r=full(2), v_leak=full(0), v_threshold=full(.4),
                                w_in=full(1.5)),
        'lif1.w_rec': nir.Affine(f32(n, n, scale=.5), f32(n, scale=.1)),
        'output': nir.Output(np.array([n])),
    }
    edges = [('input', 'fc1'), ('fc1', 'lif1.lif'), ('lif1.lif', 'lif1.w_rec'), ('lif1.w_rec', 'lif1.lif'),
             ('lif1.lif', 'output')]
    x = f32(STEPS, 3)
    s, out, z = Steps(), [], np.zeros(n)
    for row in x.astype(np.float64):
        z = s.run('lif', nodes['lif1.lif'],
                  s.run('', nodes['fc1'], row) + s.run('', nodes['lif1.w_rec'], z))
        out.append(z)
    keep('old_cycle', nir.NIRGraph(nodes, edges), x, np.array(out))
    with h5py.File(os.path.join(folder, 'old_cycle.nir'), 'a') as f:
        del f['version'], f['node/nodes/lif1.lif/v_reset']
        f.create_dataset('version', data='0.2.0', dtype=h5py.string_dtype())


def of_snntorch():
    import snntorch as snn
    import torch
    from snntorch.export_nir import export_to_nir
    torch.manual_seed(3)
    like = dict(reset_mechanism='zero', reset_delay=False, init_hidden=True)

    def record(name, net, x):
        y = []
        with torch.no_grad():
            for row in torch.as_tensor(x):
                out = net(row[None])
                y.append((out[0] if isinstance(out, tuple) else out)[0].numpy())
                for layer in net:  # reset_delay=False, which RSynaptic of snnTorch 1.0.0 cannot do by itself
                    if isinstance(layer, snn.RSynaptic):
                        layer.mem = layer.mem * (1 - layer.spk)
        graph = export_to_nir(net, torch.as_tensor(x[:1]), ignore_dims=[0])
        keep(name, graph, x, np.array(y))

    def leaky(shape, beta, threshold=1., **more):  # snnTorch writes only layers that know their size
        return snn.Leaky(beta=torch.full(shape, beta), threshold=torch.full(shape, threshold), **like, **more)

    record('snntorch_leaky', torch.nn.Sequential(
        torch.nn.Linear(5, 12), leaky((12,), .9), torch.nn.Linear(12, 4, bias=False),
        leaky((4,), .8, .5, output=True)), f32(STEPS, 5))
    record('snntorch_recurrent', torch.nn.Sequential(
        torch.nn.Linear(5, 10),
        snn.RSynaptic(alpha=.7, beta=.85, linear_features=10, threshold=2., reset_mechanism='zero', init_hidden=True),
        torch.nn.Linear(10, 8), snn.RLeaky(beta=.9, linear_features=8, output=True, **like)), f32(STEPS, 5))
    record('snntorch_conv', torch.nn.Sequential(
        torch.nn.Conv2d(2, 3, 3, padding=1, stride=2), leaky((3, 4, 4), .8), torch.nn.AvgPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(12, 4), leaky((4,), .5, .4, output=True)), f32(STEPS, 2, 7, 7))


def of_norse():
    import norse.torch as norse
    import torch
    torch.manual_seed(5)
    p = dict(tau_mem_inv=torch.full((9,), 120.), v_leak=torch.full((9,), .05), v_th=torch.full((9,), .3))
    net = norse.SequentialState(
        torch.nn.Linear(4, 9), norse.LIFBoxCell(norse.LIFBoxParameters(**p), dt=.001),
        torch.nn.Linear(9, 3), norse.LIBoxCell(norse.LIBoxParameters(tau_mem_inv=torch.full((3,), 200.),
                                                                     v_leak=torch.zeros(3)), dt=.001))
    x, y, state = f32(STEPS, 4, scale=2), [], None
    with torch.no_grad():
        for row in torch.as_tensor(x):
            out, state = net(row[None], state)
            y.append(out[0].numpy())
    # Norse multiplies its rates by dt when it writes; with dt = 1 they are time constants in seconds, as it reads them.
    graph = norse.to_nir(net, torch.as_tensor(x[:1]), dt=1.0)
    keep('norse', graph, x, np.array(y), compression='gzip')  # as nir writes unless told otherwise


h5py_file()
all_nodes()
shapes()
sums()
old_cycle()
of_snntorch()
of_norse()
