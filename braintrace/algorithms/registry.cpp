// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/registry.h"

#include <algorithm>
#include <cctype>
#include <deque>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/rtrl.h"
#include "braintrace/base/ascii.h"
#include "braintrace/base/lists.h"
#include "braintrace/base/nearest.h"

namespace braintrace {

namespace {

ETraceConfig factorized(const TraceDecay& decay) {
  return ETraceConfig({.trace_factorization = TraceFactorization::IoFactorized, .decay = OneOrPair(decay.x, decay.f)});
}

std::deque<Algorithm> built_in() {
  return {
      {.name           = "D_RTRL",
       .doc            = "one trace per weight; exact for block-diagonal recurrence",
       .options        = {"trace_dtype"},
       .config         = [](const RuleOptions&) { return ETraceConfig(); },
       .form           = RuleForm::Window,
       .rank           = 1,
       .representative = true},
      {.name    = "ES_D_RTRL",
       .aliases = {"pp_prop", "esd_rtrl"},
       .doc     = "a filtered input times a filtered sensitivity; memory of inputs and outputs only",
       .options = {"decay_or_rank"},
       .config  = [](const RuleOptions& o) { return factorized(o.decay_or_rank.value_or(IODimOptions().decay)); },
       .usual =
           [](uint64_t) {
             return UsualOptions{{.decay_or_rank = TraceDecay::decay(0.9)}, "decay 0.9"};
           },
       .rank           = 6,
       .representative = true},
      {.name    = "EProp",
       .aliases = {"e_prop"},
       .doc     = "D_RTRL with a filtered trace and, optionally, random feedback",
       .options = {"kappa_filter_decay", "feedback", "trace_dtype"},
       .config =
           [](const RuleOptions& o) {
             return ETraceConfig(
                 {.learning_signal = o.feedback ? SignalSource::RandomFeedback : SignalSource::Symmetric,
                  .trace_filter    = TraceFilter::Kappa,
                  .kappa           = o.kappa_filter_decay.value_or(0)});
           },
       .usual =
           [](uint64_t) {
             return UsualOptions{{.kappa_filter_decay = 0.5}, "kappa 0.5"};
           },
       .rank = 2},
      {.name    = "OSTLRecurrent",
       .aliases = {"ostl_recurrent"},
       .doc     = "D_RTRL with the true diagonal blocks of the whole transition",
       .options = {"trace_dtype"},
       .config  = [](const RuleOptions&) { return ETraceConfig({.recurrence_scope = RecurrenceScope::Coupled}); },
       .rank    = 3},
      {.name    = "OSTLFeedforward",
       .aliases = {"ostl_feedforward"},
       .doc     = "ES_D_RTRL with immediate decay (1e-6)",
       .options = {"decay_or_rank"},
       .config  = [](const RuleOptions& o) { return factorized(o.decay_or_rank.value_or(TraceDecay::decay(1e-6))); },
       .rank    = 7},
      {.name    = "SnAp",
       .doc     = "traces over all states that a weight reaches within n steps (n = 2)",
       .options = {"n", "trace_dtype"},
       .config =
           [](const RuleOptions& o) {
             return ETraceConfig({.recurrence_scope = RecurrenceScope::SparseN, .sparse_n = o.n.value_or(2)});
           },
       .usual =
           [](uint64_t) {
             return UsualOptions{{.n = 2}, "n 2"};
           },
       .rank = 4},
      {.name    = "UORO",
       .doc     = "a random rank-one estimate of the full influence; unbiased inside a group, noisy",
       .options = {"projection_key", "projection_eps"},
       .config =
           [](const RuleOptions&) {
             return ETraceConfig({.trace_factorization = TraceFactorization::RandomProjection,
                                  .recurrence_scope    = RecurrenceScope::Coupled});
           },
       .usual =
           [](uint64_t seed) {
             return UsualOptions{{.projection_key = seed}, "one draw"};
           },
       .rank = 8},
      {.name    = "ThreeFactor",
       .aliases = {"three_factor"},
       .doc     = "D_RTRL traces with a modulator that you provide, such as a reward",
       .options = {"modulator", "trace_dtype"},
       .config  = [](const RuleOptions&) { return ETraceConfig({.learning_signal = SignalSource::Modulatory}); }},
      {.name    = "DNI",
       .doc     = "D_RTRL with a learned estimate of the credit after each window",
       .options = {"trace_dtype"},
       .config  = [](const RuleOptions&) { return ETraceConfig({.learning_signal = SignalSource::Bootstrapped}); }},
      {.name = "RTRL",
       .doc  = "the full influence of every weight on every state; exact, for small networks",
       .rule = []() -> std::shared_ptr<const LearningRule> { return std::make_shared<RtrlRule>(); },
       .rank = 5},
      {.name           = "BPTT",
       .doc            = "reverse mode inside each window; nothing passes between windows",
       .rule           = []() -> std::shared_ptr<const LearningRule> { return std::make_shared<BpttRule>(); },
       .form           = RuleForm::WindowOnly,
       .representative = true},
  };
}

struct Table {
  std::deque<Algorithm>         all      = built_in();
  const size_t                  own_from = all.size();
  std::vector<const Algorithm*> listed;  // without replaced ones

  Table() {
    for (const Algorithm& a : all) listed.push_back(&a);
  }
};
Table& table() {
  static Table t;
  return t;
}

std::string lower(std::string text) {
  for (char& c : text) c = to_lower(c);
  return text;
}

std::vector<std::string> spellings(const Algorithm& a) { return joined(std::vector{a.name}, a.aliases); }

bool is_given(const Tensor& option) { return option.defined(); }
template <class T>
bool is_given(const std::optional<T>& option) {
  return option.has_value();
}

}  // namespace

std::vector<std::reference_wrapper<const Algorithm>> algorithms() {
  std::vector<std::reference_wrapper<const Algorithm>> out;
  for (const Algorithm* a : table().listed) out.push_back(*a);
  return out;
}

void register_algorithm(Algorithm algorithm) {
  auto&  listed = table().listed;
  size_t place  = listed.size();
  for (size_t i = 0; i < listed.size(); ++i) {
    const bool is_own = i >= table().own_from;
    if (is_own && lower(listed[i]->name) == lower(algorithm.name)) {
      place = i;
      continue;
    }
    for (const std::string& known : spellings(*listed[i]))
      for (const std::string& wanted : spellings(algorithm))
        require(lower(known) != lower(wanted),
                "register_algorithm: there is a {}rule '{}' already; choose another name.", is_own ? "" : "built-in ",
                known);
  }
  require((algorithm.config == nullptr) != (algorithm.rule == nullptr),
          "register_algorithm: {} needs either a point in the axis space or a function that makes its rule.",
          algorithm.name);
  const Algorithm* added = &table().all.emplace_back(std::move(algorithm));
  if (place == listed.size())
    listed.push_back(added);
  else
    listed[place] = added;
}

const Algorithm& algorithm_named(const std::string& name) {
  const std::string        wanted = lower(name);
  std::vector<std::string> known;
  for (const Algorithm& a : algorithms())
    for (const std::string& s : spellings(a)) {
      if (lower(s) == wanted) return a;
      known.push_back(s);
    }
  require(wanted != "ostl", "algorithm '{}': OSTL has two forms.\n  Use OSTLRecurrent or OSTLFeedforward.", name);
  fail(ErrorKind::Name, "there is no algorithm '{}'{}\n  Known: {}.", name, hint(name, known), fmt::join(known, ", "));
}

std::vector<std::string> representative_algorithms() {
  std::vector<std::string> out;
  for (const Algorithm& a : algorithms())
    if (a.representative) out.push_back(a.name);
  return out;
}

bool Algorithm::has_trace_per_weight() const {
  return config && config({})->trace_factorization == TraceFactorization::PerParam;
}

std::unique_ptr<OnlineLearner> Algorithm::learner(Module& model, const RuleOptions& o) const {
  for_each_option(o, [&](const char* option, const auto& value) {
    if (!is_given(value) || contains(options, option)) return;
    std::vector<std::string> takers;
    for (const Algorithm& a : algorithms())
      if (contains(a.options, option)) takers.push_back(a.name);
    fail("{}: it has no option {}, which is for {}.\n  {}.", name, option, fmt::join(takers, ", "),
         options.empty() ? "It takes no options" : fmt::format("Its options: {}", fmt::join(options, ", ")));
  });
  if (config) {
    const ETraceConfig point = config(o);
    RuleOptions        rest  = o;  // without the coordinates
    rest.decay_or_rank.reset();
    rest.kappa_filter_decay.reset();
    rest.n.reset();
    return make_learner(model, point, rest, name);
  }
  const auto      made   = rule();
  const VjpMethod method = made->method(o.vjp_method.value_or(VjpMethod::SingleStep));
  require(!o.vjp_method || method == *o.vjp_method, "{}: its vjp_method is '{}', got '{}'.", name, to_string(method),
          to_string(o.vjp_method.value_or(method)));
  return std::make_unique<OnlineLearner>(
      model, made,
      LearnerOptions{.vjp_method = method, .compile = o.compile, .name = o.name, .check_finite = o.check_finite});
}

std::string list_of_algorithms() {
  std::string out;
  for (const Algorithm& a : algorithms()) {
    out += fmt::format("{:<16} {}\n", a.name, a.doc);
    if (!a.aliases.empty()) out += fmt::format("{:<16}   also: {}\n", "", fmt::join(a.aliases, ", "));
    if (!a.options.empty()) out += fmt::format("{:<16}   takes: {}\n", "", fmt::join(a.options, ", "));
  }
  return out;
}

}  // namespace braintrace
