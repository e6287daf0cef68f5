// SPDX-License-Identifier: Apache-2.0
// Trees: C++ values that contain tensors. Transforms flatten and rebuild them.
//
//   Tensor · vector, array, pair, tuple, optional and map of trees
//   structs with `auto fields() { return std::tie(a, b); }`
//
// Numbers, enums and strings are *static*: they belong to the structure, and a jitted function is traced again when
// they change. A tree is rebuilt by copying a tree of the same structure and replacing its tensors.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace::tree {

namespace detail {

template <class T, template <class...> class Of>
inline constexpr bool is_a = false;
template <template <class...> class Of, class... Args>
inline constexpr bool is_a<Of<Args...>, Of> = true;

template <class T>
inline constexpr bool is_array = false;
template <class T, size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <class T>
concept HasFields = requires(T& t) {
  t.fields();
};
template <class T>
concept IsStatic = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;
template <class T>
inline constexpr bool unsupported = false;

inline std::string key_text(const std::string& key) { return key; }
template <class K>
std::string key_text(const K& key) {
  if constexpr (std::is_arithmetic_v<K>)
    return std::to_string(key);
  else
    return key.str();
}

template <class T>
std::string_view bytes_of(const T& value) {
  static_assert(std::is_same_v<T, std::string> || std::is_trivially_copyable_v<T>);
  if constexpr (std::is_same_v<T, std::string>)
    return value;
  else
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace detail

// Calls visit.leaf(Tensor&) for each tensor and visit.part(kind, bytes) for everything else in the structure.
template <class T, class Visit>
void walk(T& value, Visit& visit) {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, Tensor>) {
    visit.leaf(value);
  } else if constexpr (detail::HasFields<U>) {
    // fields() only refers to the members, so calling it on a const value is harmless.
    auto fields = const_cast<U&>(value).fields();
    visit.part('s', {});
    auto field = [&visit]<class F>(F& f) { walk<std::conditional_t<std::is_const_v<T>, const F, F>>(f, visit); };
    std::apply([&](auto&... f) { (field(f), ...); }, fields);
  } else if constexpr (detail::is_a<U, std::pair> || detail::is_a<U, std::tuple>) {
    visit.part('(', {});
    std::apply([&](auto&... f) { (walk(f, visit), ...); }, value);
  } else if constexpr (detail::is_a<U, std::vector> || detail::is_array<U>) {
    visit.part('[', std::to_string(value.size()));
    if constexpr (std::is_same_v<U, std::vector<bool>>)
      for (bool b : value) visit.part('=', b ? "1" : "0");
    else
      for (auto& element : value) walk(element, visit);
  } else if constexpr (detail::is_a<U, std::map>) {
    visit.part('{', std::to_string(value.size()));
    for (auto& [key, element] : value) {
      visit.part(':', detail::key_text(key));
      walk(element, visit);
    }
  } else if constexpr (detail::is_a<U, std::optional>) {
    visit.part('?', value ? "1" : "0");
    if (value) walk(*value, visit);
  } else if constexpr (detail::IsStatic<U>) {
    visit.part('=', detail::bytes_of(value));
  } else {
    static_assert(
        detail::unsupported<U>,
        "not a tree of tensors: use Tensor, vector, array, pair, tuple, map, optional, numbers, strings, or a "
        "struct with `auto fields() { return std::tie(a, b); }`. Models are captured, not passed.");
  }
}

// The tensors of a tree in order.
template <class T>
Tensors flatten(const T& value) {
  struct {
    Tensors out;
    void    leaf(const Tensor& t) { out.push_back(t); }
    void    part(char, std::string_view) {}
  } visit;
  walk(value, visit);
  return std::move(visit.out);
}

// `like` with its tensors replaced, in order, by those from `first` on.
template <class T>
T unflatten(T like, const Tensor* first) {
  struct {
    const Tensor* next;
    void          leaf(Tensor& t) { t = *next++; }
    void          part(char, std::string_view) {}
  } visit{first};
  walk(like, visit);
  return like;
}
template <class T>
T unflatten(T like, const Tensors& tensors) {
  return unflatten(std::move(like), tensors.data());
}

template <class T>
size_t num_leaves(const T& value) {
  struct {
    size_t n = 0;
    void   leaf(const Tensor&) { ++n; }
    void   part(char, std::string_view) {}
  } visit;
  walk(value, visit);
  return visit.n;
}

// A tree without the elements of its tensors, as a key: structure, static values and tensor types.
template <class T>
std::string signature(const T& value) {
  struct {
    std::string out;
    void        leaf(const Tensor& t) {
             ((out += '*') += static_cast<char>(t.dtype())) += detail::bytes_of(t.rank());
             for (const int64_t n : t.shape()) out += detail::bytes_of(n);
    }
    void part(char kind, std::string_view text) { (((out += kind) += std::to_string(text.size())) += '~') += text; }
  } visit;
  visit.out.reserve(128);  // enough for most trees
  walk(value, visit);
  return std::move(visit.out);
}

// The structure alone: equal for trees that differ only in tensor types.
template <class T>
std::string structure(const T& value) {
  struct {
    std::string out;
    void        leaf(const Tensor&) { out += '*'; }
    void part(char kind, std::string_view text) { (((out += kind) += std::to_string(text.size())) += '~') += text; }
  } visit;
  walk(value, visit);
  return std::move(visit.out);
}

// A tree of the same structure whose tensors come from f, applied leaf by leaf.
template <class F, class T>
T map(F&& f, const T& value) {
  Tensors leaves = flatten(value);
  for (Tensor& t : leaves) t = f(t);
  return unflatten(value, leaves);
}

}  // namespace braintrace::tree
