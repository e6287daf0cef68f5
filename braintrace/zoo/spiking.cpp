// SPDX-License-Identifier: Apache-2.0
// Spiking populations driven through delta, exponential current and conductance synapses. Times are in ms.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/etp/dense.h"
#include "braintrace/nn/factored.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/parts.h"
#include "braintrace/zoo/wiring.h"

namespace braintrace::zoo {

namespace {

using nn::joined;

std::shared_ptr<nn::Neuron> neuron_of(const Fields& f, int64_t n) {
  const std::string kind = f.choice("neuron", {"if", "lif", "alif"});
  if (kind == "if") return std::make_shared<nn::IF>(n, lif_options(f, n));
  if (kind == "lif") return std::make_shared<nn::LIF>(n, lif_options(f, n));
  return std::make_shared<nn::ALIF>(n,
                                    nn::ALIFOptions{.tau_a = setting_of<nn::TimeSetting>(f, "tau_a_ms", n),
                                                    .beta  = setting_of<nn::VoltageSetting>(f, "beta", n)},
                                    lif_options(f, n));
}

// A neuron, synapse or plasticity of n units, described by its own type.
template <class Part>
std::shared_ptr<Part> part_of(const Fields& f, const std::string& name, int64_t n, const char* what) {
  nlohmann::json d = f.object(name);
  if (d.contains("n")) f.refuse(name + ".n", "the layer sets the number of units; leave it out.");
  d["n"] = n;
  d.emplace("dt_ms", f.number("dt_ms"));
  const ModulePtr m    = build_layer(d, f.path().empty() ? name : f.path() + "." + name);
  const auto      part = std::dynamic_pointer_cast<Part>(m);
  if (!part) f.refuse(name + ".type", fmt::format("'{}' is not {}.", f.kind_of(name, "type"), what));
  return part;
}

nn::SynapseOutput output_of(const Fields& f) {
  const std::string type = f.is_text("output") ? f.text("output") : f.kind_of("output", "type");
  if (type == "cuba") return nn::cuba(f.is_text("output") ? 1 : f.nested("output", type, "scale=1.0").number("scale"));
  if (f.is_text("output")) f.refuse("output", fmt::format("'{}' has parameters; write it as an object.", type));
  if (type == "coba") return nn::coba(f.nested("output", type, "E").number("E"));
  if (type != "mg_block") f.refuse("output.type", fmt::format("'{}' is unknown. Known: cuba, coba, mg_block.", type));
  const Fields o = f.nested("output", type, "E=0.0 Mg=1.2 alpha=0.062 beta=3.57 V_offset=0.0");
  return nn::mg_block({.E        = o.number("E"),
                       .Mg       = o.number("Mg"),
                       .alpha    = o.number("alpha"),
                       .beta     = o.number("beta"),
                       .V_offset = o.number("V_offset")});
}

// A population neu with one projection syn from [x; f(z)], z its own spikes, f short-term plasticity or nothing.
ModulePtr composed_population(const Fields& f) {
  const int64_t n = f.integer("n_rec"), n_in = f.integer("n_in");
  const bool    recurrent = f.flag("recurrent"), before = f.choice("align", {"post", "pre"}) == "pre";
  const int64_t sources = recurrent ? n_in + n : n_in;
  const auto    neu     = part_of<nn::Neuron>(f, "neuron", n, "a neuron");
  const auto    comm    = std::make_shared<nn::Linear>(sources, n);
  ModulePtr     proj    = std::make_shared<nn::DeltaProj>(comm, neu), plasticity;
  if (f.has("synapse")) {
    const auto syn = part_of<nn::Synapse>(f, "synapse", before ? sources : n, "a synapse");
    proj           = before ? ModulePtr(std::make_shared<nn::AlignPreProj>(syn, comm, output_of(f), neu))
                            : ModulePtr(std::make_shared<nn::AlignPostProj>(comm, syn, output_of(f), neu));
  }
  auto m = make_cell();
  m->part("neu", ModulePtr(neu));
  m->part("syn", proj);
  if (f.has("plasticity")) {
    if (!recurrent) f.refuse("plasticity", "it acts on recurrent spikes; set recurrent to true.");
    plasticity = m->part("plasticity", part_of<Module>(f, "plasticity", n, "a layer"));
  }
  m->step = [=](const Tensor& x) {
    const auto seen = [&](const Tensor& z) { return plasticity ? (*plasticity)(z) : z; };
    (*proj)(recurrent ? joined(x, seen(neu->spikes())) : x);
    return (*neu)(Tensor());
  };
  return m;
}

// A population neu with one projection syn from [x; its own spikes], or from x.
// Multiplies the initial weights of inputs and of spikes, which want other strengths.
void scale_weights(const nn::Linear& comm, int64_t n_in, double ff, double rec) {
  const Tensor  w    = comm.weight.leaf("weight");
  const int64_t rows = w.shape()[0];
  Tensor        out  = slice_axis(w, 0, 0, n_in) * ff;
  if (rows > n_in) out = concat({out, slice_axis(w, 0, n_in, rows) * rec}, 0);
  comm.weight.set_leaf("weight", out);
}

ModulePtr population(const Fields& f, bool exponential) {
  const int64_t n = f.integer("n_rec"), n_in = f.integer("n_in");
  const bool    recurrent = f.flag("recurrent");
  const auto    neu       = neuron_of(f, n);
  const auto    comm      = std::make_shared<nn::Linear>(recurrent ? n_in + n : n_in, n);
  scale_weights(*comm, n_in, f.number("ff_scale"), f.number("rec_scale"));
  ModulePtr proj;
  if (exponential) {
    const auto syn = std::make_shared<nn::Expon>(n, setting_of<nn::TimeSetting>(f, "tau_syn_ms", n), f.number("dt_ms"));
    proj           = std::make_shared<nn::AlignPostProj>(comm, syn, nn::cuba(), neu);
  } else {
    proj = std::make_shared<nn::DeltaProj>(comm, neu);
  }
  auto m = make_cell();
  m->part("neu", ModulePtr(neu));
  m->part("syn", proj);
  m->step = [=](const Tensor& x) {
    (*proj)(recurrent ? joined(x, neu->spikes()) : x);
    return (*neu)(Tensor());
  };
  return m;
}

// A sparse map; weights that no file gives are normal, of variance scale² / sources per target.
std::shared_ptr<nn::SparseLinear> sparse_map(const Wiring& w, double scale) {
  const double sources = static_cast<double>(w.pattern.rows.size()) / static_cast<double>(w.pattern.n_cols);
  const Tensor values =
      w.values.defined() ? w.values : nn::init::normal(0, scale / std::sqrt(sources))(w.pattern.rows.shape());
  return std::make_shared<nn::SparseLinear>(w.pattern, values);
}

// A population neu driven by ff(x) + rec(z), z its own spikes of the step before.
ModulePtr sparse_population(const Fields& f) {
  const int64_t n = f.integer("n_rec"), n_in = f.integer("n_in");
  auto          m   = make_cell();
  const auto    neu = neuron_of(f, n);
  const auto    rec = sparse_map(wiring_of(f, "pattern", n, n, true), f.number("rec_scale"));
  ModulePtr     ff;
  if (f.has("input")) {
    ff = sparse_map(wiring_of(f, "input", n_in, n, false), f.number("ff_scale"));
  } else {
    const auto dense = std::make_shared<nn::Linear>(n_in, n);
    scale_weights(*dense, n_in, f.number("ff_scale"), 1);
    ff = dense;
  }
  m->part("neu", ModulePtr(neu));
  m->part("ff", ff);
  m->part("rec", ModulePtr(rec));
  m->step = [=](const Tensor& x) {
    const Tensor current = (*ff)(x);
    return (*neu)(current + (*rec)(neu->spikes()));
  };
  return m;
}

}  // namespace

std::vector<LayerType> spiking_layers() {
  const std::string membrane = membrane_fields(5, 1, 0, 0);
  const std::string lif =
      "n_in n_rec recurrent=true neuron=\"lif\" tau_a_ms=100.0 beta=0.1 " + membrane + "ff_scale=1.0 rec_scale=1.0 ";
  return {
      {"snn_delta", "V gets comm([x;z]) after each step of an if, lif or alif population", lif,
       [](const Fields& f) { return population(f, false); }},
      {"snn_expcu", "g ← e^{-dt/τ_syn} g + comm([x;z]) is the current of an if, lif or alif population",
       lif + "tau_syn_ms=8.0", [](const Fields& f) { return population(f, true); }},
      {"sparse_snn", "an if, lif or alif population driven by ff(x) + rec(z), rec sparse, ff dense or sparse (input)",
       "n_in n_rec pattern input? neuron=\"lif\" tau_a_ms=100.0 beta=0.1 " + membrane + "ff_scale=1.0 rec_scale=1.0",
       sparse_population},
      {"snn",
       "any neuron driven by any synapse (none: deltas), its output cuba, coba or mg_block, plasticity stp or std",
       "n_in n_rec neuron synapse? output=\"cuba\" plasticity? align=\"post\" recurrent=true dt_ms=1.0",
       composed_population},
  };
}

}  // namespace braintrace::zoo
