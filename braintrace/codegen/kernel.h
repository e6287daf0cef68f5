// SPDX-License-Identifier: Apache-2.0
// The C text of one stage, and what emission of a stage may ask for. Text names values by their memory: v3 points to
// value 3; f is the frame, w the working memory of the stage.
#pragma once

#include <set>

#include "braintrace/codegen/c_text.h"
#include "braintrace/codegen/emit.h"
#include "braintrace/codegen/fuse.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

struct Kernel {
  std::string body;                  // returns nothing but the number of a failure
  int64_t     scratch = 0;           // bytes of working memory
  int64_t     count   = 1;           // independent parts: the body does those in [begin, end)
  int64_t     work    = 0;           // what an elementwise loop over so many elements takes, for sharing among threads
  int64_t     first = 0, whole = 0;  // the parts are those from `first` on of so many, if given: rows of a large array
  std::vector<std::pair<Var, Var>> in_place = {};  // (result, operand): the result may lie where the operand does
};

// The text of a stage, or with no name any other part of the file.
struct StageText {
  struct Pointer {
    Var         v;
    std::string type, value;
  };
  std::string          name, ops, body;
  std::vector<Pointer> pointers;
  std::string          scratch;  // where its working memory begins, if it needs any
};

// The C file under construction.
class Unit {
 public:
  using Function = Entry;
  explicit Unit(Dialect dialect) : dialect_(dialect) {}

  Dialect  dialect() const { return dialect_; }
  Function function(const Program& program);  // of a lowered program

  int64_t constant(const Array& value);  // its number; equal arrays have one
  int32_t host_call(const Program& p, const Eqn& e);
  void    use_product(DType t) { products_.insert(t); }
  Emitted finish(std::vector<Entry> entries) &&;

 private:
  std::string text() const;

  Dialect                dialect_;
  std::vector<StageText> parts_;
  int                    functions_ = 0;
  std::set<DType>        products_;
  Arrays                 constants_;
  std::vector<HostCall>  calls_;
};

// One equation with a rule of its own.
struct Site {
  Unit&          unit;
  const Program& p;
  const Eqn&     e;
  const Vars&    memory;

  std::string pointer(Var v) const { return "v" + str(memory[v]); }
  std::string in(size_t i) const { return pointer(e.in[i]); }
  std::string out(size_t i) const { return pointer(e.out[i]); }
  const Type& in_type(size_t i) const { return p.type(e.in[i]); }
  const Type& out_type(size_t i) const { return p.type(e.out[i]); }
};

Kernel loop_kernel(const Program& p, const Stage& stage, const Vars& memory);
Kernel rule_kernel(Site site);  // by the rule of its op, or by calling the host

// Rules by family; each fills the table of rule_kernel.
using Rule  = Kernel (*)(Site&);
using Rules = std::vector<std::pair<std::string_view, Rule>>;
const Rules& control_rules();
const Rules& index_rules();
const Rules& movement_rules();
const Rules& product_rules();
const Rules& random_rules();
const Rules& window_rules();

// Types that rules compute with as they are stored.
inline bool is_plain(DType t) { return t != DType::F16 && t != DType::BF16; }
// What sums are kept in.
inline std::string_view sum_type(DType t) { return is_float(t) ? "double" : "int64_t"; }

}  // namespace braintrace::codegen
