// SPDX-License-Identifier: Apache-2.0
// Transforms of Python functions, over the flat functions of the C++ library. The GIL is released while they run;
// a traced function takes it again.
#include "bindings.h"
#include "braintrace/base/counted.h"
#include "braintrace/control/custom.h"
#include "braintrace/control/remat.h"
#include "braintrace/functions/derivatives.h"
#include "braintrace/functions/grad.h"
#include "braintrace/functions/jit.h"
#include "braintrace/functions/loops.h"
#include "braintrace/functions/vmap.h"
#include "braintrace/ops/host_call.h"
#include "ctrl_c.h"
#include "function.h"
#include "module.h"
#include "places.h"

namespace pybraintrace {

namespace {

nb::kwargs no_keywords() { return nb::borrow<nb::kwargs>(nb::dict()); }

// A function that is compiled once per signature.
class Jitted {
 public:
  Jitted(nb::object f, bt::Ints static_argnums, std::vector<std::string> static_argnames)
      : f_(std::move(f)),
        static_argnums_(std::move(static_argnums)),
        static_argnames_(std::move(static_argnames)),
        cache_(bt::flat::make_jit_cache()) {}

  nb::object call(const nb::args& args, const nb::kwargs& kwargs) {
    SafePoint after;
    if (!places_.are_unchanged()) forget();
    const std::shared_ptr<bt::flat::JitCache> cache  = cache_;
    const int64_t                             traces = bt::flat::num_traces(*cache);
    CalledModules                             called;
    Tree::Leaves                              leaves;
    Tree                                      in;
    in.open(Tree::Kind::Tuple, 2);
    in.open(Tree::Kind::Tuple, args.size());
    int64_t position = 0;
    for (nb::handle a : args) {
      const bool is_static = std::any_of(static_argnums_.begin(), static_argnums_.end(), [&](int64_t n) {
        return n == position || n + static_cast<int64_t>(args.size()) == position;
      });
      is_static ? in.add_static(a) : in.add(a, leaves, is_captured);
      ++position;
    }
    add_keywords(in, kwargs, leaves);
    std::string key = in.key(statics_);
    bt::Tensors xs  = tensors_of(leaves, "jit");
    for (const bt::Tensor& x : xs) {
      key += static_cast<char>(x.dtype());
      key += static_cast<char>(x.rank());
      key.append(reinterpret_cast<const char*>(x.shape().data()), x.shape().size() * sizeof(int64_t));
    }
    add_environment(key);
    FlatCall   call(f_, std::move(in));
    const auto r = stoppable([&] {
      return bt::flat::call_jitted(*cache, std::move(key), xs, call.function(),
                                   [&] { return std::shared_ptr<const void>(std::make_shared<Tree>(call.out())); });
    });
    if (bt::flat::num_traces(*cache) > traces && cache == cache_) find_places(called.modules());
    return static_cast<const Tree*>(r.like.get())->unflatten(r.out);
  }

  int64_t    num_traces() const { return forgotten_ + bt::flat::num_traces(*cache_); }
  nb::object function() const { return f_; }

  int traverse(visitproc visit, void* arg) {
    Py_VISIT(f_.ptr());
    Py_VISIT(statics_.ptr());
    for (const nb::object& m : modules_) Py_VISIT(m.ptr());
    return places_.traverse(visit, arg);
  }
  void clear() {
    f_       = nb::none();
    statics_ = nb::dict();
    modules_.clear();
    places_ = {};
  }

 private:
  // Programs of parts that are not those of the function any more.
  void forget() {
    forgotten_ += bt::flat::num_traces(*cache_);
    cache_ = bt::flat::make_jit_cache();
    modules_.clear();
    places_ = {};
  }
  void find_places(const std::vector<nb::object>& called) {
    for (const nb::object& m : called)
      if (std::none_of(modules_.begin(), modules_.end(), [&](const nb::object& known) { return known.is(m); }))
        modules_.push_back(m);
    Places now;
    now.add_function(f_);
    for (const nb::object& m : modules_) now.add_object(m);
    places_ = std::move(now);
  }
  void add_keywords(Tree& in, const nb::kwargs& kwargs, Tree::Leaves& leaves) {
    if (static_argnames_.empty() || kwargs.size() == 0) {
      in.add(kwargs, leaves, is_captured);
      return;
    }
    nb::list keys(nb::steal(PyDict_Keys(kwargs.ptr())));
    keys.attr("sort")();
    in.open(Tree::Kind::Dict, keys.size(), nb::tuple(keys));
    for (nb::handle k : keys) {
      const auto name = nb::cast<std::string>(k);
      const bool is_static =
          std::find(static_argnames_.begin(), static_argnames_.end(), name) != static_argnames_.end();
      is_static ? in.add_static(kwargs[k]) : in.add(kwargs[k], leaves, is_captured);
    }
  }
  // Custom keys of the environment are part of the signature.
  void add_environment(std::string& key) {
    static const nb::handle context =
        nb::object(nb::module_::import_("pybraintrace.environ").attr("_static_keys")).release();
    nb::object keys = context();
    if (keys.is_none()) return;
    Tree tree;
    tree.add_static(keys);
    key += tree.key(statics_);
  }

  nb::object                          f_;
  bt::Ints                            static_argnums_;
  std::vector<std::string>            static_argnames_;
  nb::dict                            statics_;
  std::shared_ptr<bt::flat::JitCache> cache_;
  int64_t                             forgotten_ = 0;  // traces
  std::vector<nb::object>             modules_;        // that were called while tracing
  Places                              places_;         // where the programs of the cache found their parts
};

int jitted_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Jitted>(self)->traverse(visit, arg) : 0;
}
int jitted_clear(PyObject* self) {
  nb::inst_ptr<Jitted>(self)->clear();
  return 0;
}
PyType_Slot jitted_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(jitted_traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(jitted_clear)},
                              {0, nullptr}};

// (result, gradients of the chosen arguments as trees, {path: gradient})
nb::object differentiate(const char* where, nb::handle f, const nb::args& args, const nb::kwargs& kwargs,
                         const bt::Ints& argnums, nb::handle states) {
  FlatCall           call(f, args, kwargs, where);
  const bt::StateMap map = states.is_none() ? bt::StateMap() : states_from(states);
  bt::Ints           chosen;
  for (int64_t n : argnums) {
    const int64_t from_front = n < 0 ? n + static_cast<int64_t>(args.size()) : n;
    bt::require(from_front >= 0 && from_front < static_cast<int64_t>(args.size()),
                "{}: argnums contains {}, but the call has {}.", where, n,
                bt::counted(args.size(), "positional argument"));
    chosen.push_back(from_front);
  }
  bt::Mask wrt;
  for (size_t owner : call.owners())
    wrt.push_back(std::find(chosen.begin(), chosen.end(), static_cast<int64_t>(owner)) != chosen.end());
  const auto r = stoppable([&] { return bt::flat::differentiate(where, call.function(), call.leaves(), wrt, map); });
  nb::list   grads;
  for (int64_t n : chosen) {
    bt::Tensors mine;
    for (size_t i = 0; i < call.owners().size(); ++i)
      if (call.owners()[i] == static_cast<size_t>(n)) mine.push_back(r.grads[i]);
    grads.append(call.argument(static_cast<size_t>(n)).unflatten(mine));
  }
  return nb::make_tuple(call.rebuild(r.out), grads, dict_of(r.states));
}

nb::object mapped(nb::handle f, const nb::args& args, const nb::kwargs& kwargs, nb::handle in_axes, int64_t out_axis,
                  std::optional<int64_t> size, nb::handle states) {
  FlatCall        call(f, args, kwargs, "vmap");
  bt::VmapOptions options;
  options.out_axis = out_axis;
  options.size     = size;
  if (!states.is_none()) options.batched_states = states_from(states);
  for (size_t i = 0; i < call.num_arguments(); ++i) {
    nb::object axis = nb::borrow(in_axes);
    if (PyTuple_Check(in_axes.ptr()) || PyList_Check(in_axes.ptr())) {
      bt::require(nb::len(in_axes) == args.size(), "vmap: in_axes has {} entries for {} arguments.", nb::len(in_axes),
                  args.size());
      axis = i < args.size() ? nb::object(in_axes[i]) : nb::object(nb::int_(0));
    }
    options.in_axes.push_back(axis.is_none() ? std::optional<int64_t>() : nb::cast<int64_t>(axis));
  }
  const auto out = stoppable([&] {
    return bt::flat::call_mapped(call.function(), call.leaves(), call.owners(), call.num_arguments(), options);
  });
  return call.rebuild(out);
}

[[noreturn]] void structure_error(const char* where, const char* what, const Tree& want, const Tree& got) {
  bt::fail("{}: {} must have the structure {}; got {}.", where, what, want.text(), got.text());
}

// f(carry, x) → (carry, y)
nb::object run_scan(nb::handle f, nb::handle init, nb::handle xs, int64_t length, bool reverse) {
  Tree::Leaves      carry_leaves, x_leaves;
  const Tree        carry = Tree::of(init, carry_leaves), x = Tree::of(xs, x_leaves);
  const bt::Tensors c = tensors_of(carry_leaves, "scan"), v = tensors_of(x_leaves, "scan");
  Tree              y;
  const auto        r = stoppable([&] {
    return bt::flat::run_scan("scan",
                                     [&](const bt::Tensors& in) {
                                WithGil    gil;
                                const auto middle = in.begin() + static_cast<std::ptrdiff_t>(c.size());
                                nb::object result = f(carry.unflatten(bt::Tensors(in.begin(), middle)),
                                                             x.unflatten(bt::Tensors(middle, in.end())));
                                if (!PyTuple_Check(result.ptr()) || nb::len(result) != 2)
                                  nb::raise_type_error("scan: the function must return (carry, y)");
                                Tree::Leaves leaves;
                                const Tree   next = Tree::of(nb::object(result[0]), leaves);
                                if (!(next == carry)) structure_error("scan", "the carry", carry, next);
                                y               = Tree::of(nb::object(result[1]), leaves);
                                bt::Tensors out = tensors_of(leaves, "scan");
                                return out;
                              },
                                     c, v, {.length = length, .reverse = reverse});
  });
  return nb::make_tuple(carry.unflatten(r.carry), y.unflatten(r.ys));
}

nb::object run_for(nb::handle f, const nb::args& xs, bool reverse) {
  FlatCall   call(f, xs, no_keywords(), "for_loop");
  const auto r = stoppable(
      [&] { return bt::flat::run_scan("for_loop", call.function(), {}, call.leaves(), {.reverse = reverse}); });
  return call.rebuild(r.ys);
}

nb::object choose(Arg pred, nb::handle if_true, nb::handle if_false, const nb::args& args) {
  FlatCall   yes(if_true, args, no_keywords(), "cond"), no(if_false, args, no_keywords(), "cond");
  bt::Tensor p = pred;
  if (p.dtype() != bt::DType::Bool) p = bt::Tensor(p).astype(bt::DType::Bool);
  const auto otherwise = [&, f = no.function()](const bt::Tensors& in) {
    bt::Tensors out = f(in);
    WithGil     gil;
    if (!(yes.out() == no.out())) structure_error("cond", "the result of the second function", yes.out(), no.out());
    return out;
  };
  const auto out = stoppable([&] { return bt::flat::run_cond(p, yes.function(), otherwise, yes.leaves()); });
  return yes.rebuild(out);
}

nb::object run_while(nb::handle go_on, nb::handle body, nb::handle init, int64_t max_steps) {
  nb::args   args = nb::borrow<nb::args>(nb::make_tuple(nb::borrow(init)));
  FlatCall   test(go_on, args, no_keywords(), "while_loop"), step(body, args, no_keywords(), "while_loop");
  const auto checked = [&, f = step.function()](const bt::Tensors& in) {
    bt::Tensors out = f(in);
    WithGil     gil;
    if (!(step.out() == step.argument(0))) structure_error("while_loop", "the value", step.argument(0), step.out());
    return out;
  };
  const auto out =
      stoppable([&] { return bt::flat::run_while(test.function(), checked, step.leaves(), {.max_steps = max_steps}); });
  return step.argument(0).unflatten(out);
}

nb::object run_jvp(nb::handle f, nb::handle primals, nb::handle tangents) {
  FlatCall call(f, nb::borrow<nb::args>(nb::tuple(nb::borrow(primals))), no_keywords(), "jvp");
  FlatCall dots(f, nb::borrow<nb::args>(nb::tuple(nb::borrow(tangents))), no_keywords(), "jvp");
  if (!(call.in() == dots.in())) structure_error("jvp", "the tangents", call.in(), dots.in());
  const auto r = stoppable([&] { return bt::flat::push_forward(call.function(), call.leaves(), dots.leaves()); });
  return nb::make_tuple(call.rebuild(r.out), call.rebuild(r.tangents));
}

nb::object run_vjp(nb::handle f, const nb::args& primals) {
  FlatCall call(f, primals, no_keywords(), "vjp");
  auto     r        = stoppable([&] { return bt::flat::pull_back(call.function(), call.leaves()); });
  auto     pullback = [in = call.in(), out = call.out(), back = std::move(r.pullback)](nb::handle ct) {
    Tree::Leaves leaves;
    const Tree   tree = Tree::of(ct, leaves);
    if (!(tree == out)) structure_error("vjp", "the cotangent", out, tree);
    const bt::Tensors cts = tensors_of(leaves, "vjp");
    const auto        g   = stoppable([&] { return back(cts); });
    return nb::object(in.unflatten(g)[0]);
  };
  return nb::make_tuple(call.rebuild(r.out), nb::cpp_function(std::move(pullback)));
}

nb::object run_jacobian(nb::handle f, const nb::args& args, int64_t argnum, bool forward) {
  FlatCall call(f, args, no_keywords(), "jacobian");
  bt::require(argnum >= 0 && argnum < static_cast<int64_t>(args.size()),
              "jacobian: argnums is {}, but the call has {}.", argnum, bt::counted(args.size(), "positional argument"));
  bt::Mask wrt;
  for (size_t owner : call.owners()) wrt.push_back(owner == static_cast<size_t>(argnum));
  const auto mode   = forward ? bt::flat::JacobianMode::Forward : bt::flat::JacobianMode::Reverse;
  const auto blocks = stoppable([&] { return bt::flat::jacobian(mode, call.function(), call.leaves(), wrt); });
  std::vector<nb::object> rows;
  for (const auto& row : blocks) rows.push_back(call.argument(static_cast<size_t>(argnum)).unflatten(row));
  return call.out().unflatten(rows);
}

// f whose cotangents are bwd(residuals, ct), where fwd(*args) gives (result, residuals).
nb::object call_custom_vjp(nb::handle f, nb::handle fwd, nb::handle bwd, const nb::args& args) {
  FlatCall call(f, args, no_keywords(), "custom_vjp");
  // The rules outlive this call: they are kept with the program that differentiates it.
  const auto residuals = std::make_shared<Tree>(), result = std::make_shared<Tree>();
  const auto in      = std::make_shared<Tree>(call.in());
  const auto forward = [f = hold(fwd), in, residuals, result](const bt::Tensors& xs) {
    WithGil    gil;
    nb::object packed = in->unflatten(xs), both = nb::handle(f.get())(*nb::borrow<nb::tuple>(packed[0]));
    if (!PyTuple_Check(both.ptr()) || nb::len(both) != 2)
      nb::raise_type_error("custom_vjp: the forward rule must return (result, residuals)");
    Tree::Leaves out, kept;
    *result    = Tree::of(nb::object(both[0]), out);
    *residuals = Tree::of(nb::object(both[1]), kept);
    return bt::ForwardPass{tensors_of(out, "custom_vjp"), tensors_of(kept, "custom_vjp")};
  };
  const auto backward = [f = hold(bwd), residuals, result](const bt::Tensors& kept, const bt::Tensors& ct) {
    WithGil    gil;
    nb::object cts = nb::handle(f.get())(residuals->unflatten(kept), result->unflatten(ct));
    if (!PyTuple_Check(cts.ptr()))
      nb::raise_type_error("custom_vjp: the backward rule must return a tuple with one cotangent per argument");
    Tree::Leaves leaves;
    Tree::of(cts, leaves);
    return tensors_of(leaves, "custom_vjp");
  };
  const bt::Tensors out = bt::custom_vjp(call.function(), forward, backward)(call.leaves());
  return call.rebuild(out);
}

// A Python function on NumPy arrays inside a program.
nb::object call_host(nb::handle f, nb::handle results, const nb::args& args) {
  Tree::Leaves shapes, leaves;
  const Tree   out = Tree::of(results, shapes);
  Tree::of(args, leaves);
  bt::Types types;
  for (const nb::object& s : shapes) types.push_back(bt::Type{dtype_from(s.attr("dtype")), ints_from(s.attr("shape"))});
  const bt::Tensors in   = tensors_of(leaves, "pure_callback");
  const auto        host = [f = hold(f), types, out](const bt::Arrays& xs) {
    WithGil  gil;
    nb::list given;
    for (const bt::Array& x : xs) given.append(numpy_of(bt::Tensor(x)));
    Tree::Leaves made;
    const Tree   result = Tree::of(nb::handle(f.get())(*given), made);
    if (!(result == out)) structure_error("pure_callback", "the result", out, result);
    bt::Arrays arrays;
    for (const bt::Tensor& t : tensors_of(made, "pure_callback")) arrays.push_back(t.array().copy());
    return arrays;
  };
  return out.unflatten(bt::host_call(host, in, types));
}

}  // namespace

void bind_transforms(nb::module_& m) {
  nb::class_<Jitted>(m, "Jitted", nb::type_slots(jitted_slots), nb::dynamic_attr(), nb::is_weak_referenceable(),
                     "A function that is compiled once per signature.")
      .def("__call__", &Jitted::call, "args"_a, "kwargs"_a)
      .def_prop_ro("num_traces", &Jitted::num_traces, "Number of times the function was traced.")
      .def_prop_ro("__wrapped__", &Jitted::function);
  m.def(
      "make_jitted",
      [](nb::object f, nb::handle nums, std::vector<std::string> names) {
        return new Jitted(std::move(f), ints_from(nums), std::move(names));
      },
      "f"_a, "static_argnums"_a, "static_argnames"_a, nb::rv_policy::take_ownership);
  m.def(
      "differentiate",
      [](const std::string& where, nb::handle f, nb::tuple args, nb::dict kwargs, nb::handle argnums,
         nb::handle states) {
        return differentiate(where.c_str(), f, nb::borrow<nb::args>(args), nb::borrow<nb::kwargs>(kwargs),
                             ints_from(argnums), states);
      },
      "where"_a, "f"_a, "args"_a, "kwargs"_a, "argnums"_a, "states"_a.none());
  m.def(
      "mapped",
      [](nb::handle f, nb::tuple args, nb::dict kwargs, nb::handle in_axes, int64_t out_axis,
         std::optional<int64_t> size, nb::handle states) {
        return mapped(f, nb::borrow<nb::args>(args), nb::borrow<nb::kwargs>(kwargs), in_axes, out_axis, size, states);
      },
      "f"_a, "args"_a, "kwargs"_a, "in_axes"_a.none(), "out_axis"_a, "size"_a.none(), "states"_a.none());
  m.def("scan", &run_scan, "f"_a, "init"_a.none(), "xs"_a.none(), "length"_a = -1, "reverse"_a = false);
  m.def(
      "for_loop",
      [](nb::handle f, nb::tuple xs, bool reverse) { return run_for(f, nb::borrow<nb::args>(xs), reverse); }, "f"_a,
      "xs"_a, "reverse"_a = false);
  m.def(
      "cond",
      [](Arg pred, nb::handle t, nb::handle f, nb::tuple args) {
        return choose(pred, t, f, nb::borrow<nb::args>(args));
      },
      "pred"_a, "true_fun"_a, "false_fun"_a, "args"_a);
  m.def("while_loop", &run_while, "cond_fun"_a, "body_fun"_a, "init_val"_a.none(), "max_steps"_a = 0);
  m.def(
      "custom_vjp",
      [](nb::handle f, nb::handle fwd, nb::handle bwd, nb::tuple args) {
        return call_custom_vjp(f, fwd, bwd, nb::borrow<nb::args>(args));
      },
      "f"_a, "fwd"_a, "bwd"_a, "args"_a);
  m.def(
      "host_call",
      [](nb::handle f, nb::handle results, nb::tuple args) {
        return call_host(f, results, nb::borrow<nb::args>(args));
      },
      "f"_a, "results"_a, "args"_a);
  m.def("jvp", &run_jvp, "f"_a, "primals"_a, "tangents"_a);
  m.def(
      "vjp", [](nb::handle f, nb::tuple primals) { return run_vjp(f, nb::borrow<nb::args>(primals)); }, "f"_a,
      "primals"_a);
  m.def(
      "jacobian",
      [](nb::handle f, nb::tuple args, int64_t argnum, bool forward) {
        return run_jacobian(f, nb::borrow<nb::args>(args), argnum, forward);
      },
      "f"_a, "args"_a, "argnum"_a, "forward"_a);
}

}  // namespace pybraintrace
