// SPDX-License-Identifier: Apache-2.0
// Zip archives of .npy members. The directory at the end of the file is authoritative; the header in front of each
// member must agree with it. Archives written here start the elements of every stored member at a multiple of 64 bytes,
// so that reading shares memory instead of copying.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <zlib.h>

#include <fmt/format.h>

#include "braintrace/io/npy.h"

namespace braintrace {

namespace {

constexpr uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr size_t   local_size = 30, entry_size = 46, end_size = 22;
constexpr uint16_t stored = 0, deflated = 8, encrypted_flag = 1;
constexpr uint16_t padding_id       = 0xd935;  // extra field that aligns what follows it
constexpr size_t   member_alignment = 64;
constexpr uint32_t zip64            = 0xffffffff;
constexpr size_t   max_expansion    = 1032;  // the most that deflate can shrink

struct Member {
  std::string name;
  uint16_t    flags, method;
  uint32_t    crc;
  size_t      packed, size, header;  // bytes in the file, bytes of the member, where its local header starts
  size_t      data = 0;              // where its bytes start
};

// Little-endian fields at a position that must lie inside the file.
class ArchiveReader {
 public:
  ArchiveReader(ByteSpan bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  ByteSpan part(size_t at, size_t size) const {
    require(at <= bytes_.size() && size <= bytes_.size() - at,
            "{}: the zip archive is truncated or damaged: it refers to bytes {} to {} of {}.", where_, at, at + size,
            bytes_.size());
    return bytes_.subspan(at, size);
  }
  uint32_t u32(size_t at) const {
    uint32_t v;
    std::memcpy(&v, part(at, 4).data(), 4);
    return v;
  }
  uint16_t u16(size_t at) const {
    uint16_t v;
    std::memcpy(&v, part(at, 2).data(), 2);
    return v;
  }
  std::string text(size_t at, size_t size) const {
    const ByteSpan p = part(at, size);
    return {reinterpret_cast<const char*>(p.data()), p.size()};
  }
  size_t             size() const { return bytes_.size(); }
  const std::string& where() const { return where_; }

 private:
  ByteSpan           bytes_;
  const std::string& where_;
};

// The record at the very end, possibly followed by a comment.
size_t find_end(const ArchiveReader& r) {
  for (size_t comment = 0; comment <= 0xffff && r.size() >= end_size + comment; ++comment) {
    const size_t at = r.size() - end_size - comment;
    if (r.u32(at) == end_mark && r.u16(at + 20) == comment) return at;
  }
  fail("{}: this is not a .npz file, or it is truncated: the zip directory is missing.", r.where());
}

// Names are never used as paths, but a name that tries to leave the folder is suspicious.
void check_name(const std::string& name, const std::string& where) {
  require(!name.empty() && name.size() < 0xff00 && name[0] != '/' && name.find('\0') == name.npos &&
              name.find('\\') == name.npos && ("/" + name + "/").find("/../") == std::string::npos,
          "{}: the member name '{}' is not allowed: it must be relative, without '..', '\\' or NUL.", where, name);
}

std::string array_name(const std::string& member, const std::string& where) {
  require(member.ends_with(".npy"), "{}: the member '{}' is not a .npy file.", where, member);
  std::string name = member.substr(0, member.size() - 4);
  check_name(name, where);
  return name;
}

Member read_entry(const ArchiveReader& r, size_t at) {
  require(r.u32(at) == entry_mark, "{}: the zip directory is damaged at byte {}.", r.where(), at);
  Member m{r.text(at + entry_size, r.u16(at + 28)),
           r.u16(at + 8),
           r.u16(at + 10),
           r.u32(at + 16),
           r.u32(at + 20),
           r.u32(at + 24),
           r.u32(at + 42)};
  require(m.packed != zip64 && m.size != zip64 && m.header != zip64,
          "{}: the member '{}' uses Zip64, which is not supported; save fewer or smaller arrays per file.", r.where(),
          m.name);
  require(!(m.flags & encrypted_flag), "{}: the member '{}' is encrypted.", r.where(), m.name);
  require(m.method == stored || m.method == deflated,
          "{}: the member '{}' is compressed by method {}; expected stored (0) or deflated (8).", r.where(), m.name,
          m.method);
  require(m.method == stored ? m.size == m.packed : m.size / max_expansion <= m.packed,
          "{}: the member '{}' claims {} bytes in {}, which is impossible.", r.where(), m.name, m.size, m.packed);
  const size_t h = m.header;
  require(r.u32(h) == local_mark && r.text(h + local_size, r.u16(h + 26)) == m.name && r.u16(h + 8) == m.method,
          "{}: the member '{}' does not match its entry in the zip directory.", r.where(), m.name);
  m.data = h + local_size + r.u16(h + 26) + r.u16(h + 28);
  r.part(m.data, m.packed);
  return m;
}

std::vector<Member> read_directory(const ArchiveReader& r) {
  const size_t        end   = find_end(r);
  const size_t        count = r.u16(end + 10);
  std::vector<Member> members;
  require(r.u16(end + 4) == 0 && r.u16(end + 6) == 0 && r.u16(end + 8) == count,
          "{}: zip archives in several parts are not supported.", r.where());
  require(count != 0xffff && r.u32(end + 16) != zip64, "{}: this is a Zip64 archive, which is not supported.",
          r.where());
  size_t at = r.u32(end + 16);
  for (size_t i = 0; i < count; ++i) {
    members.push_back(read_entry(r, at));
    at += entry_size + members.back().name.size() + r.u16(at + 30) + r.u16(at + 32);
  }
  require(at == r.u32(end + 16) + size_t{r.u32(end + 12)} && at <= end, "{}: the zip directory has a wrong size.",
          r.where());

  // Members that share bytes would let a small file expand without bound.
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.header < b.header; });
  for (size_t i = 1; i < members.size(); ++i)
    require(members[i - 1].data + members[i - 1].packed <= members[i].header, "{}: the members '{}' and '{}' overlap.",
            r.where(), members[i - 1].name, members[i].name);
  return members;
}

uint32_t checksum(ByteSpan bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Buffer inflated(const Member& m, ByteSpan packed, const std::string& where) {
  Buffer   out = Buffer::allocate(m.size);
  z_stream z{};
  ensure(inflateInit2(&z, -MAX_WBITS) == Z_OK, "inflate could not start");
  z.next_in         = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  z.avail_in        = static_cast<uInt>(packed.size());
  z.next_out        = reinterpret_cast<Bytef*>(out.data.get());
  z.avail_out       = static_cast<uInt>(m.size);
  const int  result = inflate(&z, Z_FINISH);
  const bool whole  = result == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0;
  inflateEnd(&z);
  require(whole, "{}: the compressed bytes of member '{}' are damaged.", where, m.name);
  return out;
}

// Appends little-endian fields.
struct Writer {
  Bytes bytes;
  void  raw(const void* p, size_t n) {
     const auto* b = static_cast<const std::byte*>(p);
     bytes.insert(bytes.end(), b, b + n);
  }
  void u16(uint16_t v) { raw(&v, 2); }
  void u32(size_t v) {
    require(v < zip64, "write_npz: the archive would pass 4 GiB; write fewer or smaller arrays per file.");
    const auto narrow = static_cast<uint32_t>(v);
    raw(&narrow, 4);
  }
};

Bytes deflated_bytes(ByteSpan bytes) {
  require(bytes.size() < zip64, "write_npz: an array of {} bytes is too large for a zip member.", bytes.size());
  z_stream z{};
  ensure(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
         "deflate could not start");
  Bytes out(deflateBound(&z, bytes.size()));
  z.next_in        = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  z.avail_in       = static_cast<uInt>(bytes.size());
  z.next_out       = reinterpret_cast<Bytef*>(out.data());
  z.avail_out      = static_cast<uInt>(out.size());
  const int result = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  ensure(result == Z_STREAM_END, "deflate did not finish");
  return out;
}

// The fields that the local header and the directory entry share.
void write_common(Writer& w, const Member& m, size_t extra) {
  w.u16(20);      // version needed: deflate
  w.u16(0x0800);  // names are UTF-8
  w.u16(m.method);
  w.u16(0);     // time 00:00
  w.u16(0x21);  // 1 January 1980: equal arrays give equal files
  w.u32(m.crc);
  w.u32(m.packed);
  w.u32(m.size);
  w.u16(static_cast<uint16_t>(m.name.size()));
  w.u16(static_cast<uint16_t>(extra));
}

void write_member(Writer& w, Member& m, ByteSpan packed) {
  m.header           = w.bytes.size();
  const size_t start = m.header + local_size + m.name.size() + 4;
  const size_t pad   = m.method == stored ? (member_alignment - start % member_alignment) % member_alignment : 0;
  w.u32(local_mark);
  write_common(w, m, 4 + pad);
  w.raw(m.name.data(), m.name.size());
  w.u16(padding_id);
  w.u16(static_cast<uint16_t>(pad));
  w.bytes.resize(w.bytes.size() + pad);
  w.raw(packed.data(), packed.size());
}

void write_entry(Writer& w, const Member& m) {
  w.u32(entry_mark);
  w.u16(20);  // made by
  write_common(w, m, 0);
  w.u16(0);  // comment
  w.u16(0);  // part
  w.u16(0);  // attributes
  w.u32(0);
  w.u32(m.header);
  w.raw(m.name.data(), m.name.size());
}

}  // namespace

// The text of a .npy member of type S… and one element; nothing for any other.
static std::optional<std::string> text_of(ByteSpan npy) {
  const std::string_view all(reinterpret_cast<const char*>(npy.data()), npy.size());
  constexpr size_t       prefix = 10;  // magic, version, u2 length of the header
  if (all.size() < prefix || all.substr(1, 5) != "NUMPY" || all[6] != 1) return {};
  const size_t length = static_cast<unsigned char>(all[8]) + 256 * static_cast<unsigned char>(all[9]);
  const auto   header = all.substr(prefix, length);
  if (header.find("'descr': '|S") == std::string_view::npos || header.find("'shape': ()") == std::string_view::npos)
    return {};
  std::string text(all.substr(std::min(all.size(), prefix + length)));
  return text.substr(0, text.find('\0'));
}

NamedArrays decode_npz(ByteSpan bytes, const std::string& where, const std::shared_ptr<const void>& owner,
                       NamedTexts* texts) {
  const ArchiveReader r(bytes, where);
  NamedArrays         arrays;
  for (const Member& m : read_directory(r)) {
    const std::string name = array_name(m.name, where);
    require(!arrays.contains(name), "{}: the array '{}' appears twice.", where, name);
    ByteSpan                    content = r.part(m.data, m.packed);
    std::shared_ptr<const void> keep    = owner;
    if (m.method == deflated) {
      const Buffer buffer = inflated(m, content, where);
      content             = buffer.span();
      keep                = buffer.data;
    }
    require(checksum(content) == m.crc, "{}: the checksum of member '{}' is wrong; the file is damaged.", where,
            m.name);
    if (const auto text = texts ? text_of(content) : std::nullopt)
      texts->emplace(name, *text);
    else
      arrays.emplace(name, decode_npy(content, where + ":" + m.name, keep));
  }
  return arrays;
}

Bytes encode_npz(const NamedArrays& arrays, Compression method) {
  require(arrays.size() < 0xffff, "write_npz: {} arrays are too many for one zip archive (65534).", arrays.size());
  Writer              w;
  std::vector<Member> members;
  for (const auto& [name, array] : arrays) {
    check_name(name, "write_npz");
    const Bytes  content = encode_npy(array);
    const Bytes  smaller = method == Compression::Deflated ? deflated_bytes(content) : Bytes();
    const Bytes& packed  = method == Compression::Deflated ? smaller : content;
    members.push_back({name + ".npy", 0, method == Compression::Deflated ? deflated : stored, checksum(content),
                       packed.size(), content.size(), 0});
    write_member(w, members.back(), packed);
  }
  const size_t start = w.bytes.size();
  for (const Member& m : members) write_entry(w, m);
  const size_t size = w.bytes.size() - start;
  w.u32(end_mark);
  w.u16(0);  // this part
  w.u16(0);  // part of the directory
  w.u16(static_cast<uint16_t>(members.size()));
  w.u16(static_cast<uint16_t>(members.size()));
  w.u32(size);
  w.u32(start);
  w.u16(0);  // comment
  return w.bytes;
}

NamedArrays read_npz(const std::string& path) {
  const Buffer file = read_file(path);
  return decode_npz(file.span(), path, file.data);
}

void write_npz(const std::string& path, const NamedArrays& arrays, Compression method) {
  write_file(path, encode_npz(arrays, method));
}

}  // namespace braintrace
