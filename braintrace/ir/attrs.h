// SPDX-License-Identifier: Apache-2.0
// Static parameters of an equation: an ordered map from name to typed value, read through typed keys.
//
//   inline constexpr Key<Ints> axes{"axes"};
//   Attrs a{{axes, {0, 1}}};      a[axes]
//
// Equality, hash, printing and parsing are implemented once, here and in print/parse, for all operations.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace {

struct Program;
using ProgramPtr  = std::shared_ptr<const Program>;
using ProgramPtrs = std::vector<ProgramPtr>;

using AttrValue =
    std::variant<bool, int64_t, double, std::string, DType, Ints, std::vector<double>, Array, ProgramPtr, ProgramPtrs>;

template <class T>
struct Key {
  std::string_view name;
};

struct Attr {
  std::string name;
  AttrValue   value;

  Attr(std::string n, AttrValue v);
  template <class T>
  Attr(Key<T> key, T v) : name(key.name), value(std::move(v)) {}
  // Not inline: otherwise every file that copies an equation would compile the code of the variant again.
  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();
};

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<Attr> items);

  template <class T>
  const T& operator[](Key<T> key) const {
    const T* v = find(key);
    if (!v) missing(key.name);
    return *v;
  }
  template <class T>
  const T* find(Key<T> key) const {
    const AttrValue* v = find_value(key.name);
    return v ? std::get_if<T>(v) : nullptr;
  }
  template <class T>
  T get_or(Key<T> key, T otherwise) const {
    const T* v = find(key);
    return v ? *v : otherwise;
  }

  void set(Attr attr);  // adds or replaces
  template <class T>
  Attrs with(Key<T> key, T value) const {
    Attrs copy = *this;
    copy.set(Attr(key, std::move(value)));
    return copy;
  }

  auto   begin() const { return items_.begin(); }
  auto   end() const { return items_.end(); }
  bool   empty() const { return items_.empty(); }
  bool   operator==(const Attrs& other) const;
  size_t hash() const;

 private:
  const AttrValue*         find_value(std::string_view name) const;
  [[noreturn]] static void missing(std::string_view name);

  std::vector<Attr> items_;  // sorted by name
};

// Those of `full`, which traces emit for literals; ops/keys.h and control/keys.h declare those of other operations.
namespace keys {

inline constexpr Key<double> value{"value"};
inline constexpr Key<Ints>   shape{"shape"};
inline constexpr Key<DType>  dtype{"dtype"};

}  // namespace keys

}  // namespace braintrace
