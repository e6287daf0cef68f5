// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/optimizer.h"

#include <cmath>

#include <fmt/format.h>

namespace braintrace::train {

using zoo::Fields;

namespace {

using MakeSchedule  = optim::Schedule (*)(const Fields&, double lr);
using MakeOptimizer = std::unique_ptr<optim::Optimizer> (*)(const Fields&, optim::Schedule, optim::Common);

const Option every = {"every=1", "updates between two changes of the rate; the unit of the other numbers"};

const std::vector<Kind<MakeSchedule>>& schedules() {
  static const std::vector<Kind<MakeSchedule>> all = {
      {"step",
       "`lr γ^⌊e/size⌋`",
       {"schedule step", {{"size", "length of a step"}, {"gamma=0.1", "factor γ"}, every}},
       [](const Fields& f, double lr) { return optim::step_lr(lr, f.integer("size"), f.number("gamma")); }},
      {"exponential",
       "`lr γ^e`",
       {"schedule exponential", {{"gamma", "factor γ"}, every}},
       [](const Fields& f, double lr) { return optim::exponential_lr(lr, f.number("gamma")); }},
      {"cosine",
       "from `lr` to `least` along half a cosine",
       {"schedule cosine", {{"length", "length of the decay"}, {"least=0", "final rate"}, every}},
       [](const Fields& f, double lr) {
         return optim::cosine_annealing_lr(lr, f.integer("length"), f.number("least"));
       }},
      {"warmup_cosine",
       "linearly from 0 to `lr`, then as `cosine`",
       {"schedule warmup_cosine",
        {{"warmup", "length of the warmup"}, {"length", "total length"}, {"least=0", "final rate"}, every}},
       [](const Fields& f, double lr) {
         return optim::warmup_cosine_lr(lr, f.integer("warmup"), f.integer("length"), f.number("least"));
       }},
      {"linear",
       "linearly from `lr first` to `lr last`",
       {"schedule linear",
        {{"first=1.0", "initial factor"}, {"last=0.0", "final factor"}, {"length", "length of the ramp"}, every}},
       [](const Fields& f, double lr) {
         return optim::linear_lr(lr, f.number("first"), f.number("last"), f.integer("length"));
       }},
  };
  return all;
}

const std::vector<Option> common_options = {
    {"lr=0.001", "learning rate"},
    {"clip_norm?", "largest norm of the whole gradient"},
    {"clip_value?", "largest entry of the gradient"},
    {"weight_decay=0", "weight decay λ; adds λ·w to the gradient (decoupled in adamw and lion)"},
    {"average?", "evaluate with an average of the weights over about this many updates"},
    {"schedule?", "an object with `type`, below; the rate is constant without one"}};

Section with_common(const char* name, std::vector<Option> own) {
  own.insert(own.begin(), common_options.begin(), common_options.end());
  return {std::string("optimizer ") + name, std::move(own)};
}

optim::AdamOptions adam_options(const Fields& f, const optim::Common& c) {
  return {f.number("beta1"), f.number("beta2"), f.number("eps"), f.flag("amsgrad"), c};
}

const std::vector<Kind<MakeOptimizer>>& optimizers() {
  static const Option beta1                         = {"beta1=0.9", "decay of the mean of the gradient"},
                      beta2                         = {"beta2=0.999", "decay of the mean square"},
                      eps                           = {"eps=1e-8", "added to the root mean square"},
                      amsgrad                       = {"amsgrad=false", "use the largest mean square so far"},
                      rho                           = {"rho=0.9", "decay of the mean square"};
  static const std::vector<Kind<MakeOptimizer>> all = {
      {"sgd", "gradient descent",
       with_common("sgd", {{"momentum=0", "decay of past gradients"}, {"nesterov=false", "use Nesterov momentum"}}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::SGD>(std::move(lr),
                                             optim::SGDOptions{f.number("momentum"), f.flag("nesterov"), c});
       }},
      {"adam", "Kingma & Ba 2015", with_common("adam", {beta1, beta2, eps, amsgrad}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::Adam>(std::move(lr), adam_options(f, c));
       }},
      {"adamw", "Adam with decoupled decay", with_common("adamw", {beta1, beta2, eps, amsgrad}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::AdamW>(std::move(lr), adam_options(f, c));
       }},
      {"rmsprop", "Hinton 2012", with_common("rmsprop", {rho, eps}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::RMSProp>(std::move(lr),
                                                 optim::RMSPropOptions{f.number("rho"), f.number("eps"), c});
       }},
      {"adagrad", "Duchi et al. 2011",
       with_common("adagrad", {{"eps=1e-10", "added to the root of the sum of squares"}}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::Adagrad>(std::move(lr), optim::AdagradOptions{f.number("eps"), c});
       }},
      {"lion", "Chen et al. 2023", with_common("lion", {beta1, {"beta2=0.99", "decay of the momentum"}}),
       [](const Fields& f, optim::Schedule lr, optim::Common c) -> std::unique_ptr<optim::Optimizer> {
         return std::make_unique<optim::Lion>(std::move(lr),
                                              optim::LionOptions{f.number("beta1"), f.number("beta2"), c});
       }},
  };
  return all;
}

}  // namespace

ordered_json filled_optimizer(const ordered_json& object, const std::string& path) {
  ordered_json given = object;
  if (given.is_object() && !given.contains("type")) given["type"] = "adam";
  ordered_json out = kind_of(optimizers(), given, path).section.filled(given, path);
  if (out.contains("schedule"))
    out["schedule"] =
        kind_of(schedules(), out["schedule"], path + ".schedule").section.filled(out["schedule"], path + ".schedule");
  return out;
}

OptimizerAndPace make_optimizer(const ordered_json& filled, const std::string& path) {
  const nlohmann::json object = filled;
  const auto&          kind   = kind_of(optimizers(), filled, path);
  const Fields         f      = kind.section.fields(object, path);
  const double         lr     = f.number("lr");
  if (!(lr > 0) || !std::isfinite(lr)) f.refuse("lr", fmt::format("expected a positive number, got {}.", lr));
  OptimizerAndPace out;
  optim::Schedule  rate(lr);
  if (f.has("schedule")) {
    const auto&          schedule = kind_of(schedules(), filled["schedule"], path + ".schedule");
    const nlohmann::json inner    = filled["schedule"];
    const Fields         s        = schedule.section.fields(inner, path + ".schedule");
    out.updates_per_epoch         = s.integer("every");
    rate                          = schedule.make(s, lr);
  }
  const int64_t       average = f.has("average") ? f.integer("average") : 0;
  const optim::Common common{f.number_if("clip_norm"), f.number_if("clip_value"), f.number("weight_decay"), average};
  out.optimizer = kind.make(f, rate, common);
  return out;
}

std::string optimizer_reference() {
  const std::string head = "| field | default | meaning |\n|---|---|---|\n";
  std::string       out  = "The fields that all optimizers share; the default `type` is `adam`:\n\n" + head;
  out += Section{"", common_options}.table();
  for (const auto& k : optimizers()) {
    const std::vector<Option> own(k.section.options.begin() + static_cast<int64_t>(common_options.size()),
                                  k.section.options.end());
    out += fmt::format("\nType `{}` ({}):\n\n{}{}", k.name, k.doc, head, Section{"", own}.table());
  }
  for (const auto& k : schedules())
    out += fmt::format("\n`optimizer.schedule` of type `{}`: {}\n\n{}{}", k.name, k.doc, head, k.section.table());
  return out;
}

}  // namespace braintrace::train
