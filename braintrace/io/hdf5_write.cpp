// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "braintrace/io/hdf5.h"

namespace braintrace {

namespace {

constexpr uint64_t no_address = ~uint64_t{0};
constexpr uint64_t heap_size  = 4096;  // of texts, at least
constexpr size_t   tree_k     = 16;    // a tree node has up to 2k children

struct TextPlace {
  uint64_t heap, index, length;
};

class Hdf5Writer {
 public:
  Bytes whole(const Hdf5Group& root) {
    leaf_k_ = std::max<size_t>(4, (largest(root) + 4 * tree_k - 1) / (4 * tree_k));
    out_.resize(96);
    texts(root);
    const uint64_t header = group(root);
    const Bytes    body   = std::move(out_);
    out_.clear();
    for (const char c : std::string_view("\x89HDF\r\n\x1a\n")) put(static_cast<uint8_t>(c), 1);
    put(0, 4);
    put(0, 1);
    put(8, 1);  // bytes of an address
    put(8, 1);  // and of a length
    put(0, 1);
    put(leaf_k_, 2);
    put(tree_k, 2);
    put(0, 4);
    put(0, 8);
    put(no_address, 8);
    put(body.size(), 8);
    put(no_address, 8);
    put(0, 8);
    put(header, 8);
    put(0, 24);
    out_.insert(out_.end(), body.begin() + 96, body.end());
    return std::move(out_);
  }

 private:
  void put(uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out_.push_back(static_cast<std::byte>(i < 8 ? value >> 8 * i & 0xFF : 0));
  }
  void put(std::string_view text) {
    for (const char c : text) out_.push_back(static_cast<std::byte>(c));
  }
  void     align() { out_.resize((out_.size() + 7) / 8 * 8); }
  uint64_t here() {
    align();
    return out_.size();
  }

  static size_t largest(const Hdf5Group& g) {
    size_t n = g.members.size();
    for (const auto& [name, item] : g.members)
      if (const auto* sub = std::get_if<std::shared_ptr<Hdf5Group>>(&item)) n = std::max(n, largest(**sub));
    return n;
  }

  // All texts are in one heap.
  static void collect(const Hdf5Group& g, std::vector<std::string>& all) {
    for (const auto& [name, item] : g.members)
      if (const auto* t = std::get_if<Hdf5Texts>(&item))
        all.insert(all.end(), t->values.begin(), t->values.end());
      else if (const auto* sub = std::get_if<std::shared_ptr<Hdf5Group>>(&item))
        collect(**sub, all);
  }
  void texts(const Hdf5Group& root) {
    std::vector<std::string> all;
    collect(root, all);
    require(all.size() < std::numeric_limits<uint16_t>::max(), "HDF5: {} texts are more than one file can have here.",
            all.size());
    uint64_t used = 32;
    for (const std::string& t : all) used += 16 + (t.size() + 7) / 8 * 8;
    const uint64_t heap = here(), size = std::max(heap_size, used);
    put("GCOL");
    put(1, 4);
    put(size, 8);
    for (size_t i = 0; i < all.size(); ++i) {
      places_.push_back({all[i].empty() ? 0 : heap, i + 1, all[i].size()});
      put(i + 1, 2);
      put(0, 6);
      put(all[i].size(), 8);
      put(all[i]);
      align();
    }
    put(0, 8);  // the rest is free
    put(heap + size - (out_.size() - 8), 8);
    out_.resize(heap + size);
  }

  using Members = std::vector<std::pair<std::string, uint64_t>>;  // names, and addresses of headers

  uint64_t group(const Hdf5Group& g) {
    Members members;
    for (const auto& [name, item] : g.members) {
      require(!name.empty() && name.find_first_of(std::string_view("/\0", 2)) == name.npos && name != ".",
              "HDF5: '{}' cannot be a name.", name);
      if (const auto* sub = std::get_if<std::shared_ptr<Hdf5Group>>(&item))
        members.emplace_back(name, group(**sub));
      else
        members.emplace_back(name, data_set(item));
    }
    std::vector<uint64_t> offsets;
    const uint64_t        heap   = names_of(members, offsets);
    const uint64_t        tree   = tree_of(members, offsets);
    const uint64_t        header = here();
    put(1, 2);
    put(1, 2);   // messages
    put(1, 4);   // links to it
    put(24, 8);  // bytes
    put(0x11, 2);
    put(16, 2);
    put(0, 4);
    put(tree, 8);
    put(heap, 8);
    return header;
  }

  // A heap of names, and the offset of each.
  uint64_t names_of(const Members& members, std::vector<uint64_t>& offsets) {
    std::string names(8, '\0');
    for (const auto& [name, address] : members) {
      offsets.push_back(names.size());
      names += name;
      names.resize((names.size() + 8) / 8 * 8);
    }
    names.resize(names.size() + 16);
    const uint64_t text = here();
    put(names);
    std::memset(out_.data() + text + names.size() - 16, 0, 16);
    out_[text + names.size() - 16] = std::byte{1};  // the free block at the end: the last one, and its size
    out_[text + names.size() - 8]  = std::byte{16};
    const uint64_t heap            = here();
    put("HEAP");
    put(0, 4);
    put(names.size(), 8);
    put(names.size() - 16, 8);
    put(text, 8);
    return heap;
  }

  // Leaves with the members, and one node above them.
  uint64_t tree_of(const Members& members, const std::vector<uint64_t>& offsets) {
    std::vector<uint64_t> leaves, last;  // of each leaf its address and the name of its last entry
    for (size_t first = 0; first < members.size(); first += 2 * leaf_k_) {
      const size_t n = std::min(2 * leaf_k_, members.size() - first);
      leaves.push_back(here());
      last.push_back(offsets[first + n - 1]);
      put("SNOD");
      put(1, 2);
      put(n, 2);
      for (size_t i = first; i < first + n; ++i) {
        put(offsets[i], 8);
        put(members[i].second, 8);
        put(0, 24);
      }
      out_.resize(leaves.back() + 8 + 2 * leaf_k_ * 40);
    }
    const uint64_t tree = here();
    put("TREE");
    put(0, 2);
    put(leaves.size(), 2);
    put(no_address, 8);
    put(no_address, 8);
    put(0, 8);
    for (size_t i = 0; i < leaves.size(); ++i) {
      put(leaves[i], 8);
      put(last[i], 8);
    }
    out_.resize(tree + 24 + 8 * (4 * tree_k + 1));
    return tree;
  }

  void put_type(const Hdf5Item& item) {  // always 24 bytes
    const size_t from = out_.size();
    if (std::holds_alternative<Hdf5Texts>(item)) {
      put(0x010119, 4);  // of variable length, a text, in UTF-8
      put(16, 4);
      put(0x10, 4);  // of bytes
      put(1, 4);
      put(0x080000, 8);
    } else {
      const Array& a = std::get<Array>(item);
      const size_t n = size_of(a.dtype());
      switch (a.dtype()) {
        case DType::F16:
        case DType::F32:
        case DType::F64: {
          const bool     half = a.dtype() == DType::F16, single = a.dtype() == DType::F32;
          const uint64_t mantissa = half ? 10 : single ? 23 : 52, exponent = half ? 5 : single ? 8 : 11;
          put(0x11, 1);
          put(0x20, 1);
          put(8 * n - 1, 1);
          put(0, 1);
          put(n, 4);
          put(0, 2);
          put(8 * n, 2);
          put(mantissa, 1);
          put(exponent, 1);
          put(0, 1);
          put(mantissa, 1);
          put((uint64_t{1} << (exponent - 1)) - 1, 4);
          break;
        }
        case DType::I32:
        case DType::I64:
          put(0x0810, 4);
          put(n, 4);
          put(0, 2);
          put(8 * n, 2);
          break;
        default:
          fail("HDF5: arrays of {} are not written.", to_string(a.type()));
      }
    }
    out_.resize(from + 24);
  }

  uint64_t data_set(const Hdf5Item& item) {
    const auto*    texts = std::get_if<Hdf5Texts>(&item);
    const Shape&   shape = texts ? texts->shape : std::get<Array>(item).shape();
    const uint64_t data  = here();
    uint64_t       bytes = 0;
    if (texts) {
      for (size_t i = 0; i < texts->values.size(); ++i, ++next_text_) {
        put(places_[next_text_].length, 4);
        put(places_[next_text_].heap, 8);
        put(places_[next_text_].index, 4);
      }
      bytes = 16 * texts->values.size();
    } else {
      const Array& a     = std::get<Array>(item);
      const auto*  first = static_cast<const std::byte*>(a.raw());
      bytes              = a.bytes();
      out_.insert(out_.end(), first, first + bytes);
    }
    const uint64_t header = here(), axes = 8 * shape.size();
    put(1, 2);
    put(4, 2);                                               // messages
    put(1, 4);                                               // links to it
    put((8 + 8 + axes) + (8 + 24) + (8 + 8) + (8 + 24), 8);  // bytes
    put(0x01, 2);
    put(8 + axes, 8 - 2);
    put(1, 1);
    put(shape.size(), 7);
    for (int64_t d : shape) put(static_cast<uint64_t>(d), 8);
    put(0x03, 2);
    put(24, 2);
    put(1, 4);
    put_type(item);
    put(0x05, 2);  // no fill value
    put(8, 2);
    put(1, 4);
    put(0x01000202, 8);
    put(0x08, 2);
    put(24, 8 - 2);
    put(3, 1);
    put(1, 1);
    put(bytes == 0 ? no_address : data, 8);
    put(bytes, 8);
    put(0, 6);
    return header;
  }

  Bytes                  out_;
  std::vector<TextPlace> places_;
  size_t                 next_text_ = 0, leaf_k_ = 4;
};

}  // namespace

Bytes encode_hdf5(const Hdf5Group& root) { return Hdf5Writer().whole(root); }

}  // namespace braintrace
