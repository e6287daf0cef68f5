// SPDX-License-Identifier: Apache-2.0
// One array: magic, version, header length, a Python dictionary as text, then the elements.
//
//   \x93NUMPY 01 00 <u2 length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }   …\n  elements
#include "braintrace/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace braintrace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

namespace {

constexpr std::string_view magic          = "\x93NUMPY";
constexpr size_t           max_header     = 1 << 16;
constexpr size_t           max_rank       = 64;
constexpr int64_t          max_elements   = int64_t{1} << 46;
constexpr size_t           data_alignment = 64;  // of the first element from the start of the file, as NumPy does

struct Name {
  std::string_view code;
  DType            dtype;
};
constexpr Name type_names[] = {{"f4", DType::F32}, {"f8", DType::F64}, {"f2", DType::F16}, {"V2", DType::BF16},
                               {"i4", DType::I32}, {"i8", DType::I64}, {"u4", DType::U32}, {"b1", DType::Bool}};

// Small integers are read as i32; they are never written.
struct SmallInteger {
  std::string_view code;
  size_t           bytes     = 1;
  bool             is_signed = false;
};
constexpr SmallInteger small_integers[] = {{"i1", 1, true}, {"u1", 1, false}, {"i2", 2, true}, {"u2", 2, false}};

struct Header {
  Type                type;
  bool                fortran    = false;
  bool                big_endian = false;
  const SmallInteger* small      = nullptr;  // how elements lie in the file, where that is not as in memory
};

// Reads the dictionary: exactly the three keys, each once, in any order.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header read() {
    std::optional<std::string_view> descr;
    std::optional<bool>             fortran;
    std::optional<Shape>            shape;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !descr)
        descr = quoted();
      else if (key == "fortran_order" && !fortran)
        fortran = boolean();
      else if (key == "shape" && !shape)
        shape = tuple();
      else
        malformed(fmt::format("the key '{}' is unknown or repeated", key));
      if (!peek('}')) expect(',');
    }
    skip();
    if (at_ != text_.size()) malformed("text follows the dictionary");
    if (!descr || !fortran || !shape) malformed("it needs the keys descr, fortran_order and shape");
    Header h{{DType::F32, *shape}, *fortran, false};
    element_type(*descr, h);
    return h;
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    fail("{}: the .npy header is malformed: {}.\n  Header: {}", where_, what, text_.substr(0, 120));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) malformed(fmt::format("expected '{}' at byte {}", c, at_));
  }
  std::string_view quoted() {
    const char quote = peek('"') ? '"' : '\'';
    expect(quote);
    const size_t end = text_.find(quote, at_);
    if (end == text_.npos) malformed("a string does not end");
    const auto s = text_.substr(at_, end - at_);
    at_          = end + 1;
    return s;
  }
  bool boolean() {
    skip();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    malformed("fortran_order is neither True nor False");
  }
  Shape tuple() {
    Shape   shape;
    int64_t elements = 1;
    expect('(');
    while (!take(')')) {
      skip();
      int64_t size{};
      const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (code != std::errc{} || size < 0) malformed("a size in shape is negative, too large or not a number");
      at_ = static_cast<size_t>(end - text_.data());
      take('L');  // Python 2 wrote long integers so
      shape.push_back(size);
      if (shape.size() > max_rank) malformed(fmt::format("shape has more than {} axes", max_rank));
      if (size > 0 && (__builtin_mul_overflow(elements, size, &elements) || elements > max_elements))
        malformed("shape is too large");
      if (!peek(')')) expect(',');
    }
    return shape;
  }
  void element_type(std::string_view descr, Header& h) const {
    const char order = descr.empty() ? ' ' : descr[0];
    for (const Name& n : type_names)
      if (std::string_view("<>=|").find(order) != std::string_view::npos && descr.substr(1) == n.code) {
        h.type.dtype = n.dtype;
        h.big_endian = order == '>';
        return;
      }
    for (const SmallInteger& n : small_integers)
      if (std::string_view("<>=|").find(order) != std::string_view::npos && descr.substr(1) == n.code) {
        h.type.dtype = DType::I32;
        h.small      = &n;
        h.big_endian = order == '>';
        return;
      }
    fail(
        "{}: the element type '{}' is not supported; expected one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 b1 V2 (bf16).\n"
        "  Convert the array with astype before saving it.",
        where_, descr);
  }

  std::string_view   text_;
  const std::string& where_;
  size_t             at_ = 0;
};

// The header and the number of bytes before the elements.
std::pair<Header, size_t> read_header(ByteSpan bytes, const std::string& where) {
  require(bytes.size() >= 10 && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0,
          "{}: this is not a .npy file: it does not start with \\x93NUMPY.", where);
  auto       byte  = [&](size_t i) { return static_cast<size_t>(bytes[i]); };
  const auto major = byte(6);
  require(major >= 1 && major <= 3 && byte(7) == 0, "{}: .npy format version {}.{} is not known; expected 1.0 to 3.0.",
          where, major, byte(7));
  const size_t start = major == 1 ? 10 : 12;
  require(bytes.size() >= start, "{}: the file ends inside the .npy header.", where);
  const size_t length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  require(length <= max_header, "{}: the .npy header claims {} bytes; at most {} are accepted.", where, length,
          max_header);
  require(bytes.size() - start >= length, "{}: the file ends inside the .npy header: {} bytes claimed, {} left.", where,
          length, bytes.size() - start);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + start, length);
  return {HeaderReader(text, where).read(), start + length};
}

void swap_bytes(Array& a) {
  auto*        p    = static_cast<std::byte*>(a.mutable_raw());
  const size_t size = size_of(a.dtype());
  for (size_t i = 0; i < a.bytes(); i += size) std::reverse(p + i, p + i + size);
}

// A column-major array of shape s is a row-major one of the reversed shape, transposed.
Array from_fortran(const Array& a) {
  Array        out(a.type());
  const size_t item = size_of(a.dtype());
  const auto*  from = static_cast<const std::byte*>(a.raw());
  auto*        to   = static_cast<std::byte*>(out.mutable_raw());
  const size_t rank = a.shape().size();
  Ints         step(rank, 1), index(rank, 0);  // step: distance in `from` along each axis
  for (size_t k = 1; k < rank; ++k) step[k] = step[k - 1] * a.shape()[k - 1];
  int64_t at = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    std::memcpy(to + static_cast<size_t>(i) * item, from + static_cast<size_t>(at) * item, item);
    for (size_t k = rank; k-- > 0;) {
      at += step[k];
      if (++index[k] < a.shape()[k]) break;
      at -= step[k] * index[k];
      index[k] = 0;
    }
  }
  return out;
}

Array widened(const Header& h, ByteSpan elements) {
  Array        a(h.type);
  const size_t bytes = h.small->bytes;
  for (size_t i = 0; i < elements.size() / bytes; ++i) {
    uint32_t x = 0;
    for (size_t k = 0; k < bytes; ++k)  // the most significant byte first
      x = x << 8 | std::to_integer<uint32_t>(elements[i * bytes + (h.big_endian ? k : bytes - 1 - k)]);
    const uint32_t sign          = uint32_t{1} << (8 * bytes - 1);
    a.mutable_data<int32_t>()[i] = static_cast<int32_t>(h.small->is_signed ? (x ^ sign) - sign : x);
  }
  return a;
}

Array copy_of(const Type& type, ByteSpan elements) {
  Array a(type);
  if (!elements.empty()) std::memcpy(a.mutable_raw(), elements.data(), elements.size());
  return a;
}

}  // namespace

Array decode_npy(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner) {
  const auto [header, offset] = read_header(bytes, where);
  const Type&    type         = header.type;
  const ByteSpan elements     = bytes.subspan(offset);
  const size_t   item         = header.small ? header.small->bytes : size_of(type.dtype);  // in the file
  int64_t        needed{};
  require(!__builtin_mul_overflow(type.size(), static_cast<int64_t>(item), &needed) &&
              static_cast<size_t>(needed) == elements.size(),
          "{}: {} needs {} × {} bytes of elements, the file holds {}; it is truncated or damaged.", where,
          to_string(type), type.size(), item, elements.size());
  if (header.small) {
    const Array wide = widened(header, elements);
    return header.fortran && type.rank() > 1 ? from_fortran(wide) : wide;
  }

  const bool aligned = reinterpret_cast<uintptr_t>(elements.data()) % size_of(type.dtype) == 0;
  const bool change  = header.big_endian || type.dtype == DType::Bool;
  Array      a = owner && aligned && !change ? Array::borrow(type, elements.data(), owner) : copy_of(type, elements);
  if (header.big_endian) swap_bytes(a);
  if (type.dtype == DType::Bool) {  // any byte but 0 is true; only 0 and 1 are valid in memory
    auto* p = static_cast<unsigned char*>(a.mutable_raw());
    std::transform(p, p + a.size(), p, [](unsigned char c) { return c != 0; });
  }
  return header.fortran && type.rank() > 1 ? from_fortran(a) : a;
}

Bytes encode_npy(const Array& a) {
  std::string code;
  for (const Name& n : type_names)
    if (n.dtype == a.dtype()) code = (a.dtype() == DType::Bool ? "|" : "<") + std::string(n.code);
  require(a.shape().size() <= max_rank, "write_npy: {} has more than {} axes.", to_string(a.type()), max_rank);
  std::string shape;
  for (int64_t d : a.shape()) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", d);
  if (a.shape().size() == 1) shape += ",";
  std::string  header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  const size_t start  = 10;
  header.append((data_alignment - (start + header.size() + 1) % data_alignment) % data_alignment, ' ');
  header += '\n';

  Bytes out(start + header.size() + a.bytes());
  std::memcpy(out.data(), magic.data(), magic.size());
  out[6] = std::byte{1};
  out[8] = static_cast<std::byte>(header.size() & 0xff);
  out[9] = static_cast<std::byte>(header.size() >> 8);
  std::memcpy(out.data() + start, header.data(), header.size());
  if (a.bytes()) std::memcpy(out.data() + start + header.size(), a.raw(), a.bytes());
  return out;
}

Array read_npy(const std::string& path) {
  const Buffer file = read_file(path);
  return decode_npy(file.span(), path, file.data);
}

void write_npy(const std::string& path, const Array& array) { write_file(path, encode_npy(array)); }

}  // namespace braintrace
