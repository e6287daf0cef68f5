// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cuda/emit.h"

#include <algorithm>
#include <optional>

#include "braintrace/base/lists.h"
#include "braintrace/codegen/c/library.h"
#include "braintrace/codegen/cuda/abi.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/hazards.h"
#include "braintrace/codegen/cuda/persistent.h"
#include "braintrace/codegen/cuda/together.h"

namespace braintrace {
std::string_view types_cu();
std::string_view team_cu();
std::string_view tiles_cu();
std::string_view persistent_cu();
}  // namespace braintrace

namespace braintrace::codegen {

namespace {

bool asks_host(const Kernel& k) {
  if (std::holds_alternative<HostCall>(k.what)) return true;
  for (const auto& [role, g] : contained(k))
    if (std::any_of(g->kernels.begin(), g->kernels.end(), asks_host)) return true;
  return false;
}

// A typed pointer to a buffer, relative to the frame of its function.
struct Pointer {
  std::string type, value;
};
Pointer pointer_to(const Function& f, Var v) {
  const Buffer&     b        = f.buffers[static_cast<size_t>(v)];
  const auto        kind     = b.place.kind;
  const bool        is_given = kind == Place::Kind::Input || kind == Place::Kind::Constant;
  const std::string type     = fmt::format("{}{}*", is_given ? "const " : "", storage_type(b.type.dtype));
  return {type, fmt::format("({}){}", type, place_text(b.place))};
}

class CudaPrinter {
 public:
  CudaPrinter(const Target& target, Precision precision) : target_(target), precision_(precision) {}

  // Launches for all kernels of a function that the host executes one by one.
  void add_launches(const Function& f) {
    std::optional<Together> group;
    const auto              close = [&] {
      if (group) add_launch(*group);
      group.reset();
    };
    for (const Kernel& k : f.kernels) {
      if (std::holds_alternative<HostCall>(k.what) || asks_host(k)) {
        close();
        for (const auto& [role, g] : contained(k)) add_launches(*g);
        continue;
      }
      if (launches.contains(&k)) continue;
      if (std::holds_alternative<TimeLoop>(k.what)) {
        close();
        if (auto p = persistent(next_name(), f, k, target_, precision_)) {
          text += library_.linked(p->text);
          has_loops = true;
          launches.emplace(&k, std::move(p->launch));
          continue;
        }
      }
      const CudaKernelText inside = kernel(f, k);
      if (group && !group->takes(k, inside)) close();
      if (!group) group.emplace(f, target_);
      group->add(k, inside);
    }
    close();
  }

  // The library functions that the text calls.
  std::string functions() const { return library_.text("static __device__"); }

  std::string                     text;
  std::map<const Kernel*, Launch> launches;
  bool                            has_tiles = false, has_loops = false;  // uses tiles.cu, persistent.cu

 private:
  std::string next_name() const { return fmt::format("bt_launch{}", launches.size()); }

  void add_launch(const Together& group) {
    const Launch l = group.launch(next_name());
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) {}(bt_cuda_frame f) {{\nbt_team t = "
        "bt_joined(f);\n{}{}}}\n",
        l.threads, l.name, group.body(), l.meets ? "bt_leave(t);\n" : "");
    for (const Kernel* k : group.kernels())
      launches.emplace(k, k == group.kernels()[0] ? l : Launch{.name = l.name, .blocks = 0});
  }

  // A call of the kernel's device function. Kernels that differ only in their buffers share one function.
  CudaKernelText kernel(const Function& f, const Kernel& k, int64_t units = 0) {
    const CudaContext c{target_, precision_, k.parts, units,
                        [this](const Function& g, int64_t n) -> const CudaKernelText& { return function(g, n); }};
    CudaKernelText    out = std::visit([&](const auto& what) { return cuda_text(what, c); }, k.what);
    has_tiles             = has_tiles || out.tiles;
    std::string              head, given = k.scratch ? fmt::format("f.arena + {}", k.place) : "nullptr";
    std::vector<std::string> own;
    Words                    numbered;
    const Vars               vars = joined(k.reads, k.writes);
    for (Var v : vars) own.push_back("v" + str(v));
    for (size_t i = 0; i < vars.size(); ++i) {
      const Pointer p = pointer_to(f, vars[i]);
      numbered.emplace_back(own[i], "v" + str(i));
      head += fmt::format(", {} v{}", p.type, i);
      given += ", " + p.value;
    }
    const std::string shared = fmt::format("(const bt_cuda_frame& f, bt_team& t, char* w{}) {{\n{}}}\n", head,
                                           library_.linked(out.body, numbered));
    auto [at, is_new]        = kernels_.try_emplace(shared, fmt::format("bt_kernel{}", kernels_.size()));
    if (is_new) {
      std::string ops;
      for (const Op* op : k.ops) ops += fmt::format(" {}", op->name);
      text += fmt::format("/*{} */\nstatic __device__ void {}{}", ops, at->second, shared);
    }
    out.body = fmt::format("{}(f, t, {});\n", at->second, given);
    return out;
  }

  // The device function for a nested function, which a team executes as a whole.
  const CudaKernelText& function(const Function& f, int64_t units) {
    if (const auto known = functions_.find(&f); known != functions_.end()) return known->second;
    CudaKernelText out;
    std::string    body;
    Hazards        hazards(f);
    for (const Kernel& k : f.kernels) {
      const CudaKernelText inside = kernel(f, k, units);
      if (hazards.must_wait(k)) {
        body += units ? "__syncthreads();\n" : "bt_meet(t);\n";
        hazards.clear();
      }
      hazards.add(k);
      body += inside.body;
      out.blocks = std::max(out.blocks, inside.blocks);
      out.shared = std::max(out.shared, inside.shared);
    }
    for (const auto& [from, to] : f.copies) {
      if (hazards.writes(from)) {
        body += "bt_meet(t);\n";
        hazards.clear();
      }
      body += fmt::format("bt_copy(t, f.out[{}], {}, {});\n", to, pointer_to(f, from).value,
                          f.buffers[static_cast<size_t>(from)].type.bytes());
    }
    out.body = fmt::format("bt_f{}", functions_.size());
    text += fmt::format("static __device__ void {}(const bt_cuda_frame& f, bt_team& t) {{\n{}}}\n", out.body, body);
    return functions_.emplace(&f, std::move(out)).first->second;
  }

  const Target&                             target_;
  Precision                                 precision_;
  Library                                   library_;
  std::map<std::string, std::string>        kernels_;  // name by text
  std::map<const Function*, CudaKernelText> functions_;
};

}  // namespace

CudaText emit_cuda(Schedule schedule, const Target& target, Precision precision) {
  CudaPrinter printer(target, precision);
  for (const FunctionPtr& f : schedule.entries) printer.add_launches(*f);
  CudaText out;
  out.source   = fmt::format("{}{}\n{}{}{}{}{}", emitted_text(types_cu()), cuda_abi_text, emitted_text(team_cu()),
                           printer.has_tiles || printer.has_loops ? emitted_text(tiles_cu()) : "",
                           printer.has_loops ? emitted_text(persistent_cu()) : "", printer.functions(), printer.text);
  out.schedule = std::move(schedule);
  out.launches = std::move(printer.launches);
  return out;
}

}  // namespace braintrace::codegen
