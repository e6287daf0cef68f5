// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ir/attrs.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "braintrace/base/hash.h"
#include "braintrace/ir/program.h"

namespace braintrace {

namespace {

bool same_bits(double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); }

bool same(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, Array>)
          return identical(x, y);
        else if constexpr (std::is_same_v<T, ProgramPtr>)
          return x == y || equal(*x, *y);
        else if constexpr (std::is_same_v<T, ProgramPtrs>)
          return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                            [](const ProgramPtr& p, const ProgramPtr& q) { return p == q || equal(*p, *q); });
        else if constexpr (std::is_same_v<T, double>)
          return same_bits(x, y);
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_bits);
        else
          return x == y;
      },
      a);
}

size_t hash_value(const AttrValue& value) {
  return std::visit(
      []<class T>(const T& x) -> size_t {
        size_t h = 0;
        if constexpr (std::is_same_v<T, Array>) {
          hash_add(h, static_cast<size_t>(x.dtype()));
          for (int64_t d : x.shape()) hash_add(h, static_cast<size_t>(d));
          // Hash only some pieces of a large array: equal arrays have equal pieces, and `same` compares everything.
          constexpr size_t stretch = 4096, most = 8;
          const size_t     step = std::max(stretch, x.bytes() / most);
          for (size_t at = 0; at < x.bytes(); at += step)
            hash_add(h, std::hash<std::string_view>{}(
                            {static_cast<const char*>(x.raw()) + at, std::min(stretch, x.bytes() - at)}));
        } else if constexpr (std::is_same_v<T, ProgramPtr>) {
          hash_add(h, hash(*x));
        } else if constexpr (std::is_same_v<T, ProgramPtrs>) {
          for (const ProgramPtr& p : x) hash_add(h, hash(*p));
        } else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::vector<double>>) {
          for (auto v : x) hash_add(h, std::hash<decltype(v)>{}(v));
        } else {
          hash_add(h, std::hash<T>{}(x));
        }
        return h;
      },
      value);
}

auto position(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const Attr& a, std::string_view n) { return a.name.compare(n) < 0; });
}

}  // namespace

Attr::Attr(std::string n, AttrValue v) : name(std::move(n)), value(std::move(v)) {}
Attr::Attr(const Attr&)                = default;
Attr::Attr(Attr&&) noexcept            = default;
Attr& Attr::operator=(const Attr&)     = default;
Attr& Attr::operator=(Attr&&) noexcept = default;
Attr::~Attr()                          = default;

Attrs::Attrs(std::initializer_list<Attr> items) {
  for (const Attr& a : items) set(a);
}

void Attrs::set(Attr attr) {
  auto it = position(items_, attr.name);
  if (it != items_.end() && it->name == attr.name)
    *it = std::move(attr);
  else
    items_.insert(it, std::move(attr));
}

const AttrValue* Attrs::find_value(std::string_view name) const {
  auto it = position(items_, name);
  return it != items_.end() && it->name == name ? &it->value : nullptr;
}

void Attrs::missing(std::string_view name) {
  fail("attribute '{}' is missing or has a different type than this operation expects.", name);
}

bool Attrs::operator==(const Attrs& other) const {
  return std::equal(items_.begin(), items_.end(), other.items_.begin(), other.items_.end(),
                    [](const Attr& a, const Attr& b) { return a.name == b.name && same(a.value, b.value); });
}

size_t Attrs::hash() const {
  size_t h = 0;
  for (const Attr& a : items_) {
    hash_add(h, std::hash<std::string>{}(a.name));
    hash_add(h, hash_value(a.value));
  }
  return h;
}

}  // namespace braintrace
