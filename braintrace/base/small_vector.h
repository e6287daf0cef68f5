// SPDX-License-Identifier: Apache-2.0
// A vector that stores its first N elements inline. Shapes and operand lists are short and numerous, and memory
// allocation dominates the time for large programs, so these avoid it.
#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace braintrace {

template <class T, uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  template <class I>
  using Iterator = typename std::iterator_traits<I>::iterator_category;

 public:
  using value_type      = T;
  using size_type       = size_t;
  using difference_type = std::ptrdiff_t;
  using reference       = T&;
  using const_reference = const T&;
  using iterator        = T*;
  using const_iterator  = const T*;

  SmallVector() = default;
  explicit SmallVector(size_t n, T value = {}) { resize(n, value); }
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  template <class I, class = Iterator<I>>
  SmallVector(I first, I last) {
    assign(first, last);
  }
  SmallVector(const SmallVector& other) : SmallVector(other.begin(), other.end()) {}
  SmallVector(SmallVector&& other) noexcept { swap(other); }
  SmallVector& operator=(SmallVector other) noexcept {
    swap(other);
    return *this;
  }

  T*       data() { return heap_ ? heap_.get() : inside_; }
  const T* data() const { return heap_ ? heap_.get() : inside_; }
  T*       begin() { return data(); }
  const T* begin() const { return data(); }
  T*       end() { return data() + size_; }
  const T* end() const { return data() + size_; }
  auto     rbegin() { return std::make_reverse_iterator(end()); }
  auto     rbegin() const { return std::make_reverse_iterator(end()); }
  auto     rend() { return std::make_reverse_iterator(begin()); }
  auto     rend() const { return std::make_reverse_iterator(begin()); }

  size_t size() const { return size_; }
  bool   empty() const { return size_ == 0; }
  // Sanitizers do not detect reads beyond the size but inside the object, so assertions check them.
  T&       operator[](size_t i) { return data()[checked(i)]; }
  const T& operator[](size_t i) const { return data()[checked(i)]; }
  T&       front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T&       back() { return (*this)[size_ - size_t{1}]; }
  const T& back() const { return (*this)[size_ - size_t{1}]; }

  void reserve(size_t n) {
    if (n <= capacity_) return;
    const size_t room = n > 2 * size_t{capacity_} ? n : 2 * size_t{capacity_};
    auto         heap = std::make_unique<T[]>(room);
    std::memcpy(heap.get(), data(), size_ * sizeof(T));
    heap_     = std::move(heap);
    capacity_ = static_cast<uint32_t>(room);
  }
  void resize(size_t n, T value = {}) {
    reserve(n);
    for (size_t i = size_; i < n; ++i) data()[i] = value;
    size_ = static_cast<uint32_t>(n);
  }
  void clear() { size_ = 0; }
  void push_back(T value) {
    reserve(size_ + size_t{1});
    data()[size_++] = value;
  }
  void pop_back() { --size_; }

  template <class I, class = Iterator<I>>
  void assign(I first, I last) {
    clear();
    insert(end(), first, last);
  }
  void assign(size_t n, T value) {
    clear();
    resize(n, value);
  }
  // The inserted elements must not be elements of this vector.
  template <class I, class = Iterator<I>>
  T* insert(const T* where, I first, I last) {
    const auto at = where - begin(), before = end() - begin();
    resize(size_ + static_cast<size_t>(std::distance(first, last)));
    std::memmove(end() - (before - at), begin() + at, static_cast<size_t>(before - at) * sizeof(T));
    for (T* to = begin() + at; first != last; ++first) *to++ = *first;
    return begin() + at;
  }
  T* insert(const T* where, size_t n, T value) {
    const SmallVector values(n, value);
    return insert(where, values.begin(), values.end());
  }
  T* insert(const T* where, T value) { return insert(where, &value, &value + 1); }
  T* insert(const T* where, std::initializer_list<T> values) { return insert(where, values.begin(), values.end()); }
  T* erase(const T* first, const T* last) {
    T* to = begin() + (first - begin());
    std::memmove(to, last, static_cast<size_t>(end() - last) * sizeof(T));
    size_ -= static_cast<uint32_t>(last - first);
    return to;
  }
  T* erase(const T* where) { return erase(where, where + 1); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return a.size_ == b.size_ && std::memcmp(a.data(), b.data(), a.size_ * sizeof(T)) == 0;
  }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b) {
    for (size_t i = 0; i < a.size_ && i < b.size_; ++i)
      if (const auto order = a.data()[i] <=> b.data()[i]; std::is_neq(order)) return order;
    return a.size_ <=> b.size_;
  }

 private:
  size_t checked(size_t i) const {
    assert(i < size_);
    return i;
  }
  void swap(SmallVector& other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(inside_, other.inside_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<T[]> heap_;  // null while all elements fit inline
  T                    inside_[N] = {};
  uint32_t             size_      = 0;
  uint32_t             capacity_  = N;
};

}  // namespace braintrace
