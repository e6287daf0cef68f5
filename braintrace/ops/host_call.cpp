// SPDX-License-Identifier: Apache-2.0
// A program contains the number of the function, as an array that owns the function. So the function lives as long as
// any program that calls it, and programs are printed, compared and parsed as usual.
#include "braintrace/ops/host_call.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "braintrace/base/lists.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<Array> function_key{"function"};
constexpr Key<Ints>  results_key{"results"};  // of each result: element type, rank, sizes
constexpr Key<Ints>  lanes_key{"lanes"};      // leading axes of all operands and results that the function does not see

struct Known {
  int64_t      number;
  HostFunction f;
};

class HostFunctions {
 public:
  std::shared_ptr<const Known> add(HostFunction f) {
    std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    const auto made = std::make_shared<const Known>(Known{next_++, std::move(f)});
    known_.emplace(made->number, made);
    return made;
  }
  std::shared_ptr<const Known> find(int64_t number) {
    std::lock_guard lock(mutex_);
    const auto      it = known_.find(number);
    return it == known_.end() ? nullptr : it->second.lock();
  }

 private:
  ProcessMutex                                            mutex_;
  int64_t                                                 next_ = 0;
  std::unordered_map<int64_t, std::weak_ptr<const Known>> known_;
};
HostFunctions& host_functions() {
  static auto* t = new HostFunctions;  // never destroyed: functions may outlive static objects
  return *t;
}

Attrs attrs_of(HostFunction f, const Types& out) {
  const auto known = host_functions().add(std::move(f));
  Ints       results;
  for (const Type& t : out) {
    results.push_back(static_cast<int64_t>(t.dtype));
    results.push_back(t.rank());
    results.insert(results.end(), t.shape.begin(), t.shape.end());
  }
  return {{function_key, Array::borrow({DType::I64, {}}, &known->number, known)},
          {results_key, results},
          {lanes_key, Ints{}}};
}

// Types of the results of one call. Program text may contain anything.
Types results_of(const Attrs& a) {
  const Ints&   text = a[results_key];
  const int64_t n    = static_cast<int64_t>(text.size());
  Types         out;
  for (int64_t i = 0; i < n;) {
    const bool    is_type = 0 <= text[i] && text[i] < static_cast<int64_t>(std::size(all_dtypes));
    const int64_t rank    = is_type && i + 1 < n ? text[i + 1] : -1;
    require(0 <= rank && rank <= n - i - 2, "host_call: the attribute results {} lists no types.", to_string(text));
    out.push_back({static_cast<DType>(text[i]), part(text, i + 2, i + 2 + rank)});
    i += 2 + rank;
  }
  return out;
}

Types host_infer(const Op& op, const Types& in, const Attrs& a) {
  const Ints& lanes = a[lanes_key];
  const auto  n     = static_cast<int64_t>(lanes.size());
  require(a[function_key].type() == Type{DType::I64, {}}, "{}: the attribute function must be one number.", op.name);
  for (const Type& t : in)
    require(t.rank() >= n && part(t.shape, 0, n) == lanes, ErrorKind::Shape,
            "{}: operands need the leading axes {}, got {}.", op.name, to_string(lanes), to_string(t));
  Types out = results_of(a);
  for (Type& t : out) {
    t.shape = joined(lanes, t.shape);
    require_shape(op, t.shape);
  }
  return out;
}

// Element `lane` of the folded leading axes, copied: the function may keep its arguments.
Array lane_of(const Array& x, int64_t lane, const Ints& lanes) {
  Array y({x.dtype(), part(x.shape(), static_cast<int64_t>(lanes.size()), static_cast<int64_t>(x.shape().size()))});
  std::memcpy(y.mutable_raw(), static_cast<const char*>(x.raw()) + static_cast<size_t>(lane) * y.bytes(), y.bytes());
  return y;
}

Arrays host_eval(const Op& op, const Arrays& in, const Attrs& a, const Types& out) {
  const auto known = host_functions().find(a[function_key].data<int64_t>()[0]);
  require(known != nullptr, ErrorKind::State,
          "{}: its function belongs to a program that has ended, or to another process.\n  Trace the program again.",
          op.name);
  const Types wanted = results_of(a);
  const Ints& lanes  = a[lanes_key];
  Arrays      results(out.begin(), out.end());
  for (int64_t lane = 0; lane < size_of(lanes); ++lane) {
    Arrays args;
    for (const Array& x : in) args.push_back(lane_of(x, lane, lanes));
    const Arrays given = known->f(args);
    require(given.size() == wanted.size(), "{}: the function returned {} result(s), expected {}.", op.name,
            given.size(), wanted.size());
    for (size_t i = 0; i < given.size(); ++i) {
      require(given[i].type() == wanted[i], given[i].dtype() == wanted[i].dtype ? ErrorKind::Shape : ErrorKind::DType,
              "{}: result {} of the function is {}, expected {}.", op.name, i, to_string(given[i].type()),
              to_string(wanted[i]));
      std::memcpy(static_cast<char*>(results[i].mutable_raw()) + static_cast<size_t>(lane) * given[i].bytes(),
                  given[i].raw(), given[i].bytes());
    }
  }
  return results;
}

Tensors host_batch(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  return apply(a.op, in, a.attrs.with(lanes_key, joined(Ints{a.size}, a.attrs[lanes_key])));
}

}  // namespace

constinit const Op host_call_op = {
    .name     = "host_call",
    .doc      = "results of a function of the host",
    .operands = "x...",
    .infer    = host_infer,
    .eval     = host_eval,
    .jvp      = [](const JvpArgs& a) -> Tensors {
      fail(
               "{}: functions of the host have no derivative.\n  Pass stop_gradient(x), or define the derivative with a "
                    "custom_vjp around it.",
               a.op.name);
    },
    .batch  = host_batch,
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      static const Attrs attrs = attrs_of(
          [](const Arrays& in) -> Arrays {
            const Integers       x(in[0]), y(in[1]);
            std::vector<int64_t> sums;
            for (int64_t i = 0; i < in[0].size(); ++i) sums.push_back(2 * x[i] + y[0]);
            return {from_integers({DType::I32, {3}}, sums), from_integers({DType::I64, {}}, {&sums[0], 1})};
          },
          {{DType::I32, {3}}, {DType::I64, {}}});
      return {{{Array::of<int32_t>({5, -1, 3}, {3}), Array::of<int32_t>({2}, {})}, attrs}};
    },
};

Tensors host_call(HostFunction f, const Tensors& in, const Types& out) {
  require(f != nullptr, "host_call: there is no function.");
  require(!out.empty(), "host_call: the function must return a result; a call without results would never run.");
  return apply(host_call_op, in, attrs_of(std::move(f), out));
}

const std::vector<const Op*>& host_ops() {
  static const std::vector<const Op*> ops = {&host_call_op};
  return ops;
}

}  // namespace braintrace
