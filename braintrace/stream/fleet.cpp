// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/fleet.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"
#include "braintrace/functions/held_states.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/stream/soundness.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::stream {

namespace {

constexpr const char* fleet_format      = "braintrace-fleet/1";
constexpr size_t      line              = 64;  // bytes; leaves begin at a multiple, so that no two threads share a line
constexpr size_t      guarded_at_a_time = 64;  // members

size_t whole_lines(size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

// One tensor of a member's states.
struct Fleet::Leaf {
  std::string name;  // as in the file of a stream
  StateLeaf   place;
  Type        type;
  size_t      offset;  // in the row of a member
};

// Rows of members; they never move, so the fleet grows without a copy.
struct Fleet::Chunk {
  static constexpr size_t members = 64;
  explicit Chunk(size_t row_bytes)
      : data(static_cast<std::byte*>(::operator new(members* row_bytes, std::align_val_t(line)))) {}
  ~Chunk() { ::operator delete(data, std::align_val_t(line)); }
  Chunk(const Chunk&)            = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::byte* data;
};

// A step as a program, and the location of each of its arguments and results.
struct Fleet::Program {
  struct Place {
    enum class In : uint8_t { Record, Row, Shared, Answer };
    In     in     = In::Row;
    size_t number = 0;        // of the record's part or answer
    size_t offset = 0;        // in the row
    void*  memory = nullptr;  // of what all members share
  };
  std::vector<Place>        args, results;  // results that are not fed
  Types                     answers;        // of the function's own results
  Arrays                    shared;
  std::unique_ptr<ManyRuns> runs;

  Program(StatefulProgram p, const std::vector<Leaf>& leaves) {
    const auto row_of = [&](const StateLeaf& s) {
      return std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.place == s; });
    };
    p.program = simplify(p.program);
    answers   = p.result_types();
    for (size_t i = 0; i < p.num_args; ++i) args.push_back({Place::In::Record, i});
    for (size_t r = 0; r < p.reads.size(); ++r) {
      const auto leaf = row_of(p.reads[r]);
      if (leaf != leaves.end()) {
        args.push_back({Place::In::Row, 0, leaf->offset});
        continue;
      }
      shared.push_back(p.read_value(r).array());  // such as the learning rate
      args.push_back({Place::In::Shared, 0, 0, shared.back().mutable_raw()});
    }
    const std::vector<Feed> feeds = feeds_of(p);
    for (size_t k = 0; k < p.num_results; ++k) results.push_back({Place::In::Answer, k});
    for (size_t w = 0; w < p.writes.size(); ++w) {
      const auto leaf = row_of(p.writes[w]);
      ensure(leaf != leaves.end() && p.write_type(w) == leaf->type, "fleet: {} is written, and no member keeps it",
             p.writes[w].place());
      const bool is_fed =
          std::any_of(feeds.begin(), feeds.end(), [&](const Feed& f) { return f.result == p.num_results + w; });
      if (!is_fed) results.push_back({Place::In::Row, 0, leaf->offset});
    }
    Arrays constants;
    for (const Tensor& t : p.constants) constants.push_back(t.array());
    runs = default_backend().many(p.program, constants, feeds);
  }
};

Fleet::Fleet(Module& model, const Type& input, const StreamOptions& options, const FleetOptions& fleet)
    : stream_(model, input, options), options_(fleet) {
  require(fleet.most > 0, "fleet: `most` is the largest number of members and must be positive, got {}.", fleet.most);
  require(stream_.is_steady(),
          "fleet: a schedule of the rate and scaled inputs are for single streams; leave them out.");
  for (const auto& [part, states] : stream_.states())
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names()) {
        const Type type = state.leaf(leaf).type();
        leaves_.push_back({part + "." + leaf_name(path, leaf), {state, leaf}, type, row_bytes_});
        row_bytes_ += whole_lines(static_cast<size_t>(type.bytes()));
      }
  learn_   = std::make_unique<Program>(stream_.learn_program(), leaves_);
  predict_ = std::make_unique<Program>(stream_.predict_program(), leaves_);
  start_.resize(row_bytes_);
  for (const Leaf& l : leaves_) {
    const Array value = l.place.value().array();
    std::memcpy(start_.data() + l.offset, value.raw(), value.bytes());
  }
}

Fleet::~Fleet() = default;

std::byte* Fleet::row(size_t slot) const {
  return chunks_[slot / Chunk::members]->data + slot % Chunk::members * row_bytes_;
}

size_t Fleet::slot_of(const std::string& id) const {
  const auto it = slots_.find(id);
  require(it != slots_.end(), ErrorKind::Name, "fleet: there is no member '{}'{}", id.substr(0, 80),
          ids_.size() < 1000 ? hint(id, ids_) : ".");
  return it->second;
}

void Fleet::check_room(size_t more) const {
  require(
      ids_.size() + more <= static_cast<size_t>(options_.most),
      "fleet: {} member(s) would join {}, and at most {} are allowed.\n  Raise the limit `most` (--members), or remove "
      "members; each takes {} bytes.",
      more, ids_.size(), options_.most, row_bytes_);
}

size_t Fleet::join(const std::string& id) {
  const size_t slot = ids_.size();
  if (slot == chunks_.size() * Chunk::members) {
    try {
      chunks_.push_back(std::make_unique<Chunk>(row_bytes_));
    } catch (const std::bad_alloc&) {
      fail("fleet: there is no memory for more than {} members of {} bytes.", slot, row_bytes_);
    }
  }
  slots_.emplace(id, slot);
  ids_.push_back(id);
  records_.push_back(0);
  std::memcpy(row(slot), start_.data(), row_bytes_);
  return slot;
}

void Fleet::add(const std::string& id) {
  require(!contains(id), ErrorKind::Name, "fleet: there is a member '{}' already.", id.substr(0, 80));
  check_room(1);
  join(id);
}

void Fleet::remove(const std::string& id) {
  const size_t slot = slot_of(id), last = ids_.size() - 1;
  if (slot != last) {
    std::memcpy(row(slot), row(last), row_bytes_);
    slots_[ids_[last]] = slot;
    ids_[slot]         = ids_[last];
    records_[slot]     = records_[last];
  }
  slots_.erase(id);
  ids_.pop_back();
  records_.pop_back();
  if (chunks_.size() > ids_.size() / Chunk::members + 1) chunks_.pop_back();
}

int64_t Fleet::records(const std::string& id) const { return records_[slot_of(id)]; }

StateMap Fleet::stream_states() const {
  StateMap out;
  for (const auto& [part, states] : stream_.states()) out.insert(out.end(), states.begin(), states.end());
  return out;
}

void Fleet::to_stream(size_t slot) {
  for (const Leaf& l : leaves_) l.place.set(Array::borrow(l.type, row(slot) + l.offset, nullptr).copy());
}
void Fleet::from_stream(size_t slot) {
  for (const Leaf& l : leaves_) {
    const Array value = l.place.value().array();
    ensure(value.type() == l.type, "fleet: {} has become {}", l.name, to_string(value.type()));
    std::memcpy(row(slot) + l.offset, value.raw(), value.bytes());
  }
}

void Fleet::reset(const std::string& id) {
  const size_t slot = slot_of(id);
  const Undo   undo(stream_states());
  to_stream(slot);
  stream_.reset();
  from_stream(slot);
}

std::vector<size_t> Fleet::slots_for(const Ids& ids) {
  std::vector<bool>               is_taken(ids_.size());
  std::unordered_set<std::string> fresh;
  const auto                      once = [](bool is_first, const std::string& id) {
    require(is_first, "fleet: '{}' is named twice in one step; give its records one after the other.",
                                 id.substr(0, 80));
  };
  for (const std::string& id : ids) {
    const auto it = slots_.find(id);
    if (it == slots_.end()) {
      once(fresh.insert(id).second, id);
      continue;
    }
    once(!is_taken[it->second], id);
    is_taken[it->second] = true;
  }
  check_room(fresh.size());
  std::vector<size_t> out;
  out.reserve(ids.size());
  for (const std::string& id : ids) {
    const auto it = slots_.find(id);
    out.push_back(it == slots_.end() ? join(id) : it->second);
  }
  return out;
}

Fleet::Answers Fleet::learn(const Ids& ids, const Array& x, const Array& y) { return step(*learn_, &ids, {&x, &y}); }
Fleet::Answers Fleet::learn(const Array& x, const Array& y) { return step(*learn_, nullptr, {&x, &y}); }
Fleet::Answers Fleet::predict(const Ids& ids, const Array& x) { return step(*predict_, &ids, {&x}); }
Fleet::Answers Fleet::predict(const Array& x) { return step(*predict_, nullptr, {&x}); }

// Records of n members, k steps each, on their way through a program: x and y are [n, k, …], or [n, …] for one step.
class Fleet::Batch {
 public:
  Batch(Fleet& fleet, Program& program, size_t members, const std::vector<const Array*>& records)
      : fleet_(fleet), program_(program), records_(records), members_(members) {
    Shape leading{static_cast<int64_t>(members)};
    if (records[0]->shape().size() == types_[0].shape.size() + 2) leading.push_back(records[0]->shape()[1]);
    const auto stacked = [&](Type t) {
      t.shape.insert(t.shape.begin(), leading.begin(), leading.end());
      return t;
    };
    for (size_t i = 0; i < records.size(); ++i)
      require(records[i]->type() == stacked(types_[i]), ErrorKind::Shape,
              "fleet: {} of {} members must be {}, one row for each{}; got {}.", i == 0 ? "x" : "y", members,
              to_string(stacked(types_[i])), leading.size() == 2 ? " and each step" : "",
              to_string(records[i]->type()));
    if (leading.size() == 2) steps_ = static_cast<size_t>(leading[1]);
    for (const Type& t : program.answers) answers_.emplace_back(stacked(t));
  }

  // `slots` are those of the members.
  Answers run(std::vector<size_t> slots) {
    slots_ = std::move(slots);
    if (!fleet_.options_.guard) run_steps(0, members_, 0, steps_);
    for (size_t from = 0; fleet_.options_.guard && from < members_; from += guarded_at_a_time)
      for (size_t step = 0; step < steps_; ++step)
        run_guarded(from, std::min(from + guarded_at_a_time, members_), step);
    return {answers_.back(), learns() ? answers_[0] : Array(), std::move(undone_)};
  }

 private:
  using Place = Program::Place;
  bool learns() const { return records_.size() == 2; }

  // `count` steps of the members from … to-1.
  void run_steps(size_t from, size_t to, size_t first_step, size_t count) {
    const auto places = [&](size_t set, void** args, void** results) {
      for (const Place& p : program_.args) *args++ = at(p, from + set, first_step);
      for (const Place& p : program_.results) *results++ = at(p, from + set, first_step);
    };
    program_.runs->run({to - from, count, places, strides(program_.args), strides(program_.results)});
    for (size_t m = from; m < to; ++m) fleet_.records_[slots_[m]] += learns() ? static_cast<int64_t>(count) : 0;
  }

  // One step, taken back where it goes wrong.
  void run_guarded(size_t from, size_t to, size_t step) {
    before_.clear();
    for (size_t m = from; m < to; ++m) before_.insert(before_.end(), row(m), row(m) + fleet_.row_bytes_);
    run_steps(from, to, step, 1);
    for (size_t m = from; m < to; ++m) {
      const Type& type       = program_.answers.back();
      const Array prediction = Array::borrow(type, part(answers_.back(), type, m, step), nullptr);
      const auto  loss       = [&] { return braintrace::at(answers_[0], static_cast<int64_t>(m * steps_ + step)); };
      std::string why        = fleet_.problem(slots_[m], prediction, learns() ? std::optional(loss()) : std::nullopt);
      if (why.empty()) continue;
      std::memcpy(row(m), before_.data() + (m - from) * fleet_.row_bytes_, fleet_.row_bytes_);
      fleet_.records_[slots_[m]] -= learns() ? 1 : 0;
      undone_.push_back({m, std::move(why), step});
    }
  }

  std::byte* row(size_t member) const { return fleet_.row(slots_[member]); }
  // The part of a stacked array that belongs to a member's step.
  std::byte* part(const Array& a, const Type& type, size_t member, size_t step) const {
    return const_cast<std::byte*>(static_cast<const std::byte*>(a.raw())) +
           static_cast<size_t>(type.bytes()) * (member * steps_ + step);
  }
  void* at(const Place& p, size_t member, size_t step) const {
    switch (p.in) {
      case Place::In::Record:
        return part(*records_[p.number], types_[p.number], member, step);
      case Place::In::Answer:
        return part(answers_[p.number], program_.answers[p.number], member, step);
      case Place::In::Row:
        return row(member) + p.offset;
      case Place::In::Shared:
        break;
    }
    return p.memory;
  }
  // Bytes from step to step.
  std::vector<size_t> strides(const std::vector<Place>& places) const {
    std::vector<size_t> out;
    for (const Place& p : places)
      out.push_back(p.in == Place::In::Record   ? static_cast<size_t>(types_[p.number].bytes())
                    : p.in == Place::In::Answer ? static_cast<size_t>(program_.answers[p.number].bytes())
                                                : 0);
    return out;
  }

  Fleet&                    fleet_;
  Program&                  program_;
  std::vector<const Array*> records_;                                                    // x and, to learn, y
  Types                     types_ = {fleet_.stream_.input(), fleet_.stream_.target()};  // of one record
  size_t                    members_, steps_ = 1;
  std::vector<size_t>       slots_;
  Arrays                    answers_;
  std::vector<std::byte>    before_;  // rows of members
  std::vector<Undone>       undone_;
};

Fleet::Answers Fleet::step(Program& program, const Ids* ids, const std::vector<const Array*>& records) {
  Batch               batch(*this, program, ids ? ids->size() : ids_.size(), records);
  std::vector<size_t> all(ids_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return batch.run(ids ? slots_for(*ids) : std::move(all));
}

std::string Fleet::problem(size_t slot, const Array& prediction, const std::optional<double>& loss) const {
  std::string why = problem_of_answer(prediction, loss);
  for (size_t i = 0; i < leaves_.size() && why.empty(); ++i) {
    const Leaf& l = leaves_[i];
    why = problem_of_state(Array::borrow(l.type, row(slot) + l.offset, nullptr), l.name, l.place.state.is_param());
  }
  return why;
}

void Fleet::save_member(const std::string& id, const std::string& path) {
  const size_t slot = slot_of(id);
  const Undo   undo(stream_states());
  to_stream(slot);
  stream::save(stream_, path, records_[slot]);
}

void Fleet::load_member(const std::string& id, const std::string& path) {
  if (!contains(id)) check_room(1);
  const Undo    undo(stream_states());
  const int64_t records = stream::load(stream_, path);
  const size_t  slot    = contains(id) ? slot_of(id) : join(id);
  from_stream(slot);
  records_[slot] = records;
}

// Every leaf is one array with a leading axis of the members.
void Fleet::save(const std::string& path) {
  const auto  n = static_cast<int64_t>(ids_.size());
  SafeTensors file;
  for (const Leaf& l : leaves_) {
    Type type = l.type;
    type.shape.insert(type.shape.begin(), n);
    Array      all(type);
    const auto bytes = static_cast<size_t>(l.type.bytes());
    for (size_t slot = 0; slot < ids_.size(); ++slot) {
      const Array one = Array::borrow(l.type, row(slot) + l.offset, nullptr);
      require(all_finite(one),
              "{}: nothing is saved: {} of member '{}' is not finite.\n  Remove the member, or let a "
              "guarded fleet undo such steps.",
              path, l.name, ids_[slot].substr(0, 80));
      std::memcpy(static_cast<std::byte*>(all.mutable_raw()) + slot * bytes, one.raw(), bytes);
    }
    file.arrays[l.name] = all;
  }
  file.arrays["fleet.records"] = Array::of<int64_t>(records_, {n});
  file.metadata                = {
                     {"format", fleet_format}, {"ids", json_text(nlohmann::json(ids_))}, {"learning", stream_.learning()}};
  write_safetensors(path, file);
}

void Fleet::load(const std::string& path) {
  const SafeTensors file = read_safetensors(path);
  const auto        said = [&](const char* key) {
    const auto it = file.metadata.find(key);
    return it == file.metadata.end() ? std::string() : it->second;
  };
  require(said("format") == fleet_format,
          "{}: this is not a fleet's file ({}).\n  Fleet::save and 'braintrace stream "
          "--fleet --save' write them; the file of a single stream is loaded as a member.",
          path, fleet_format);
  require(file.checked, "{}: the file is damaged: its checksum is missing.", path);
  const std::string what = differences(said("learning"), stream_.learning(), path);
  require(what.empty(), "{}: its settings differ: {}.", path, what);
  const nlohmann::json ids = read_json(said("ids"), path + ": the file is damaged: ids");
  require(ids.is_array(), "{}: the file is damaged: ids.", path);
  Ids                             names;
  std::unordered_set<std::string> seen;
  for (const auto& id : ids) {
    require(id.is_string() && seen.insert(id.get<std::string>()).second, "{}: the file is damaged: ids.", path);
    names.push_back(id.get<std::string>());
  }
  const auto n = static_cast<int64_t>(names.size());
  require(n <= options_.most, "{}: it has {} members, and at most {} are allowed; see `most` (--members).", path, n,
          options_.most);
  NamedArrays arrays = file.arrays;
  const auto  take   = [&](const std::string& name, Type type) {
    type.shape.insert(type.shape.begin(), n);
    const auto it = arrays.find(name);
    require(it != arrays.end() && it->second.type() == type,
               "{}: it belongs to a different model: array '{}' is {} there and {} here.", path, name,
            it == arrays.end() ? "not given" : to_string(it->second.type()), to_string(type));
    require(all_finite(it->second), "{}: array '{}' holds values that are not finite.", path, name);
    return it->second;
  };
  Arrays all;
  for (const Leaf& l : leaves_) all.push_back(take(l.name, l.type));
  const Array counts = take("fleet.records", {DType::I64, {}});
  require(arrays.size() == leaves_.size() + 1, "{}: it belongs to a different model: it has {} arrays, expected {}.",
          path, arrays.size(), leaves_.size() + 1);
  while (!ids_.empty()) remove(ids_.back());
  for (const std::string& id : names) join(id);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const auto bytes = static_cast<size_t>(leaves_[i].type.bytes());
    for (size_t slot = 0; slot < ids_.size(); ++slot)
      std::memcpy(row(slot) + leaves_[i].offset, static_cast<const std::byte*>(all[i].raw()) + slot * bytes, bytes);
  }
  std::copy_n(counts.data<int64_t>(), n, records_.begin());
}

}  // namespace braintrace::stream
