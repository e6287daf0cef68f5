// SPDX-License-Identifier: Apache-2.0
// Models that learn from streams of records: one stream, or a fleet of many that share one compiled program.
#include <optional>

#include <nlohmann/json.hpp>

#include "bindings.h"
#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/json.h"
#include "braintrace/stream/fleet.h"
#include "convert.h"
#include "gil.h"
#include "module.h"

namespace pybraintrace {

namespace {

using Ids = bt::stream::Fleet::Ids;

bt::stream::StreamOptions options_from(const std::string& rule, const std::string& rule_options,
                                       const std::string& loss, const std::string& optimizer, double lr) {
  bt::require(loss == "mse" || loss == "cross_entropy", "unknown loss '{}'; expected mse or cross_entropy.", loss);
  return {rule, bt::rule_options_from_json(bt::read_json(rule_options, "options")),
          loss == "mse" ? bt::stream::Loss::Mse : bt::stream::Loss::CrossEntropy, optimizer, lr};
}

// A stream and its model.
class Stream {
 public:
  Stream(nb::object model, const bt::Tensor& example, const bt::stream::StreamOptions& options)
      : model_(std::move(model)) {
    auto& module = nb::cast<bt::Module&>(model_);
    without_gil([&] { stream_ = std::make_unique<bt::stream::OnlineStream>(module, example.type(), options); });
  }
  bt::stream::OnlineStream& operator*() const { return *stream_; }
  bt::stream::OnlineStream* operator->() const { return stream_.get(); }

 private:
  nb::object                                model_;
  std::unique_ptr<bt::stream::OnlineStream> stream_;
};

void bind_stream(nb::module_& m) {
  nb::class_<Stream>(m, "OnlineStream", "A model that learns from a stream of records.")
      .def(
          "__init__",
          [](Stream* self, nb::object model, Arg example, const std::string& rule, const std::string& rule_options,
             const std::string& loss, const std::string& optimizer, double lr) {
            new (self) Stream(std::move(model), example, options_from(rule, rule_options, loss, optimizer, lr));
          },
          "model"_a, "example"_a, "rule"_a, "rule_options"_a, "loss"_a, "optimizer"_a, "lr"_a)
      .def(
          "learn",
          [](Stream& s, Arg x, Arg y) {
            const bt::Array xs = x.get().array(), ys = y.get().array();
            const auto      a = without_gil([&] { return s->learn(xs, ys); });
            return nb::make_tuple(bt::Tensor(a.prediction), a.loss);
          },
          "x"_a, "y"_a, "Predict a record, then learn from it; return (prediction, loss).")
      .def(
          "predict",
          [](Stream& s, Arg x) {
            const bt::Array xs = x.get().array();
            return bt::Tensor(without_gil([&] { return s->predict(xs); }));
          },
          "x"_a, "Predict without learning; states and traces advance.")
      .def(
          "reset", [](Stream& s) { without_gil([&] { s->reset(); }); },
          "Start a new sequence: reset states and traces, keep the weights.")
      .def(
          "save", [](Stream& s, const std::string& path, int64_t records) { bt::stream::save(*s, path, records); },
          "path"_a, "records"_a, "Write weights, states, traces and optimizer to a file.")
      .def(
          "load", [](Stream& s, const std::string& path) { return bt::stream::load(*s, path); }, "path"_a,
          "Resume from a file; return the number of records learned from.");
}

// A fleet and its model.
class Fleet {
 public:
  Fleet(nb::object model, const bt::Tensor& example, const std::string& rule, const std::string& rule_options,
        const std::string& loss, const std::string& optimizer, double lr, int64_t most, bool guard)
      : model_(std::move(model)) {
    const auto options = options_from(rule, rule_options, loss, optimizer, lr);
    auto&      module  = nb::cast<bt::Module&>(model_);
    without_gil([&] {
      fleet_ = std::make_unique<bt::stream::Fleet>(module, example.type(), options,
                                                   bt::stream::FleetOptions{.most = most, .guard = guard});
    });
  }
  bt::stream::Fleet& operator*() const { return *fleet_; }
  bt::stream::Fleet* operator->() const { return fleet_.get(); }
  // Whether x has several records per member.
  bool has_steps(const bt::Array& x) const { return x.shape().size() == fleet_->stream().input().shape.size() + 2; }

 private:
  nb::object                         model_;
  std::unique_ptr<bt::stream::Fleet> fleet_;
};

// Index into the losses, and reason. With several records per member, the index is (row, step).
nb::object undone_of(const bt::stream::Fleet::Answers& a, bool has_steps) {
  nb::list out;
  for (const auto& u : a.undone) {
    const nb::object place = has_steps ? nb::object(nb::make_tuple(u.index, u.step)) : nb::object(nb::int_(u.index));
    out.append(nb::make_tuple(place, u.why));
  }
  return out;
}

}  // namespace

void bind_fleet(nb::module_& m) {
  bind_stream(m);
  nb::class_<Fleet>(m, "Fleet", "Many small learners that share one compiled program.")
      .def(
          "__init__",
          [](Fleet* self, nb::object model, Arg example, const std::string& rule, const std::string& rule_options,
             const std::string& loss, const std::string& optimizer, double lr, int64_t most, bool guard) {
            new (self) Fleet(std::move(model), example, rule, rule_options, loss, optimizer, lr, most, guard);
          },
          "model"_a, "example"_a, "rule"_a, "rule_options"_a, "loss"_a, "optimizer"_a, "lr"_a, "most"_a, "guard"_a)
      .def(
          "learn",
          [](Fleet& f, const std::optional<Ids>& ids, Arg x, Arg y) {
            const bt::Array xs = x.get().array(), ys = y.get().array();
            const auto      a = without_gil([&] { return ids ? f->learn(*ids, xs, ys) : f->learn(xs, ys); });
            return nb::make_tuple(bt::Tensor(a.predictions), bt::Tensor(a.losses), undone_of(a, f.has_steps(xs)));
          },
          "ids"_a.none(), "x"_a, "y"_a,
          "Run one step of these members, or of all; return (predictions, losses, undone).")
      .def(
          "predict",
          [](Fleet& f, const std::optional<Ids>& ids, Arg x) {
            const bt::Array xs = x.get().array();
            const auto      a  = without_gil([&] { return ids ? f->predict(*ids, xs) : f->predict(xs); });
            return nb::make_tuple(bt::Tensor(a.predictions), undone_of(a, f.has_steps(xs)));
          },
          "ids"_a.none(), "x"_a, "Predict without learning; states and traces advance.")
      .def(
          "reset", [](Fleet& f, const std::string& id) { without_gil([&] { f->reset(id); }); }, "id"_a,
          "Start a new sequence of a member: reset its states and traces, keep its weights.")
      .def(
          "add", [](Fleet& f, const std::string& id) { f->add(id); }, "id"_a, "Add a member with the initial weights.")
      .def(
          "remove", [](Fleet& f, const std::string& id) { f->remove(id); }, "id"_a, "Remove a member.")
      .def(
          "records", [](const Fleet& f, const std::string& id) { return f->records(id); }, "id"_a,
          "Return the number of records a member has learned from.")
      .def(
          "save", [](Fleet& f, const std::string& path) { f->save(path); }, "path"_a, "Write all members to one file.")
      .def(
          "load", [](Fleet& f, const std::string& path) { f->load(path); }, "path"_a,
          "Replace all members by those of a file.")
      .def(
          "save_member", [](Fleet& f, const std::string& id, const std::string& path) { f->save_member(id, path); },
          "id"_a, "path"_a, "Write a member to a file for a single stream.")
      .def(
          "load_member", [](Fleet& f, const std::string& id, const std::string& path) { f->load_member(id, path); },
          "id"_a, "path"_a, "Add or replace a member from the file of a single stream.")
      .def("__len__", [](const Fleet& f) { return f->size(); })
      .def(
          "__contains__", [](const Fleet& f, const std::string& id) { return f->contains(id); }, "id"_a)
      .def_prop_ro(
          "ids", [](const Fleet& f) { return f->ids(); }, "Ids of the members, in order.")
      .def_prop_ro(
          "bytes_per_member", [](const Fleet& f) { return f->bytes_per_member(); }, "Memory of one member in bytes.");
}

}  // namespace pybraintrace
