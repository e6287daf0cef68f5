// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/msgpack.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace braintrace {

namespace {

constexpr const char* chunked_key = "__msgpack_chunked_array__";

// What is read: a map or list of items, a text or bytes, a number, an array, or something without a value.
struct PackedMember;
struct PackedItem {
  std::vector<PackedMember>  members;  // of a list under 0, 1, …
  bool                       is_map = false, is_list = false;
  std::optional<double>      number;
  std::optional<std::string> text;
  std::optional<Array>       array;
};
struct PackedMember {
  std::string name;
  PackedItem  item;
};

class PackedReader {
 public:
  PackedReader(ByteSpan bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  PackedItem whole() {
    PackedItem item = next(0);
    require(at_ == bytes_.size(), "{}: the file is damaged: there are {} bytes too many.", where_, bytes_.size() - at_);
    return item;
  }
  PackedItem next(int depth) {
    if (depth > 64) damaged("it is nested too deeply");
    const auto head = static_cast<uint8_t>(number(1));
    PackedItem out;
    if (head < 0x80 || head >= 0xE0) {
      out.number = static_cast<int8_t>(head);
    } else if (head < 0x90) {
      map(out, head & 0x0F, depth);
    } else if (head < 0xA0) {
      list(out, head & 0x0F, depth);
    } else if (head < 0xC0) {
      out.text = text(head & 0x1F);
    } else {
      long_form(head, out, depth);
    }
    return out;
  }

 private:
  [[noreturn]] void damaged(const char* what) const { fail("{}: the file is damaged: {}.", where_, what); }

  uint64_t number(size_t n) {  // big-endian
    if (bytes_.size() - at_ < n) damaged("it ends too early");
    uint64_t value = 0;
    for (size_t i = 0; i < n; ++i) value = value << 8 | static_cast<uint8_t>(bytes_[at_++]);
    return value;
  }
  ByteSpan take(uint64_t n) {
    if (bytes_.size() - at_ < n) damaged("it ends too early");
    at_ += n;
    return bytes_.subspan(at_ - n, n);
  }
  std::string text(uint64_t n) {
    const ByteSpan b = take(n);
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  void map(PackedItem& out, uint64_t n, int depth) {
    out.is_map = true;
    if (n > bytes_.size() - at_) damaged("a map is longer than the file");
    for (uint64_t i = 0; i < n; ++i) {
      const PackedItem key = next(depth + 1);
      if (!key.text && !key.number) damaged("a key is not text");
      const std::string name = key.text ? *key.text : fmt::format("{}", *key.number);
      PackedItem        item = next(depth + 1);
      out.members.push_back({name, std::move(item)});
    }
  }
  void list(PackedItem& out, uint64_t n, int depth) {
    out.is_list = true;
    if (n > bytes_.size() - at_) damaged("a list is longer than the file");
    for (uint64_t i = 0; i < n; ++i) {
      PackedItem item = next(depth + 1);
      out.members.push_back({std::to_string(i), std::move(item)});
    }
  }
  void extension(PackedItem& out, uint64_t n, int depth) {
    const auto     kind = number(1);
    const ByteSpan data = take(n);
    if (kind == 1 || kind == 3) out.array = array(data, depth);
  }
  // (shape, element type, bytes)
  Array array(ByteSpan data, int depth) {
    PackedReader     inside(data, where_);
    const PackedItem item = inside.next(depth + 1);
    if (!item.is_list || item.members.size() != 3) damaged("an array lacks its shape, type or elements");
    const PackedItem &dims = item.members[0].item, &type = item.members[1].item, &bytes = item.members[2].item;
    if (!dims.is_list || !type.text || !bytes.text) damaged("an array lacks its shape, type or elements");
    return array_of(shape_of(dims), *type.text, *bytes.text);
  }
  Shape shape_of(const PackedItem& dims) const {
    Shape  shape;
    double size = 1;
    for (const auto& [i, d] : dims.members) {
      if (!d.number || *d.number < 0 || *d.number > 1e12 || dims.members.size() > 32)
        damaged("an array has an invalid shape");
      size *= *d.number;
      shape.push_back(static_cast<int64_t>(*d.number));
    }
    if (size > 1e12) damaged("an array has an invalid shape");
    return shape;
  }
  Array array_of(const Shape& shape, const std::string& type, const std::string& bytes) const {
    const auto count = static_cast<uint64_t>(size_of(shape));
    const auto check = [&](size_t element) {
      if (bytes.size() != count * element) damaged("the size of an array does not match its shape");
    };
    const auto same = [&](DType dtype) {
      check(size_of(dtype));
      Array a(Type{dtype, shape});
      std::memcpy(a.mutable_raw(), bytes.data(), bytes.size());
      return a;
    };
    const auto widened = [&]<class T>(T) {
      check(sizeof(T));
      Array a(Type{DType::I64, shape});
      for (uint64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        a.mutable_data<int64_t>()[i] = static_cast<int64_t>(value);
      }
      return a;
    };
    if (type == "float32") return same(DType::F32);
    if (type == "float64") return same(DType::F64);
    if (type == "float16") return same(DType::F16);
    if (type == "bfloat16") return same(DType::BF16);
    if (type == "int32") return same(DType::I32);
    if (type == "int64") return same(DType::I64);
    if (type == "int8") return widened(int8_t{});
    if (type == "int16") return widened(int16_t{});
    if (type == "uint8") return widened(uint8_t{});
    if (type == "uint16") return widened(uint16_t{});
    if (type == "uint32") return widened(uint32_t{});
    if (type == "bool") {
      check(1);
      Array a(Type{DType::Bool, shape});
      for (uint64_t i = 0; i < count; ++i) static_cast<uint8_t*>(a.mutable_raw())[i] = bytes[i] != 0;
      return a;
    }
    fail("{}: an array of {} cannot be read.", where_, type);
  }
  // A group of heads begins with the smallest size; each further head doubles it.
  void long_form(uint8_t head, PackedItem& out, int depth) {
    const auto size = [head](uint8_t first) { return size_t{1} << (head - first); };
    if (head == 0xC1) damaged("it has an invalid byte");
    if (head < 0xC4) return;  // nil, false, true
    if (head < 0xC7)
      out.text = text(number(size(0xC4)));
    else if (head < 0xCA)
      extension(out, number(size(0xC7)), depth);
    else if (head < 0xD4)
      out.number = long_number(head);
    else if (head < 0xD9)
      extension(out, size(0xD4), depth);
    else if (head < 0xDC)
      out.text = text(number(size(0xD9)));
    else if (head < 0xDE)
      list(out, number(2 * size(0xDC)), depth);
    else
      map(out, number(2 * size(0xDE)), depth);
  }
  double long_number(uint8_t head) {
    if (head == 0xCA) return std::bit_cast<float>(static_cast<uint32_t>(number(4)));
    if (head == 0xCB) return std::bit_cast<double>(number(8));
    if (head < 0xD0) return static_cast<double>(number(size_t{1} << (head - 0xCC)));
    if (head == 0xD0) return static_cast<int8_t>(number(1));
    if (head == 0xD1) return static_cast<int16_t>(number(2));
    if (head == 0xD2) return static_cast<int32_t>(number(4));
    return static_cast<double>(static_cast<int64_t>(number(8)));
  }

  ByteSpan           bytes_;
  const std::string& where_;
  size_t             at_ = 0;
};

const PackedItem* member(const PackedItem& item, const std::string& name) {
  for (const auto& [key, value] : item.members)
    if (key == name) return &value;
  return nullptr;
}

// {chunked: true, shape: {0: n, …}, chunks: {0: array, …}}
Array unchunked(const PackedItem& item, const std::string& where) {
  const PackedItem *shape = member(item, "shape"), *chunks = member(item, "chunks");
  require(shape && chunks && !chunks->members.empty(), "{}: the file is damaged: an array in chunks lacks its parts.",
          where);
  Shape   dims;
  int64_t count = 1, found = 0;
  for (const auto& [key, d] : shape->members) {
    require(d.number && *d.number >= 0 && *d.number <= 1e12, "{}: the file is damaged: an array has an invalid shape.",
            where);
    dims.push_back(static_cast<int64_t>(*d.number));
    require(dims.back() == 0 || count <= (int64_t{1} << 40) / dims.back(),
            "{}: the file is damaged: an array has an invalid shape.", where);
    count *= dims.back();
  }
  for (const auto& [key, c] : chunks->members) {
    require(c.array && c.array->dtype() == chunks->members[0].item.array->dtype(),
            "{}: the file is damaged: a chunk is not an array.", where);
    found += c.array->size();
  }
  require(found == count, "{}: the file is damaged: the chunks of an array do not fill it.", where);
  Array out(Type{chunks->members[0].item.array->dtype(), dims});
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  for (const auto& [key, c] : chunks->members) {
    std::memcpy(to, c.array->raw(), c.array->bytes());
    to += c.array->bytes();
  }
  return out;
}

void collect(const PackedItem& item, const std::string& path, const std::string& where, NamedArrays& out) {
  if (item.array) {
    require(out.emplace(path, *item.array).second, "{}: there are two arrays '{}'.", where, path);
  } else if (item.number) {
    out.emplace(path, Array::scalar(DType::F64, *item.number));
  } else if (member(item, chunked_key)) {
    out.emplace(path, unchunked(item, where));
  } else if (const PackedItem* mantissa = member(item, "mantissa"); mantissa && member(item, "dim")) {
    collect(*mantissa, path, where, out);
  } else {
    for (const auto& [name, inner] : item.members) collect(inner, path.empty() ? name : path + "." + name, where, out);
  }
}

}  // namespace

NamedArrays decode_msgpack_arrays(ByteSpan bytes, const std::string& where) {
  const PackedItem root = PackedReader(bytes, where).whole();
  require(root.is_map, "{}: expected weights as .npz, .safetensors or msgpack; this is none of them.", where);
  NamedArrays out;
  collect(root, "", where, out);
  return out;
}

}  // namespace braintrace
