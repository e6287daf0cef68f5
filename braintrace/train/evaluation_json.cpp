// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/evaluation_json.h"

#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "braintrace/train/metrics.h"

namespace braintrace::train {

namespace {

void add_class_metrics(nlohmann::ordered_json& out, const ValidationRecord& v, const RunRecord& record, bool surprise) {
  const Array&       confusion = record.judgment.confusion;
  const ClassMetrics m         = class_metrics(confusion);
  out["accuracy"]              = v.accuracy;
  out["balanced_accuracy"]     = m.balanced_accuracy;
  out["macro_f1"]              = m.macro_f1;
  out["majority_accuracy"]     = m.majority;
  out["calibration_error"]     = record.judgment.calibration_error;
  if (surprise) out.update({{"perplexity", std::exp(v.loss)}, {"bits", v.loss / std::numbers::ln2}});
  if (!record.class_names.empty()) out["class_names"] = record.class_names;
  out.update({{"recall", m.recall}, {"precision", m.precision}, {"f1", m.f1}});
  const int64_t  classes = confusion.shape()[0];
  const int64_t* row     = confusion.data<int64_t>();
  for (int64_t i = 0; i < classes; ++i, row += classes)
    out["confusion"].push_back(std::vector<int64_t>(row, row + classes));
}

nlohmann::ordered_json json_of_baseline(const Baseline& b) {
  if (!b.values) return {{"name", b.name}, {"accuracy", b.accuracy}};
  return {{"name", b.name}, {"r2", b.values->r2}, {"rmse", b.values->rmse}, {"mae", b.values->mae}};
}

}  // namespace

bool measures_surprise(const Config& config) {
  return config.loss == "auto" || config.loss == "cross_entropy" || config.loss == "nll";
}

nlohmann::ordered_json evaluation_json(const Trainer& trainer, const ValidationRecord& v) {
  const Judgment&        judgment = trainer.record().judgment;
  nlohmann::ordered_json out      = {{"loss", v.loss}};
  if (v.accuracy >= 0) add_class_metrics(out, v, trainer.record(), measures_surprise(trainer.config()));
  if (const auto& m = judgment.values) out.update({{"r2", m->r2}, {"rmse", m->rmse}, {"mae", m->mae}});
  for (const Baseline& b : judgment.baselines) out["baselines"].push_back(json_of_baseline(b));
  return out;
}

}  // namespace braintrace::train
