// SPDX-License-Identifier: Apache-2.0
#include "braintrace/io/hdf5.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <zlib.h>

#include <fmt/format.h>

namespace braintrace {

namespace {

constexpr uint64_t nowhere    = ~uint64_t{0};
constexpr size_t   most_items = 100000;  // groups and data sets of a file
constexpr int      most_depth = 64;
constexpr uint64_t most_times = 1100;  // deflate makes a file at most about a thousand times smaller

enum Message : uint16_t {
  Dataspace    = 0x01,
  LinkInfo     = 0x02,
  Datatype     = 0x03,
  Link         = 0x06,
  Layout       = 0x08,
  Filters      = 0x0B,
  Continuation = 0x10,
  SymbolTable  = 0x11
};

struct Element {
  enum class Kind : uint8_t { Integer, Float, Flag, FixedText, Text } kind = Kind::Integer;
  size_t size                                                              = 0;
  bool   is_signed = false, big_endian = false;
};

// A range of the file. Reading past its end is an error.
class Cursor {
 public:
  Cursor(ByteSpan bytes, const std::string& where) : bytes_(bytes), where_(&where) {}

  uint64_t number(size_t n) {
    const ByteSpan b     = take(n);
    uint64_t       value = 0;
    for (size_t i = n; i-- > 0;) value = value << 8 | static_cast<uint8_t>(b[i]);
    return value;
  }
  uint64_t address() { return number(8); }
  ByteSpan take(size_t n) {
    require(n <= bytes_.size() - at_, "{}: the file is damaged: it ends in the middle of an item.", *where_);
    at_ += n;
    return bytes_.subspan(at_ - n, n);
  }
  void expect(std::string_view signature) {
    const ByteSpan b = take(signature.size());
    require(std::memcmp(b.data(), signature.data(), signature.size()) == 0,
            "{}: the file is damaged: '{}' was expected at one place.", *where_, signature);
  }
  std::string text(size_t n) {
    const ByteSpan b = take(n);
    return {reinterpret_cast<const char*>(b.data()), n};
  }
  void   skip(size_t n) { take(n); }
  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }

 private:
  ByteSpan           bytes_;
  const std::string* where_;
  size_t             at_ = 0;
};

struct RawMessage {
  uint16_t type;
  ByteSpan data;
};

struct Chunks {
  uint64_t              tree = nowhere;
  std::vector<uint64_t> sizes;  // of a chunk, along each axis
};

class Hdf5Reader {
 public:
  Hdf5Reader(ByteSpan file, const std::string& where) : file_(file), where_(where) {}

  Hdf5Group root() {
    Cursor c(file_, where_);
    require(file_.size() >= 48 && std::memcmp(file_.data(), "\x89HDF\r\n\x1a\n", 8) == 0,
            "{}: this is not an HDF5 file.", where_);
    c.skip(8);
    const auto version = c.number(1);
    require(version <= 3, "{}: superblock version {} is unknown.", where_, version);
    if (version <= 1) c.skip(4);
    const auto offsets = c.number(1), lengths = c.number(1);
    require(offsets == 8 && lengths == 8, "{}: expected addresses of 8 bytes, found {} and {}.", where_, offsets,
            lengths);
    uint64_t header = 0;
    if (version <= 1) {
      c.skip(version == 0 ? 9 : 13);
      require(c.address() == 0, "{}: a file with a user block is not supported.", where_);
      c.skip(32);
      header = c.address();
    } else {
      c.skip(1);
      require(c.address() == 0, "{}: a file with a user block is not supported.", where_);
      c.skip(16);
      header = c.address();
    }
    Hdf5Item item = read(header, 0);
    require(std::holds_alternative<std::shared_ptr<Hdf5Group>>(item), "{}: the file is damaged: it has no root group.",
            where_);
    return *std::get<std::shared_ptr<Hdf5Group>>(item);
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const { fail("{}: the file is damaged: {}.", where_, what); }
  [[noreturn]] void unknown(const std::string& what) const {
    fail("{}: {} is not supported; write the file with h5py or the HDF5 library and their usual settings.", where_,
         what);
  }
  Cursor open(uint64_t address, uint64_t size = nowhere) const {
    if (address > file_.size()) damaged("an address lies outside of it");
    const uint64_t left = file_.size() - address;
    if (size != nowhere && size > left) damaged("a block goes beyond its end");
    return {file_.subspan(address, size == nowhere ? left : size), where_};
  }
  // The size of the file limits the total amount of decoded data.
  void account(uint64_t bytes) {
    decoded_ += bytes;
    if (bytes > (uint64_t{1} << 40) || decoded_ > (file_.size() + 4096) * most_times)
      damaged("a size in it is too large");
  }

  std::vector<RawMessage> messages(uint64_t header) const {
    Cursor                  c = open(header);
    std::vector<RawMessage> out;
    if (c.left() < 4) damaged("an object is missing");
    const bool                                 is_new = std::memcmp(file_.data() + header, "OHDR", 4) == 0;
    std::vector<std::pair<uint64_t, uint64_t>> blocks;  // address, length: still to be read
    bool                                       ordered = false;
    if (is_new) {
      c.skip(4);
      if (c.number(1) != 2) damaged("an object has an unknown version");
      const auto flags = c.number(1);
      ordered          = (flags & 4) != 0;
      c.skip((flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
      const uint64_t size = c.number(size_t{1} << (flags & 3));
      blocks.emplace_back(header + c.at(), size);
    } else {
      if (c.number(1) != 1) damaged("an object has an unknown version");
      c.skip(7);
      const uint64_t size = c.number(4);
      blocks.emplace_back(header + 16, size);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (blocks.size() > 1000) damaged("an object has too many parts");
      Cursor b = open(blocks[i].first, blocks[i].second);
      if (is_new && i > 0) b.expect("OCHK");
      const size_t head = is_new ? (ordered ? 6 : 4) : 8, tail = is_new && i > 0 ? 4 : 0;
      while (b.left() >= head + tail) {
        const auto type = static_cast<uint16_t>(b.number(is_new ? 1 : 2));
        const auto size = b.number(2);
        b.skip(head - (is_new ? 3 : 4));
        const ByteSpan data = b.take(size);
        if (type == Continuation) {
          Cursor         next(data, where_);
          const uint64_t address = next.address();
          blocks.emplace_back(address, next.address());
        } else {
          out.push_back({type, data});
          if (out.size() > most_items) damaged("an object has too many messages");
        }
      }
    }
    return out;
  }

  Hdf5Item read(uint64_t header, int depth) {
    if (depth > most_depth) damaged("its groups are nested too deeply, or form a cycle");
    if (++items_ > most_items) damaged("it has too many objects");
    const auto all     = messages(header);
    bool       is_data = false;
    for (const RawMessage& m : all) is_data = is_data || m.type == Layout;
    if (is_data) return data_set(all);
    auto group = std::make_shared<Hdf5Group>();
    for (const auto& [name, address] : links(all)) group->members.emplace(name, read(address, depth + 1));
    return group;
  }

  std::map<std::string, uint64_t> links(const std::vector<RawMessage>& all) {
    std::map<std::string, uint64_t> out;
    for (const RawMessage& m : all) {
      Cursor c(m.data, where_);
      if (m.type == SymbolTable) {
        const uint64_t tree = c.address(), heap = c.address();
        symbols(tree, names_of(heap), out, 0);
      } else if (m.type == LinkInfo) {
        c.skip(1);
        const auto flags = c.number(1);
        c.skip(flags & 1 ? 8 : 0);
        if (c.address() != nowhere) unknown("a group with densely stored links");
      } else if (m.type == Link) {
        link(c, out);
      }
      if (out.size() > most_items) damaged("a group has too many members");
    }
    return out;
  }
  void link(Cursor& c, std::map<std::string, uint64_t>& out) const {
    c.skip(1);
    const auto flags = c.number(1);
    const auto type  = flags & 8 ? c.number(1) : 0;
    c.skip((flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    const std::string name = c.text(c.number(size_t{1} << (flags & 3)));
    if (type == 0) out[name] = c.address();
  }
  ByteSpan names_of(uint64_t heap) const {
    Cursor c = open(heap);
    c.expect("HEAP");
    c.skip(4);
    const uint64_t size = c.number(8);
    c.skip(8);
    return open(c.address(), size).take(size);
  }
  // Level, 0 where its children are not trees, and the number of children.
  std::pair<uint64_t, uint64_t> head_of_tree(Cursor& c, uint64_t kind, int depth, std::string_view whose) const {
    if (depth > 8) damaged(fmt::format("the tree {} is too deep, or has a cycle", whose));
    c.expect("TREE");
    if (c.number(1) != kind) damaged(fmt::format("the tree {} has an unexpected type", whose));
    const uint64_t level = c.number(1), n = c.number(2);
    c.skip(16);
    return {level, n};
  }
  void symbols(uint64_t tree, ByteSpan names, std::map<std::string, uint64_t>& out, int depth) const {
    Cursor c              = open(tree);
    const auto [level, n] = head_of_tree(c, 0, depth, "of a group");
    for (uint64_t i = 0; i < n; ++i) {
      c.skip(8);
      const uint64_t child = c.address();
      if (level > 0)
        symbols(child, names, out, depth + 1);
      else
        entries(child, names, out);
      if (out.size() > most_items) damaged("a group has too many members");
    }
  }
  void entries(uint64_t node, ByteSpan names, std::map<std::string, uint64_t>& out) const {
    Cursor c = open(node);
    c.expect("SNOD");
    c.skip(2);
    const auto n = c.number(2);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t offset = c.address(), header = c.address(), cache = c.number(4);
      c.skip(20);
      if (cache == 2) continue;  // a soft link
      if (offset >= names.size()) damaged("a name lies outside of its heap");
      const auto* first = reinterpret_cast<const char*>(names.data()) + offset;
      const auto* end   = static_cast<const char*>(std::memchr(first, 0, names.size() - offset));
      if (!end) damaged("a name has no end");
      out[std::string(first, end)] = header;
    }
  }

  Shape shape_of(Cursor c) const {
    const auto version = c.number(1), rank = c.number(1), flags = c.number(1);
    if (version != 1 && version != 2) damaged("a shape has an unknown version");
    if (version == 2) {
      if (c.number(1) == 2) return {0};  // nothing
    } else {
      c.skip(5);
    }
    (void)flags;
    if (rank > 32) damaged("an array has too many axes");
    Shape    shape;
    uint64_t size = 1;
    for (uint64_t i = 0; i < rank; ++i) {
      const uint64_t d = c.number(8);
      if (d > (uint64_t{1} << 40) || (d > 0 && size > (uint64_t{1} << 40) / d)) damaged("an array is too large");
      size *= d;
      shape.push_back(static_cast<int64_t>(d));
    }
    return shape;
  }

  Element element_of(Cursor c) const {
    const auto head = c.number(1), bits = c.number(3);
    Element    e;
    e.size       = c.number(4);
    e.big_endian = (bits & 1) != 0;
    switch (head & 0x0F) {
      case 0:
        e.kind      = Element::Kind::Integer;
        e.is_signed = (bits & 8) != 0;
        if (e.size != 1 && e.size != 2 && e.size != 4 && e.size != 8) unknown("an integer of another size");
        break;
      case 1:
        e.kind = Element::Kind::Float;
        if (e.size != 2 && e.size != 4 && e.size != 8) unknown("a number of another size");
        break;
      case 3:
        e.kind = Element::Kind::FixedText;
        if (e.size == 0 || e.size > (1u << 20)) damaged("a text has an unlikely size");
        break;
      case 8:
        e.kind       = Element::Kind::Flag;
        e.big_endian = false;
        if (e.size != 1) unknown("an enumeration");
        break;
      case 9:
        e.kind = Element::Kind::Text;
        if ((bits & 0x0F) != 1) unknown("a list of variable length");
        if (e.size != 16) damaged("a text does not fit in its place");
        break;
      default:
        unknown(fmt::format("element class {}", head & 0x0F));
    }
    return e;
  }

  std::vector<std::pair<uint64_t, uint64_t>> filters_of(Cursor c) const {  // id, first number
    const auto version = c.number(1), n = c.number(1);
    if (version != 1 && version != 2) damaged("a filter has an unknown version");
    if (version == 1) c.skip(6);
    std::vector<std::pair<uint64_t, uint64_t>> out;
    for (uint64_t i = 0; i < n; ++i) {
      const auto     id     = c.number(2);
      const uint64_t length = version == 1 || id >= 256 ? c.number(2) : 0;
      c.skip(2);
      const uint64_t numbers = c.number(2);
      c.skip(version == 1 ? (length + 7) / 8 * 8 : length);
      const uint64_t first = numbers > 0 ? c.number(4) : 0;
      c.skip(numbers > 1 ? 4 * (numbers - 1) : 0);
      if (version == 1 && numbers % 2 == 1) c.skip(4);
      if (id != 1 && id != 2 && id != 3) unknown(fmt::format("filter {}", id));
      out.emplace_back(id, first);
    }
    return out;
  }

  Hdf5Item data_set(const std::vector<RawMessage>& all) {
    Shape                                      shape;
    Element                                    e;
    std::vector<std::pair<uint64_t, uint64_t>> filters;
    const RawMessage*                          layout = nullptr;
    bool                                       typed = false, shaped = false;
    for (const RawMessage& m : all) {
      const Cursor c(m.data, where_);
      if (m.type == Dataspace) shape = shape_of(c), shaped = true;
      if (m.type == Datatype) e = element_of(c), typed = true;
      if (m.type == Filters) filters = filters_of(c);
      if (m.type == Layout) layout = &m;
    }
    if (!typed || !shaped || !layout) damaged("a data set lacks its type, shape or place");
    const uint64_t count = static_cast<uint64_t>(size_of(shape)), bytes = count * e.size;
    account(bytes);
    return values(stored(Cursor(layout->data, where_), shape, e, bytes, filters), shape, e, count);
  }

  // The bytes of a data set, in row-major order.
  Bytes stored(Cursor c, const Shape& shape, const Element& e, uint64_t bytes,
               const std::vector<std::pair<uint64_t, uint64_t>>& filters) {
    const auto version = c.number(1), kind = c.number(1);
    if (version != 3 && !(version == 4 && kind < 2)) unknown(fmt::format("data layout {}", version));
    Bytes out(bytes);
    if (kind == 0) {
      const ByteSpan data = c.take(c.number(2));
      if (data.size() < bytes) damaged("a data set is smaller than its shape");
      std::copy_n(data.begin(), bytes, out.begin());
    } else if (kind == 1) {
      const uint64_t address = c.address(), size = c.number(8);
      if (address == nowhere || bytes == 0) return out;  // nothing was written
      if (size < bytes) damaged("a data set is smaller than its shape");
      const ByteSpan data = open(address, bytes).take(bytes);
      std::copy_n(data.begin(), bytes, out.begin());
    } else if (kind == 2) {
      const auto axes = c.number(1);
      if (axes != shape.size() + 1) damaged("a chunk has a different number of axes than its data set");
      Chunks   chunks{c.address(), {}};
      uint64_t size = e.size;
      for (size_t i = 0; i < shape.size(); ++i) {
        chunks.sizes.push_back(c.number(4));
        if (chunks.sizes.back() == 0 || size > (uint64_t{1} << 32) / chunks.sizes.back())
          damaged("a chunk has an unlikely size");
        size *= chunks.sizes.back();
      }
      if (chunks.tree != nowhere && bytes > 0) read_chunks(chunks.tree, chunks, shape, e, size, filters, out, 0);
    } else {
      unknown(fmt::format("data layout {}", kind));
    }
    return out;
  }

  void read_chunks(uint64_t tree, const Chunks& chunks, const Shape& shape, const Element& e, uint64_t size,
                   const std::vector<std::pair<uint64_t, uint64_t>>& filters, Bytes& out, int depth) {
    Cursor c              = open(tree);
    const auto [level, n] = head_of_tree(c, 1, depth, "of a data set");
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t        packed = c.number(4), mask = c.number(4);
      std::vector<uint64_t> from;
      for (size_t a = 0; a < shape.size(); ++a) from.push_back(c.number(8));
      c.skip(8);
      const uint64_t child = c.address();
      if (level > 0) {
        read_chunks(child, chunks, shape, e, size, filters, out, depth + 1);
        continue;
      }
      account(size);
      const ByteSpan data = open(child, packed).take(packed);
      place(unfiltered(Bytes(data.begin(), data.end()), mask, filters, size), from, chunks, shape, e.size, out);
    }
  }

  Bytes unfiltered(Bytes data, uint64_t mask, const std::vector<std::pair<uint64_t, uint64_t>>& filters,
                   uint64_t size) const {
    for (size_t i = filters.size(); i-- > 0;) {
      if (i < 32 && mask >> i & 1) continue;
      const auto [id, number] = filters[i];
      if (id == 1) {
        Bytes  out(size + 4);  // a checksum may have been added before
        uLongf length = out.size();
        if (uncompress(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(data.data()),
                       data.size()) != Z_OK)
          damaged("compressed data cannot be unpacked");
        out.resize(length);
        data = std::move(out);
      } else if (id == 2) {
        const uint64_t width = std::max<uint64_t>(number, 1), count = data.size() / width;
        Bytes          out = data;
        for (uint64_t b = 0; b < width; ++b)
          for (uint64_t k = 0; k < count; ++k) out[k * width + b] = data[b * count + k];
        data = std::move(out);
      } else {
        if (data.size() < 4) damaged("a checksum is missing");
        data.resize(data.size() - 4);
      }
    }
    if (data.size() != size) damaged("a chunk has the wrong size");
    return data;
  }

  // Copies the part of a chunk that lies inside the data set, row by row.
  void place(const Bytes& chunk, const std::vector<uint64_t>& from, const Chunks& chunks, const Shape& shape,
             size_t element, Bytes& out) const {
    const size_t          rank = shape.size();
    std::vector<uint64_t> count(rank), at(rank);
    for (size_t a = 0; a < rank; ++a) {
      const auto extent = static_cast<uint64_t>(shape[a]);
      if (from[a] >= extent) damaged("a chunk lies outside of its data set");
      count[a] = std::min(chunks.sizes[a], extent - from[a]);
    }
    const uint64_t row = rank == 0 ? 1 : count[rank - 1];
    while (true) {
      uint64_t source = 0, target = 0;
      for (size_t a = 0; a < rank; ++a) {
        source = source * chunks.sizes[a] + at[a];
        target = target * static_cast<uint64_t>(shape[a]) + from[a] + at[a];
      }
      std::copy_n(chunk.begin() + static_cast<ptrdiff_t>(source * element), row * element,
                  out.begin() + static_cast<ptrdiff_t>(target * element));
      size_t a = rank;
      while (a-- > 1) {  // the next row
        if (++at[a - 1] < count[a - 1]) break;
        at[a - 1] = 0;
        if (a == 1) return;
      }
      if (rank < 2) return;
    }
  }

  Hdf5Item values(const Bytes& bytes, const Shape& shape, const Element& e, uint64_t count) {
    const auto raw = [&](uint64_t i) {
      uint64_t value = 0;
      for (size_t b = 0; b < e.size; ++b) {
        const size_t at = e.big_endian ? b : e.size - 1 - b;
        value           = value << 8 | static_cast<uint8_t>(bytes[i * e.size + at]);
      }
      return value;
    };
    switch (e.kind) {
      case Element::Kind::Text:
      case Element::Kind::FixedText: {
        Hdf5Texts out{shape, {}};
        for (uint64_t i = 0; i < count; ++i) {
          Cursor c(ByteSpan(bytes).subspan(i * e.size, e.size), where_);
          if (e.kind == Element::Kind::FixedText) {
            const std::string text = c.text(e.size);
            out.values.push_back(text.substr(0, text.find('\0')));
          } else {
            const uint64_t length = c.number(4), heap = c.address(), index = c.number(4);
            out.values.push_back(heap_text(length, heap, index));
          }
        }
        return out;
      }
      case Element::Kind::Flag: {
        Array a(Type{DType::Bool, shape});
        auto* to = static_cast<uint8_t*>(a.mutable_raw());
        for (uint64_t i = 0; i < count; ++i) to[i] = bytes[i] != std::byte{0};
        return a;
      }
      case Element::Kind::Integer: {
        Array a(Type{DType::I64, shape});
        auto* to = a.mutable_data<int64_t>();
        for (uint64_t i = 0; i < count; ++i) {
          uint64_t value = raw(i);
          if (!e.is_signed && value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
            unknown("an integer above 2^63");
          if (e.is_signed && e.size < 8 && value >> (8 * e.size - 1) & 1) value |= ~uint64_t{0} << (8 * e.size);
          to[i] = static_cast<int64_t>(value);
        }
        return a;
      }
      default: {
        Array a(Type{e.size == 2 ? DType::F16 : e.size == 4 ? DType::F32 : DType::F64, shape});
        auto* to = static_cast<std::byte*>(a.mutable_raw());
        for (uint64_t i = 0; i < count; ++i) {
          const uint64_t value = raw(i);
          for (size_t b = 0; b < e.size; ++b) to[i * e.size + b] = static_cast<std::byte>(value >> 8 * b & 0xFF);
        }
        return a;
      }
    }
  }

  std::string heap_text(uint64_t length, uint64_t heap, uint64_t index) {
    if (heap == 0 || heap == nowhere || length == 0) return "";
    account(length);
    Cursor head = open(heap);
    head.expect("GCOL");
    head.skip(4);
    const uint64_t size = head.number(8);
    Cursor         c    = open(heap, size);
    c.skip(16);
    while (c.left() >= 16) {
      const auto found = c.number(2);
      c.skip(6);
      const uint64_t bytes = c.number(8);
      if (found == 0) break;
      if (found == index) {
        if (length > bytes) damaged("a text is longer than its place");
        std::string text = c.text(length);
        return text.substr(0, text.find('\0'));
      }
      if (bytes > c.left()) break;
      c.skip(std::min<uint64_t>((bytes + 7) / 8 * 8, c.left()));
    }
    damaged("a text is missing");
  }

  ByteSpan           file_;
  const std::string& where_;
  uint64_t           decoded_ = 0;
  size_t             items_   = 0;
};

}  // namespace

Hdf5Group decode_hdf5(ByteSpan bytes, const std::string& where) { return Hdf5Reader(bytes, where).root(); }
Hdf5Group read_hdf5(const std::string& path) { return decode_hdf5(read_file(path).span(), path); }

void write_hdf5(const std::string& path, const Hdf5Group& root) { write_file(path, encode_hdf5(root)); }

}  // namespace braintrace
