// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/module.h"

#include <gtest/gtest.h>

#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {
namespace {

// A value that was read is not assignable: `h.value() = v` would have no effect.
static_assert(!std::is_assignable_v<decltype(std::declval<const HiddenState&>().value()), Tensor>);
static_assert(!std::is_assignable_v<decltype(std::declval<const ParamState&>().leaf("bias")), Tensor>);

struct Linear : Module {
  ParamState weight;
  Linear(int64_t n_in, int64_t n_out) : weight(Leaves{{"bias", zeros({n_out})}, {"weight", ones({n_in, n_out})}}) {
    field("in_size", fmt::format("({},)", n_in));
    field("out_size", fmt::format("({},)", n_out));
    field("w_mask", "None");
    state("weight", weight);
  }
  Tensor update(const Tensor& x) override { return dot(x, weight.leaf("weight")) + weight.leaf("bias"); }
};

struct Cell : Module {
  Linear      W;
  HiddenState h;
  Cell(int64_t n_in, int64_t n)
      : W(n_in, n), h([n](BatchSize b) {
          return Leaves{{"", zeros(b ? Shape{*b, n} : Shape{n})}};
        }) {
    children({{"W", W}});
    state("h", h);
  }
  Tensor update(const Tensor& x) override {
    h.set(tanh(W(x) + h.value()));
    return h.value();
  }
};

struct Stack : Module {
  std::vector<Cell> layers;
  Linear            out;
  explicit Stack(int n) : out(4, 2) {
    for (int i = 0; i < n; ++i) layers.emplace_back(4, 4);
    children({{"layers", layers}, {"out", out}});
  }
};

std::vector<std::string> paths(const StateMap& states) {
  std::vector<std::string> out;
  for (const auto& [path, state] : states) out.push_back(path.str());
  return out;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Module, PrintsAsTheDocumentsShow) {
  Cell cell(3, 4);
  EXPECT_EQ(to_string(cell), R"(Cell(
  W=Linear(
    in_size=(3,),
    out_size=(4,),
    w_mask=None,
    weight=ParamState(
      value={
        'bias': ShapedArray(float32[4]),
        'weight': ShapedArray(float32[3,4])
      }
    )
  ),
  h=HiddenState(
    value=None
  )
))");
  init_all_states(cell, {.batch_size = 2});
  EXPECT_NE(fmt::format("{}", cell).find("h=HiddenState(\n    value=ShapedArray(float32[2,4])\n  )"),
            std::string::npos);
  const std::string text = to_string(Stack(2));
  EXPECT_NE(text.find("layers=[\n    Cell(\n      W=Linear("), std::string::npos) << text;
  struct Empty : Module {};
  EXPECT_EQ(to_string(Empty()), "Empty()");
}

TEST(Module, PathsAreSortedWithListPositionsByNumber) {
  Stack      model(11);
  const auto all = paths(model.states());
  EXPECT_EQ(all.size(), 23u);
  EXPECT_EQ(all[0], "layers.0.W.weight");
  EXPECT_EQ(all[4], "layers.2.W.weight");
  EXPECT_EQ(all[20], "layers.10.W.weight");
  EXPECT_EQ(all[22], "out.weight");
  EXPECT_EQ(model.params().size(), 12u);
  EXPECT_EQ(model.states<HiddenState>().size(), 11u);
  EXPECT_EQ(model.states<LongTermState>().size(), 0u);
  EXPECT_EQ(model.state_at(Path::dotted("layers.3.h")), model.layers[3].h);
  EXPECT_NE(error_of([&] { model.state_at(Path{"nowhere"}); }).find("layers.3.h"), std::string::npos);
}

TEST(Module, ListsMayMixTypes) {
  struct Mixed : Module {
    std::vector<std::shared_ptr<Module>> parts{std::make_shared<Cell>(3, 4), std::make_shared<Linear>(4, 2)};
    Mixed() { children({{"parts", parts}}); }
  };
  EXPECT_EQ(paths(Mixed().states()), (std::vector<std::string>{"parts.0.W.weight", "parts.0.h", "parts.1.weight"}));
}

TEST(Module, SharedPartsAreListedOnce) {
  struct Tied : Module {
    Linear a{4, 4};
    Tied() { children({{"first", a}, {"second", a}}); }
  };
  EXPECT_EQ(paths(Tied().states()), (std::vector<std::string>{"first.weight"}));
}

TEST(Module, NamesMustBeUniqueAndCyclesAreRefused) {
  struct Twice : Module {
    Linear a{1, 1}, b{1, 1};
    Twice() { children({{"rnn", a}, {"rnn", b}}); }
  };
  EXPECT_NE(error_of([] { Twice t; }).find("'rnn' is used twice"), std::string::npos);
  struct Clash : Module {
    Linear a{1, 1};
    Clash() {
      children({{"x", a}});
      state("x", ParamState(zeros({1})));
    }
  };
  EXPECT_NE(error_of([] { Clash c; }).find("'x' is used twice"), std::string::npos);
  struct Loop : Module {
    Loop() { children({{"self", *this}}); }
  };
  EXPECT_NE(error_of([] { Loop l; }).find("cannot contain itself"), std::string::npos);
}

TEST(Module, InitAndResetByBatchSize) {
  Stack model(2);
  EXPECT_NE(error_of([&] { model.layers[1](ones({4})); }).find("state 'layers.1.h' (HiddenState) is read before"),
            std::string::npos);
  init_all_states(model, {.batch_size = 3});
  model.layers[1](ones({3, 4}));
  EXPECT_NE(at(model.layers[1].h.value().array(), 0), 0);
  reset_all_states(model);
  EXPECT_EQ(model.layers[1].h.value().type(), (Type{DType::F32, {3, 4}}));
  EXPECT_EQ(at(model.layers[1].h.value().array(), 0), 0);
  reset_all_states(model, {.batch_size = 5});
  EXPECT_EQ(model.layers[0].h.value().shape(), (Shape{5, 4}));
  init_all_states(model);
  EXPECT_EQ(model.layers[0].h.value().shape(), (Shape{4}));
  EXPECT_THROW(init_all_states(model, {.batch_size = 0}), UserError);
}

TEST(Module, EquationsCarryThePathOfTheirModule) {
  struct Probe : Module {
    std::string seen;
    Tensor      update(const Tensor& x) override {
      seen = NoteScope::current();
      return x;
    }
  };
  struct Outer : Module {
    Probe probe;
    Outer() { children({{"probe", probe}}); }
    Tensor update(const Tensor& x) override { return probe(x); }
  };
  Outer outer;
  outer(ones({1}));
  EXPECT_EQ(outer.probe.seen, "probe");
}

TEST(State, LeavesAreCheckedByName) {
  Linear l(2, 3);
  EXPECT_NE(error_of([&] { l.weight.leaf("wieght"); }).find("has no leaf 'wieght'; it has: bias, weight"),
            std::string::npos);
  EXPECT_NE(error_of([&] { l.weight.set(zeros({2})); }).find("has no leaf ''"), std::string::npos);
  EXPECT_THROW(l.weight.set_leaf("bias", Tensor()), UserError);
  EXPECT_EQ(l.weight.leaf("bias").shape(), (Shape{3}));
}

TEST(State, TreeStatesHaveNamedSlots) {
  const HiddenTreeState s(Tensor(Array::of<float>({1, 2, 3, 4}, {2, 2})), {"v", "a"});
  EXPECT_EQ(at(s.slot("a").array(), 1), 4);
  EXPECT_NE(error_of([&] { s.slot("u"); }).find("it has: v, a"), std::string::npos);
}

// Registers what a test passes to it.
struct Careless : Module {
  ParamState  w{ones({3})};
  HiddenState h{zeros({3})};
  Cell        cell{3, 3};
  Careless(bool with_w, bool with_h, bool with_cell) {
    if (with_w) state("w", w);
    if (with_h) state("h", h);
    if (with_cell) children({{"cell", cell}});
    cell.h.init({});
  }
  Tensor update(const Tensor& x) override {
    h.set(h.value() + w.value() * x);
    return cell(h.value());
  }
};

std::string error_of_update(Careless model) {
  try {
    model(ones({3}));
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Module, WhatAnUpdateUsesMustBeRegistered) {
  EXPECT_EQ(error_of_update({true, true, true}), "");
  const std::string param = error_of_update({false, true, true}), hidden = error_of_update({true, false, true}),
                    child = error_of_update({true, true, false});
  for (const char* phrase : {"a ParamState f32[3]", "update of Careless", "state(\"name\", member)", "learned"})
    EXPECT_NE(param.find(phrase), std::string::npos) << param;
  EXPECT_NE(hidden.find("a HiddenState f32[3]"), std::string::npos) << hidden;
  for (const char* phrase : {"Cell: the update of Careless calls it", "children({{\"name\", member}})"})
    EXPECT_NE(child.find(phrase), std::string::npos) << child;
}

TEST(Module, AnUpdateMayMakeStatesAndModulesOfItsOwn) {
  struct Maker : Module {
    Tensor update(const Tensor& x) override {
      Careless inside(false, false, false);
      inside.h.set(x);
      return inside(x);
    }
  } maker;
  EXPECT_EQ(maker(ones({3})).shape(), Shape({3}));
}

TEST(State, MadeFromAValueStartsFromItAgain) {
  struct Model : Module {
    HiddenState    h     = state("h", HiddenState(ones({2})));
    ShortTermState count = state("count", ShortTermState(Tensor(Type{DType::I32, {}}, 3)));
    ParamState     w     = state("w", ParamState(zeros({2})));
    LongTermState  total = state("total", LongTermState(zeros({2})));
  } model;
  const auto set_all = [&] {
    for (const State& s : std::vector<State>{model.h, model.w, model.total}) s.set(full({2}, 7));
    model.count.set(Tensor(Type{DType::I32, {}}, 7));
  };
  set_all();
  reset_all_states(model);
  EXPECT_EQ(at(model.h.value().array(), 1), 1);
  EXPECT_EQ(model.count.value().item(), 3);
  EXPECT_EQ(at(model.w.value().array(), 1), 7);
  EXPECT_EQ(at(model.total.value().array(), 1), 7);

  init_all_states(model, {.batch_size = 4});
  EXPECT_EQ(model.h.value().shape(), Shape({4, 2}));
  EXPECT_EQ(model.count.value().rank(), 0);
  EXPECT_EQ(model.w.value().shape(), Shape({2}));
  reset_all_states(model);
  EXPECT_EQ(model.h.value().shape(), Shape({4, 2}));
  init_all_states(model);
  EXPECT_EQ(model.h.value().shape(), Shape({2}));
}

// Two locations never have the same dotted path, and no name needs escaping in a text.
TEST(Module, NamesHaveAnAlphabet) {
  struct Named : Module {
    explicit Named(const std::string& name) { state(name, HiddenState(zeros({1}))); }
  };
  for (const char* good : {"h", "layer_1", "a-b", "0", "W"}) EXPECT_EQ(error_of([&] { Named m(good); }), "no error");
  for (const char* bad : {"a.b", "a b", "a\"b", "*/", "a\nb", "\x1b[2J", "..", "/", "\xC3\xA4", ""})
    EXPECT_NE(error_of([&] { Named m(bad); }).find("name"), std::string::npos) << bad;
  EXPECT_NE(error_of([&] { Named m(std::string(101, 'a')); }), "no error");
}

// Parts that are added, removed and replaced at run time.

struct Named : Module {
  std::string name;
  explicit Named(std::string n) : name(std::move(n)) {}
  std::string type_name() const override { return name; }
};

TEST(DynamicModule, PartsAreSetReplacedAndErasedByName) {
  Named      model("Net");
  Linear     first(2, 2), second(3, 3);
  ParamState w(ones({2}));
  model.set_child("out", first);
  model.set_state("w", w);
  model.set_field("size", "2");
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"out.weight", "w"}));
  model.set_child("out", second);  // its position in the order does not change
  EXPECT_EQ(model.part_names(), (std::vector<std::string>{"out", "w", "size"}));
  EXPECT_EQ(model.setting("size") + model.setting("w") + model.setting("none"), "2");
  EXPECT_EQ(model.state_at(Path::dotted("out.weight")), second.weight);
  model.set_child("w", first);  // a module may replace a state
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"out.weight", "w.weight"}));
  EXPECT_TRUE(model.erase("out"));
  EXPECT_FALSE(model.erase("out"));
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"w.weight"}));
  EXPECT_NE(error_of([&] { model.set_state("a.b", w); }).find("cannot be a name"), std::string::npos);
  const std::string error = error_of([&] { model.set_state(std::string(5000, 'x'), w); });
  EXPECT_NE(error.find("at most 100 of the letters"), std::string::npos) << error;
  EXPECT_LT(error.size(), 300u);
  EXPECT_NE(error_of([&] { model.set_child("self", model); }).find("cannot contain itself"), std::string::npos);
}

TEST(DynamicModule, WhatIsErasedIsUnknownUnlessAnotherPlaceHoldsIt) {
  Careless   model(true, true, true);
  const auto error = [&] { return error_of([&] { model(ones({3})); }); };
  EXPECT_EQ(error(), "no error");
  model.set_state("again", model.h);
  model.erase("h");
  EXPECT_EQ(error(), "no error");
  EXPECT_EQ(model.h.place(), "state 'again'");
  model.erase("again");
  EXPECT_NE(error().find("no module has registered it"), std::string::npos) << error();
  model.set_state("h", model.h);
  Named other("Other");
  other.set_child("shared", model.cell);
  model.erase("cell");
  EXPECT_EQ(error(), "no error");
  other.erase("shared");
  EXPECT_NE(error().find("it is not a registered child"), std::string::npos) << error();
}

TEST(DynamicModule, ListsAreNodesAndHoldModulesStatesAndLists) {
  Named      model("Net");
  ModuleList outer, inner;
  Linear     a(1, 1), b(2, 2);
  inner.set_child("0", b);
  outer.set_child("0", a);
  outer.set_state("1", HiddenState(zeros({2})));
  outer.set_child("2", inner);
  model.set_child("parts", outer);
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"parts.0.weight", "parts.1", "parts.2.0.weight"}));
  EXPECT_EQ(b.weight.place(), "state 'parts.2.0.weight'");
  const std::string text = to_string(model);
  EXPECT_NE(text.find("Net(\n  parts=[\n    Linear("), std::string::npos) << text;
  EXPECT_NE(error_of([&] { inner.set_child("1", model); }).find("cannot contain itself"), std::string::npos);
}

TEST(DynamicModule, ClassesNameThemselves) {
  struct Outer : Named {
    Named part{"Part"};
    Outer() : Named("Outer") { children({{"part", part}}); }
    Tensor update(const Tensor& x) override { return part(x); }
  } model;
  EXPECT_EQ(to_string(model), "Outer(\n  part=Part()\n)");
  const std::string error = error_of([&] { model(ones({1})); });
  for (const char* phrase : {"Part: it does not define update(x)", "in part (Part)", "in the model (Outer)"})
    EXPECT_NE(error.find(phrase), std::string::npos) << error;
}

// Keeps its parts in its own list, as classes of other languages do.
struct Lazy : Module {
  std::vector<std::shared_ptr<Module>> parts;
  void                                 refresh() override {
    for (size_t i = 0; i < parts.size(); ++i) set_child(std::to_string(i), *parts[i]);
    for (const std::string& name : part_names())
      if (std::stoul(name) >= parts.size()) erase(name);
  }
  Tensor update(const Tensor& x) override {
    Tensor y = x;
    for (const auto& p : parts) y = (*p)(y);
    return y;
  }
};

TEST(DynamicModule, RefreshIsCalledWhereverPartsAreLookedAt) {
  struct Outer : Module {
    Lazy lazy;
    Outer() { children({{"lazy", lazy}}); }
    Tensor update(const Tensor& x) override { return lazy(x); }
  } model;
  EXPECT_TRUE(model.states().empty());
  model.lazy.parts.push_back(std::make_shared<Linear>(3, 3));
  EXPECT_EQ(model(ones({3})).shape(), Shape({3}));  // the child is registered
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"lazy.0.weight"}));
  model.lazy.parts.push_back(std::make_shared<Cell>(3, 3));
  init_all_states(model);
  EXPECT_NE(to_string(model).find("1=Cell("), std::string::npos);
  model.lazy.parts.pop_back();
  EXPECT_EQ(paths(model.states()), (std::vector<std::string>{"lazy.0.weight"}));
}

// Hooks run on the current object of the module: copies are the same module, and the first may no longer exist.
TEST(DynamicModule, HooksOutliveTheObjectThatWasRegistered) {
  struct Outer : Module {
    Lazy lazy;
    Outer() { children({{"lazy", lazy}}); }
  };
  auto        first = std::make_unique<Outer>();
  const Outer copy  = *first;
  first.reset();
  const_cast<Outer&>(copy).lazy.parts.push_back(std::make_shared<Linear>(3, 3));
  EXPECT_EQ(paths(copy.states()), (std::vector<std::string>{"lazy.0.weight"}));
}

struct Starts : Module {
  HiddenState               h = state("h", HiddenState(zeros({2})));
  std::vector<std::string>* log;
  std::string               name;
  explicit Starts(std::vector<std::string>* l, std::string n) : log(l), name(std::move(n)) {}
  void init_state(BatchSize batch) override {
    log->push_back(fmt::format("{} {}", name, batch.value_or(0)));
    h.set(h.value() + 1.0);
    set_state("made", HiddenState([](BatchSize b) { return Leaves{{"", ones(b ? Shape{*b} : Shape{})}}; }));
  }
};

TEST(DynamicModule, InitHooksComeAfterTheFirstValuesAndPartsBeforeTheWhole) {
  struct Outer : Starts {
    Starts part;
    explicit Outer(std::vector<std::string>* log) : Starts(log, "outer"), part(log, "part") {
      children({{"part", part}, {"again", part}});
    }
  };
  std::vector<std::string> log;
  Outer                    model(&log);
  init_all_states(model, {.batch_size = 3});
  EXPECT_EQ(log, (std::vector<std::string>{"part 3", "outer 3"}));
  EXPECT_EQ(at(model.part.h.value().array(), 0), 1);
  EXPECT_EQ(model.part.h.value().shape(), Shape({3, 2}));
  EXPECT_EQ(model.state_at(Path{"made"}).value().shape(), Shape({3}));
  reset_all_states(model);
  EXPECT_EQ(log, (std::vector<std::string>{"part 3", "outer 3", "part 3", "outer 3"}));
  EXPECT_EQ(at(model.h.value().array(), 0), 1);
}

}  // namespace
}  // namespace braintrace
