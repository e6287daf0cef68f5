// SPDX-License-Identifier: Apache-2.0
#include "examples/support.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <new>

#include "braintrace/runtime/backend.h"
#include "braintrace/viz/svg.h"

namespace examples {

Flags::Flags(int argc, char** argv, const std::map<std::string, Default>& defaults) {
  std::map<std::string, Default> known = defaults;
  known.emplace("plot", "");
  known.emplace("seed", "42");
  const auto usage = [&](int code, const std::string& complaint) {
    std::FILE* to = code == 0 ? stdout : stderr;
    if (!complaint.empty()) fmt::print(to, "{}\n", complaint);
    fmt::print(to, "usage: {} [--quick]", argv[0]);
    for (const auto& [name, d] : known) fmt::print(to, " [--{} {}]", name, d.full.empty() ? "..." : d.full);
    fmt::print(to, "\n");
    std::exit(code);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i], name = flag.substr(std::min<size_t>(2, flag.size()));
    if (flag == "--help") usage(0, "");
    if (flag == "--quick") {
      quick_ = true;
      continue;
    }
    if (!flag.starts_with("--") || !known.contains(name)) usage(2, fmt::format("'{}' is not a flag.", flag));
    if (i + 1 == argc) usage(2, fmt::format("{} needs a value.", flag));
    const std::string value = argv[++i], possible = "|" + known.at(name).full + "|";
    if (known.at(name).full.find('|') != std::string::npos && possible.find("|" + value + "|") == std::string::npos)
      usage(2, fmt::format("{} cannot be '{}'.", flag, value));
    values_[name] = value;
  }
  for (const auto& [name, d] : known) {
    const std::string& value = quick_ ? d.quick : d.full;
    values_.emplace(name, value.substr(0, value.find('|')));
  }
}

int64_t Flags::count(const std::string& name) const {
  const std::string& text  = values_.at(name);
  int64_t            value = 0;
  const auto [end, error]  = std::from_chars(text.data(), text.data() + text.size(), value);
  bt::require(error == std::errc() && end == text.data() + text.size() && value > 0,
              "--{}: expected a whole number from 1, got '{}'.", name, text);
  return value;
}
double Flags::real(const std::string& name) const {
  const std::string& text  = values_.at(name);
  double             value = 0;
  const auto [end, error]  = std::from_chars(text.data(), text.data() + text.size(), value);
  bt::require(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
              "--{}: expected a number, got '{}'.", name, text);
  return value;
}

Trainer::Trainer(bt::nn::Module& model, const bt::tasks::Task& task, Settings settings)
    : model_(model),
      task_(task),
      settings_(std::move(settings)),
      opt_(settings_.lr, {.eps = settings_.eps, .common = {.clip_norm = settings_.clip}}),
      update_([this](bt::Tensor xs, bt::Tensor ys, bt::Tensor mask) { return update(xs, ys, mask); }),
      test_([this](bt::Tensor xs, bt::Tensor ys, bt::Tensor mask) { return scores(outputs(xs), ys, mask); }) {
  bt::Shape input = task.facts().input;
  if (!settings_.lanes) input.insert(input.begin(), settings_.batch);
  learner_ = bt::compile(model, settings_.rule, bt::zeros(input), settings_.options, {.batch_size = batch_of_states()});
  opt_.register_trainable_weights(model.params());
}

Score Trainer::mean_score(bt::tasks::Part part, int64_t first, int64_t count, const bt::Jitted<Function>& f) const {
  Score mean;
  for (int64_t i = first; i < first + count; ++i) {
    const bt::tasks::Batch batch = task_.batch(part, i, settings_.batch);
    const auto [loss, accuracy]  = f(bt::Tensor(batch.inputs), bt::Tensor(batch.targets), bt::Tensor(batch.mask));
    mean.loss += loss.item() / static_cast<double>(count);
    mean.accuracy += accuracy.item() / static_cast<double>(count);
  }
  return mean;
}

// [B] for one step, [T, B] for all
bt::Tensor Trainer::loss_of(const bt::Tensor& out, const bt::Tensor& y) const {
  if (task_.facts().targets == bt::tasks::TargetKind::Values) return bt::mean(bt::square(out - y), -1);
  return bt::losses::softmax_cross_entropy_with_integer_labels(out, y);
}

bt::Tensor Trainer::penalty() const {
  std::vector<bt::Tensor> weights;
  for (const auto& [path, state] : model_.params())
    for (const std::string& leaf : state.leaf_names()) weights.push_back(state.leaf(leaf));
  return settings_.l2 * bt::losses::l2(weights);
}

Trainer::Scores Trainer::update(const bt::Tensor& xs, const bt::Tensor& ys, const bt::Tensor& mask) {
  bt::init_all_states(model_, {.batch_size = batch_of_states()});
  learner_->init_etrace_state();
  // w : [T, B], 1/B at scored steps, or with Reduction::Mean 1/(B × number of scored steps)
  const double     B = static_cast<double>(settings_.batch);
  const bt::Tensor w = settings_.reduction == bt::Reduction::Mean ? mask / bt::sum(mask) : mask / B;

  const auto loss_with = [&](auto& learner) {  // of one step; the outputs besides
    return [&](bt::Tensor x, bt::Tensor y, bt::Tensor weight) {
      const bt::Tensor out = learner(x), loss = bt::sum(loss_of(out, y) * weight);
      return std::pair(settings_.l2 > 0 ? loss + penalty() : loss, out);
    };
  };
  const auto learn_with = [&](auto& learner, const bt::Window& window) {
    const bt::EtraceGradOptions options{.window = window, .reduction = bt::Reduction::Sum};
    const auto                  r = bt::etrace_grad(loss_with(learner), learner, options)(xs, ys, w);
    opt_.update(r.grads);
    return scores(r.aux, ys, mask);
  };
  if (!settings_.lanes) return learn_with(*learner_, window());
  bt::ETraceVmap lanes(*learner_, settings_.batch);  // states and traces have one lane per sample
  return learn_with(lanes, {});
}

bt::Tensor Trainer::outputs(const bt::Tensor& xs) {
  bt::init_all_states(model_, {.batch_size = xs.shape()[1]});
  return bt::for_loop([&](bt::Tensor x) { return model_(x); }, xs);
}

Trainer::Scores Trainer::scores(const bt::Tensor& outputs, const bt::Tensor& ys, const bt::Tensor& mask) const {
  const bt::Tensor loss = bt::sum(loss_of(outputs, ys) * mask) / bt::sum(mask);
  if (task_.facts().targets == bt::tasks::TargetKind::Values) return {loss, bt::zeros({})};
  const auto right = [](const bt::Tensor& z, const bt::Tensor& y) {
    return bt::convert(bt::equal(bt::argmax(z, -1), y), bt::DType::F32);
  };
  if (!settings_.votes) return {loss, bt::sum(right(outputs, ys) * mask) / bt::sum(mask)};
  const int64_t    T     = ys.shape()[0];
  const bt::Tensor label = bt::squeeze(bt::slice_axis(ys, 0, T - 1, T), {0});
  return {loss, bt::mean(right(bt::sum(outputs * bt::expand_dims(mask, -1), 0), label))};
}

std::vector<Score> train(Trainer& trainer, const std::string& name, int64_t epochs, int64_t batches, Curves& curves,
                         const std::function<bool(const Score&)>& enough) {
  std::vector<Score> all;
  bt::Curve&         curve = curves.emplace_back(bt::Curve{.name = name, .x = {}, .y = {}});
  for (int64_t e = 0; e < epochs; ++e) {
    all.push_back(trainer.train(e * batches, batches));
    curve.x.push_back(static_cast<double>(e + 1));
    curve.y.push_back(all.back().loss);
    fmt::print("{:<12} epoch {:3}   loss {:.4f}", name, e + 1, all.back().loss);
    if (all.back().accuracy > 0) fmt::print("   accuracy {:.3f}", all.back().accuracy);
    fmt::print("\n");
    std::fflush(stdout);
    if (enough && enough(all.back())) break;
  }
  return all;
}

int finish(const Flags& flags, const Curves& curves, bool reached, const std::string& goal) {
  if (!flags["plot"].empty()) {
    std::ofstream page(flags["plot"]);
    page << "<!doctype html><html class=\"picture\" lang=\"en\"><meta charset=\"utf-8\"><title>losses</title><style>"
         << bt::picture_css() << bt::chart_css() << "</style>\n"
         << bt::line_chart({.title = "loss", .x_name = "epoch", .curves = curves}) << "<script>" << bt::chart_script()
         << "</script></html>\n";
    page.close();
    bt::require(page.good(), "--plot {}: the file cannot be written.", flags["plot"]);
  }
  fmt::print("{}: {}\n", reached ? "reached" : "MISSED", goal);
  return reached ? 0 : 1;
}

int guarded(const std::function<int()>& example) try {
  bt::set_default_backend("cpu");
  return example();
} catch (const bt::UserError& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
} catch (const std::bad_alloc&) {
  fmt::print(stderr, "There is not enough memory for a network, a batch or a sequence of this size.\n");
  return 2;
}

}  // namespace examples
