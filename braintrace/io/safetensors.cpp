// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"

namespace braintrace {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t           length_bytes    = 8;
constexpr size_t           largest_header  = 100'000'000;
constexpr std::string_view checksum_before = "\"crc32\":\"";  // as it is in the header
constexpr std::string_view no_digits       = "00000000";

const std::vector<std::pair<DType, std::string>>& dtype_words() {
  static const std::vector<std::pair<DType, std::string>> all = {
      {DType::F64, "F64"}, {DType::F32, "F32"}, {DType::F16, "F16"}, {DType::BF16, "BF16"},
      {DType::I64, "I64"}, {DType::I32, "I32"}, {DType::U32, "U32"}, {DType::Bool, "BOOL"}};
  return all;
}
const std::string& name_in_file(DType t) {
  return std::find_if(dtype_words().begin(), dtype_words().end(), [&](const auto& n) { return n.first == t; })->second;
}

uint32_t crc_of(uint32_t crc, const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (size_t done = 0; done < size;) {
    const size_t n = std::min<size_t>(size - done, 1u << 30);
    crc            = static_cast<uint32_t>(::crc32(crc, p + done, static_cast<unsigned>(n)));
    done += n;
  }
  return crc;
}
// Of the whole file, with zeros for the digits at `digits`.
std::string checksum(ByteSpan bytes, size_t digits) {
  const size_t after = digits + no_digits.size();
  uint32_t     crc   = crc_of(0, bytes.data(), digits);
  crc                = crc_of(crc, no_digits.data(), no_digits.size());
  return fmt::format("{:08x}", crc_of(crc, bytes.data() + after, bytes.size() - after));
}

uint64_t little_endian(const std::byte* p) {
  uint64_t n = 0;
  for (size_t i = 0; i < length_bytes; ++i) n |= static_cast<uint64_t>(p[i]) << (8 * i);
  return n;
}

class Reader {
 public:
  Reader(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner)
      : bytes_(bytes), where_(where), owner_(owner) {}

  SafeTensors read() {
    require(bytes_.size() >= length_bytes, "{}: this is not a safetensors file: it has {} bytes.", where_,
            bytes_.size());
    const uint64_t n = little_endian(bytes_.data());
    require(n <= largest_header && n <= bytes_.size() - length_bytes,
            "{}: this is not a safetensors file, or it is cut short: its header should have {} bytes, the file has {}.",
            where_, n, bytes_.size());
    const std::string_view header(reinterpret_cast<const char*>(bytes_.data()) + length_bytes, n);
    const json             table = read_json(header, where_ + ": header", {.bytes = largest_header, .depth = 10});
    require(table.is_object(), "{}: the header is not a JSON object.", where_);
    data_ = bytes_.subspan(length_bytes + n);

    SafeTensors out;
    for (const auto& [name, entry] : table.items())
      if (name == "__metadata__")
        out.metadata = metadata(entry);
      else
        out.arrays.emplace(name, array(name, entry));
    check_coverage();
    if (const auto it = out.metadata.find("crc32"); it != out.metadata.end()) {
      check_checksum(header, it->second);
      out.metadata.erase(it);
      out.checked = true;
    }
    return out;
  }

 private:
  std::map<std::string, std::string> metadata(const json& entry) const {
    std::map<std::string, std::string> out;
    require(entry.is_object(), "{}: __metadata__ is not an object.", where_);
    for (const auto& [key, text] : entry.items()) {
      require(text.is_string(), "{}: the metadata entry '{}' is not text.", where_, key);
      out[key] = text.get<std::string>();
    }
    return out;
  }

  Array array(const std::string& name, const json& entry) {
    const auto wrong = [&](const char* what) { fail("{}: array '{}': {}.", where_, name, what); };
    const auto whole = [](const json& list) {
      return list.is_array() && std::all_of(list.begin(), list.end(), [](const json& n) {
               return n.is_number_unsigned() && n.get<uint64_t>() <= (uint64_t{1} << 48);
             });
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string()) wrong("its dtype is missing");
    if (!entry.contains("shape") || !whole(entry["shape"])) wrong("its shape is missing or wrong");
    if (!entry.contains("data_offsets") || !whole(entry["data_offsets"]) || entry["data_offsets"].size() != 2)
      wrong("its data_offsets are missing or wrong");
    const auto word = entry["dtype"].get<std::string>();
    const auto kind =
        std::find_if(dtype_words().begin(), dtype_words().end(), [&](const auto& n) { return n.second == word; });
    require(kind != dtype_words().end(), "{}: array '{}' has elements of type '{}', which is not supported.", where_,
            name, word);

    Type   type{kind->first, entry["shape"].get<Shape>()};
    size_t size = size_of(type.dtype);
    for (int64_t n : type.shape) {
      if (n != 0 && size > data_.size() / static_cast<size_t>(n)) wrong("its shape is larger than the file");
      size *= static_cast<size_t>(n);
    }
    const auto begin = entry["data_offsets"][0].get<size_t>(), end = entry["data_offsets"][1].get<size_t>();
    if (begin > end || end > data_.size()) wrong("its elements lie outside the file, which may be cut short");
    if (end - begin != size) wrong("its shape does not fit its data_offsets");
    if (type.dtype == DType::Bool &&
        std::any_of(data_.begin() + begin, data_.begin() + end, [](std::byte b) { return b > std::byte{1}; }))
      wrong("a truth value is neither 0 nor 1");
    used_.emplace_back(begin, end);
    return elements(type, data_.data() + begin);
  }

  Array elements(const Type& type, const std::byte* from) const {
    if (owner_ && reinterpret_cast<uintptr_t>(from) % size_of(type.dtype) == 0)
      return Array::borrow(type, from, owner_);
    Array out(type);
    if (out.bytes() > 0) std::memcpy(out.mutable_raw(), from, out.bytes());
    return out;
  }

  void check_coverage() {
    std::sort(used_.begin(), used_.end());
    size_t at = 0;
    for (const auto& [begin, end] : used_) {
      require(begin == at, "{}: the elements of its arrays {} at byte {} of the data.", where_,
              begin > at ? "leave a gap" : "overlap", std::min(begin, at));
      at = end;
    }
    require(at == data_.size(), "{}: {} bytes at its end belong to no array.", where_, data_.size() - at);
  }

  void check_checksum(std::string_view header, const std::string& stored) const {
    const size_t at = header.find(checksum_before);
    require(at != header.npos && stored.size() == no_digits.size() &&
                header.substr(at + checksum_before.size(), no_digits.size()) == stored,
            "{}: the checksum in its header is malformed.", where_);
    const std::string found = checksum(bytes_, length_bytes + at + checksum_before.size());
    require(found == stored, "{}: the file is damaged: its checksum should be {}, it is {}.", where_, stored, found);
  }

  ByteSpan                               bytes_, data_;
  const std::string&                     where_;
  const std::shared_ptr<const void>&     owner_;
  std::vector<std::pair<size_t, size_t>> used_;
};

}  // namespace

SafeTensors decode_safetensors(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner) {
  return Reader(bytes, where, owner).read();
}

Bytes encode_safetensors(const SafeTensors& content) {
  // Wide elements first, so that every array is aligned to its elements.
  std::vector<const NamedArrays::value_type*> order;
  for (const auto& entry : content.arrays) {
    require(entry.first != "__metadata__", "safetensors: an array cannot be named __metadata__.");
    order.push_back(&entry);
  }
  const auto width = [](const auto* e) { return size_of(e->second.dtype()); };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return width(a) > width(b); });

  ordered_json header;
  header["__metadata__"]["crc32"] = no_digits;  // first, so that no text before it looks the same
  for (const auto& [key, text] : content.metadata) {
    require(key != "crc32", "safetensors: the metadata entry crc32 is made by the writer.");
    header["__metadata__"][key] = text;
  }
  size_t size = 0;
  for (const auto* e : order) {
    const size_t end = size + e->second.bytes();
    header[e->first] = {
        {"dtype", name_in_file(e->second.dtype())}, {"shape", e->second.shape()}, {"data_offsets", {size, end}}};
    size = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  Bytes out(length_bytes + text.size() + size);
  for (size_t i = 0; i < length_bytes; ++i) out[i] = static_cast<std::byte>(text.size() >> (8 * i) & 0xff);
  std::memcpy(out.data() + length_bytes, text.data(), text.size());
  std::byte* to = out.data() + length_bytes + text.size();
  for (const auto* e : order) {
    if (e->second.bytes() > 0) std::memcpy(to, e->second.raw(), e->second.bytes());
    to += e->second.bytes();
  }
  const size_t      digits = length_bytes + text.find(checksum_before) + checksum_before.size();
  const std::string crc    = checksum(out, digits);
  std::memcpy(out.data() + digits, crc.data(), crc.size());
  return out;
}

SafeTensors read_safetensors(const std::string& path) {
  const Buffer file = read_file(path);
  return decode_safetensors(file.span(), path, file.data);
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  write_file(path, encode_safetensors(content));
}

}  // namespace braintrace
