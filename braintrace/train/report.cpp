// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/report.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/base/shell_word.h"
#include "braintrace/io/file.h"
#include "braintrace/train/progress.h"
#include "braintrace/train/report_parts.h"
#include "braintrace/viz/chart.h"
#include "braintrace/viz/chart_scale.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/png.h"
#include "braintrace/viz/svg.h"

namespace braintrace::train {

namespace {

constexpr size_t  most_alarms = 50, most_lines = 6;
constexpr int64_t most_steps = 400;  // of lines that would hide each other

template <class Record>
Curve curve(std::string name, const std::vector<Record>& records, double Record::*field) {
  Curve c;
  c.name = std::move(name);
  for (const Record& r : records) {
    c.x.push_back(static_cast<double>(r.step));
    c.y.push_back(r.*field);
  }
  return c;
}

// The mean over the last 10%: single steps are noisy.
double late_mean(const std::vector<StepRecord>& steps, double StepRecord::*field) {
  const size_t n   = std::max<size_t>(1, steps.size() / 10);
  double       sum = 0;
  for (size_t i = steps.size() - n; i < steps.size(); ++i) sum += steps[i].*field;
  return sum / static_cast<double>(n);
}

// A learning rate that never changes is a number, not a curve.
bool has_constant_rate(const RunRecord& run) {
  return std::all_of(run.steps.begin(), run.steps.end(),
                     [&](const StepRecord& s) { return s.learning_rate == run.steps[0].learning_rate; });
}

// 14794 as 14,794.
std::string grouped(int64_t n) {
  std::string digits = fmt::format("{}", n);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// `task` predicts text: its loss, -log p of the next character, is also shown as a perplexity.
std::string tiles(const RunRecord& run, const std::string& task) {
  std::string out = "<dl class=\"tiles\">";
  out += tile("updates", fmt::format("{}", run.steps.empty() ? 0 : run.steps.back().step));
  if (!run.steps.empty()) {
    const double loss = late_mean(run.steps, &StepRecord::loss);
    out += tile("training loss (last 10%)", short_number(loss), std::isfinite(loss) ? "" : "bad");
    if (run.steps.back().accuracy >= 0)
      out += tile("training accuracy (last 10%)", percent(late_mean(run.steps, &StepRecord::accuracy)));
  }
  if (!run.validations.empty()) {
    const auto less = [](const ValidationRecord& a, const ValidationRecord& b) {
      return a.accuracy != b.accuracy ? a.accuracy > b.accuracy : a.loss < b.loss;
    };
    const ValidationRecord  best = *std::min_element(run.validations.begin(), run.validations.end(), less);
    const ValidationRecord& last = run.validations.back();
    out += tile("final validation loss", short_number(last.loss), std::isfinite(last.loss) ? "" : "bad");
    if (last.accuracy >= 0) out += tile("final validation accuracy", percent(last.accuracy));
    if (task == "char_lm") {
      out += tile("final validation perplexity", short_number(std::exp(last.loss)));
      out += tile("final bits per character", short_number(last.loss / std::numbers::ln2));
    }
    out += best.accuracy >= 0 ? tile("best validation accuracy", percent(best.accuracy), "good")
                              : tile("best validation loss", short_number(best.loss), "good");
  }
  const Judgment& j = run.judgment;
  if (j.values) {
    out += tile("final validation R²", r2_text(*j.values));
    out += tile("final validation RMSE", short_number(j.values->rmse));
  }
  if (j.calibration_error >= 0) out += tile("final calibration error", percent(j.calibration_error));
  for (const Baseline& b : j.baselines)
    out += tile(fmt::format("baseline: {}", b.name), b.values ? "R² " + r2_text(*b.values) : percent(b.accuracy));
  if (run.parameters > 0) out += tile("parameters", grouped(run.parameters));
  if (!run.steps.empty()) out += tile("time", clock_text(run.steps.back().seconds));
  out += tile("alarms", fmt::format("{}", run.alarms.size()), run.alarms.empty() ? "" : "bad");
  return out + "</dl>\n";
}

std::string curves(const RunRecord& run) {
  const auto smooth = [](Curve c) {
    c.smooth = true;
    return c;
  };
  const auto marked = [](Curve c) {
    c.points = true;
    return c;
  };
  const auto has_accuracy = [](const auto& r) { return r.accuracy >= 0; };
  LineChart  loss{"Loss", "update", {smooth(curve("training", run.steps, &StepRecord::loss))}, {}, false, true};
  if (!run.validations.empty())
    loss.curves.push_back(marked(curve("validation", run.validations, &ValidationRecord::loss)));
  std::string out = line_chart(loss);
  if (std::any_of(run.steps.begin(), run.steps.end(), has_accuracy) ||
      std::any_of(run.validations.begin(), run.validations.end(), has_accuracy)) {
    LineChart accuracy{"Accuracy",          "update", {smooth(curve("training", run.steps, &StepRecord::accuracy))},
                       std::pair(0.0, 1.0), true,     false};
    if (!run.validations.empty())
      accuracy.curves.push_back(marked(curve("validation", run.validations, &ValidationRecord::accuracy)));
    out += line_chart(accuracy);
  }
  if (run.steps.empty()) return out;
  out += line_chart({"Gradient norm",
                     "update",
                     {smooth(curve("‖∇‖ before clipping", run.steps, &StepRecord::gradient_norm))},
                     {},
                     false,
                     true});
  if (has_constant_rate(run)) return out;
  out += line_chart(
      {"Learning rate", "update", {curve("learning rate", run.steps, &StepRecord::learning_rate)}, {}, false, false});
  return out;
}

// Alarms of one kind at one place are one entry.
std::string alarms(const RunRecord& run) {
  struct Entry {
    const Alarm* first;
    int64_t      last, count;
  };
  std::vector<Entry> entries;
  for (const Alarm& a : run.alarms) {
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
      return e.first->kind == a.kind && e.first->where == a.where;
    });
    if (same == entries.end())
      entries.push_back({&a, a.step, 1});
    else
      same->last = a.step, ++same->count;
  }
  std::string out;
  for (size_t i = 0; i < std::min(entries.size(), most_alarms); ++i) {
    const Entry& e = entries[i];
    out += fmt::format("<div class=\"record\"><p><b>{}</b> at <b>{}</b>, update {}{}: {}</p></div>\n",
                       xml_text(e.first->kind), xml_text(e.first->where), e.first->step,
                       e.count > 1 ? fmt::format(", and {} times more until update {}", e.count - 1, e.last) : "",
                       xml_text(e.first->message));
  }
  if (entries.size() > most_alarms)
    out += fmt::format("<p>… and {} more; the log has all of them.</p>\n", entries.size() - most_alarms);
  return out;
}

// Column j of [T, n]; values beyond the pixels of a chart are skipped.
Curve unit_curve(const Array& values, int64_t j, std::string name) {
  Curve         c;
  const Doubles v(values);
  const int64_t n = values.shape()[1];
  c.name          = std::move(name);
  for (int64_t t = 0; t < std::min(values.shape()[0], most_steps); ++t) {
    c.x.push_back(static_cast<double>(t));
    c.y.push_back(v[t * n + j]);
  }
  return c;
}

// The units whose course varies most, in their order.
std::vector<int64_t> liveliest(const Array& values) {
  const Doubles       v(values);
  const int64_t       T = values.shape()[0], n = values.shape()[1];
  std::vector<double> spread(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    double mean = 0, square = 0;
    for (int64_t t = 0; t < T; ++t) mean += v[t * n + j], square += v[t * n + j] * v[t * n + j];
    spread[static_cast<size_t>(j)] = square / static_cast<double>(T) - mean * mean / static_cast<double>(T * T);
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::isfinite(spread[static_cast<size_t>(a)]) &&
           spread[static_cast<size_t>(a)] > spread[static_cast<size_t>(b)];
  });
  order.resize(std::min(order.size(), most_lines));
  std::sort(order.begin(), order.end());
  return order;
}

bool is_matrix(const Array& a) { return a.shape().size() == 2 && a.size() > 0; }

std::string outputs(const Activity& a, const std::vector<std::string>& class_names) {
  if (!is_matrix(a.outputs)) return "";
  const bool classes = a.targets.shape().size() == 1 && !is_float(a.targets.dtype());
  if (classes) {
    const Integers       target(a.targets);
    std::vector<int64_t> marks(target.data(), target.data() + a.targets.size());
    return heat_map(
        {"Outputs over one sample; the line is the target", "step", "class", a.outputs, marks, class_names});
  }
  LineChart chart{"Outputs and targets of one sample", "step", {}, {}, false, false};
  for (int64_t j = 0; j < std::min<int64_t>(a.outputs.shape()[1], 3); ++j) {
    chart.curves.push_back(unit_curve(a.outputs, j, fmt::format("output {}", j)));
    if (a.targets.shape() != a.outputs.shape()) continue;
    chart.curves.push_back(unit_curve(a.targets, j, fmt::format("target {}", j)));
    chart.curves.back().dashed = true;
  }
  return line_chart(chart);
}

std::string activity(const Activity& a) {
  std::string out;
  if (is_matrix(a.inputs)) out += heat_map({"Inputs", "step", "input", a.inputs});
  for (const Activity::Series& s : a.states) {
    if (!is_matrix(s.values)) continue;
    if (s.kind == "spikes") {
      out += spike_raster({"Spikes of " + s.path, "step", "neuron", s.values});
    } else if (s.kind == "voltage") {
      LineChart chart{"Voltages of " + s.path + (s.values.shape()[0] > most_steps ? ", the first steps" : ""),
                      "step",
                      {},
                      {},
                      false,
                      false};
      for (int64_t j : liveliest(s.values))
        chart.curves.push_back(unit_curve(s.values, j, fmt::format("neuron {}", j)));
      out += line_chart(chart);
    } else {
      out += heat_map({"Activity of " + s.path, "step", "unit", s.values});
    }
  }
  return out;
}

std::string traces(const Activity& a) {
  if (a.trace_norms.empty()) return "";
  LineChart chart{"Norms of the eligibility traces", "step", {}, {}, false, true};
  for (const auto& [weight, norms] : a.trace_norms) {
    Curve c;
    c.name = weight;
    c.y    = norms;
    c.x.resize(norms.size());
    std::iota(c.x.begin(), c.x.end(), 0.0);
    chart.curves.push_back(std::move(c));
  }
  return line_chart(chart);
}

std::string confusion(const RunRecord& run) {
  return run.judgment.confusion.shape().size() == 2 && run.judgment.confusion.size() > 0
             ? confusion_matrix("Confusion matrix", run.judgment.confusion, run.class_names)
             : "";
}

// An image with its own document: its style is isolated, and scripts in it do not run.
std::string graph(const RunRecord& run) {
  if (run.graph_svg.empty()) return "";
  return fmt::format(
      "<div class=\"graph\"><img alt=\"the compiled graph of the model\" src=\"data:image/svg+xml;base64,{}\"></div>\n",
      base64(run.graph_svg));
}

// The words under a key of the configuration: the value, or its type or name.
std::string word(const nlohmann::ordered_json& config, const char* key) {
  if (!config.is_object() || !config.contains(key)) return "";
  const auto& v = config[key];
  if (v.is_string()) return v.get<std::string>();
  for (const char* inner : {"type", "name", "rule"})
    if (v.is_object() && v.contains(inner) && v[inner].is_string()) return v[inner].get<std::string>();
  return "";
}

// "gru 10 → 64, linear 64 → 10": the layers of a model's description with their sizes; its type if it has no layers.
std::string model_words(const nlohmann::ordered_json& model) {
  if (!model.is_object()) return "";
  if (model.contains("layers") && model["layers"].is_array()) {
    std::string out;
    for (const auto& layer : model["layers"])
      if (const std::string w = model_words(layer); !w.empty()) out += (out.empty() ? "" : ", ") + w;
    return out;
  }
  if (!model.contains("type") || !model["type"].is_string()) return "";
  std::string out   = model["type"].get<std::string>();
  const char* arrow = " ";
  for (const auto& sizes :
       {std::vector{"n_in", "in_size", "d_model"}, std::vector{"n_rec", "n_out", "out_size", "d_hidden", "n"}})
    for (const char* key : sizes)
      if (model.contains(key) && model[key].is_number_integer()) {
        out += fmt::format("{}{}", arrow, model[key].get<int64_t>());
        arrow = " → ";
        break;
      }
  return out;
}

// What was trained, in one line.
std::string subtitle_of(const nlohmann::ordered_json& config, const RunRecord& run) {
  std::string out;
  const auto  add = [&](const char* before, const std::string& text) {
    if (!text.empty()) out += fmt::format("{}{}{}", out.empty() ? "" : " · ", before, text);
  };
  const std::string model = config.is_object() && config.contains("model") ? model_words(config["model"]) : "";
  add("", word(config, "name"));
  add("", model.empty() ? word(config, "model") : model);
  add("task ", word(config, "task"));
  add("rule ", word(config, "rule"));
  add("optimizer ", word(config, "optimizer"));
  if (!run.steps.empty() && has_constant_rate(run)) add("learning rate ", short_number(run.steps[0].learning_rate));
  if (!out.empty()) add("seed ", fmt::format("{}", run.seed));
  return out;
}

// The type of the first recurrent layer, or of the first layer; acronyms in capitals.
std::string network_name(const nlohmann::ordered_json& model) {
  if (!model.is_object()) return "";
  if (model.contains("layers") && model["layers"].is_array()) {
    const auto is_recurrent = [](const auto& layer) { return layer.is_object() && layer.contains("n_rec"); };
    const auto found        = std::find_if(model["layers"].begin(), model["layers"].end(), is_recurrent);
    if (found != model["layers"].end()) return network_name(*found);
    return model["layers"].empty() ? "" : network_name(model["layers"][0]);
  }
  std::string name = word(model, "type");
  for (const char* acronym : {"gru", "lstm", "mgu", "cfn", "lru", "lif", "alif"})
    if (name == acronym) std::transform(name.begin(), name.end(), name.begin(), to_upper);
  return name;
}

// "GRU on the copy task, trained with D_RTRL"; the name of the run if the configuration does not contain them.
std::string title_of(const nlohmann::ordered_json& config) {
  const std::string name = word(config, "name"), task = word(config, "task"), rule = word(config, "rule");
  if (task.empty()) return name.empty() ? "Training report" : name;
  const std::string network = config.contains("model") ? network_name(config["model"]) : "";
  return (network.empty() ? "The " : network + " on the ") + task + " task" +
         (rule.empty() ? "" : ", trained with " + rule);
}

// The command that repeats the run. Its folders are new: those of the run hold checkpoints.
std::string command_of(const nlohmann::ordered_json& config) {
  std::string out   = "braintrace train " + shell_word(word(config, "output") + "/config.json");
  const auto  again = [&](const std::string& field, const std::string& folder) {
    const std::string other = folder + "-again";
    // --set reads a name that starts with a bracket or a quote as JSON.
    const bool is_plain = shell_word(other) == other;
    out += " --set " + shell_word(field + "=" + (is_plain ? other : json_text(nlohmann::json(other), -1)));
  };
  again("output", word(config, "output"));
  if (config.contains("checkpoint"))
    if (const std::string dir = word(config["checkpoint"], "dir"); !dir.empty()) again("checkpoint.dir", dir);
  return out;
}

}  // namespace

std::string report_html(const RunRecord& run) {
  nlohmann::ordered_json config;  // null for a record without one
  try {
    config = read_ordered_json(run.config, "config");
  } catch (const UserError&) {
  }
  const std::string pretty = config.is_null() ? run.config : json_text(config, 2);

  std::string out = tiles(run, word(config, "task"));
  out += section("Alarms", "Problems that were detected during the run.", alarms(run));
  out += section("Curves", "Faint lines: single updates (or their range per pixel). Bold lines: running mean.",
                 charts(curves(run)));
  const std::string matrix = confusion(run);
  const std::string sample = outputs(run.activity, run.class_names) + activity(run.activity) + traces(run.activity);
  out +=
      section("Predictions and activity",
              std::string(matrix.empty() ? ""
                                         : "The confusion matrix is that of the last validation: the shade of a cell "
                                           "is its share of the row, the percentage after a row is the recall of "
                                           "its class. ") +
                  "One validation sample after training: its output and input, the activity of the network, and the "
                  "norm of each eligibility trace.",
              charts(matrix + sample, "flow"));  // columns: charts of different heights leave no holes
  out += section("Graph", "What the compiler found: which weights reach which states, and how they learn.", graph(run));
  out += section("Settings",
                 word(config, "output").empty()
                     ? "Everything needed to reproduce the run."
                     : fmt::format("To reproduce it: <code>{}</code>", xml_text(command_of(config))),
                 text_block("Configuration", pretty, true) + text_block("Model", run.model_text, false));
  return report_page(title_of(config), "training report", {word(config, "about"), subtitle_of(config, run), run.pace},
                     out);
}

void ReportFile::end(const RunRecord& run) {
  const std::string page = report_html(run);
  write_text(path_, page);
}

}  // namespace braintrace::train
