// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/guarded_stream.h"

#include "braintrace/model/frame.h"
#include "braintrace/stream/soundness.h"

namespace braintrace::stream {

namespace {

// Checking all states costs about as much as a step, and keeping them costs a copy.
constexpr size_t most_entries = 256, most_bytes = size_t{1} << 24;

constexpr double suspicious_loss = 1e12;  // finite, yet a sign of weights that are not: they are looked at

std::string problem_of(const std::optional<GuardedStream::Answer>& a) {
  return a ? problem_of_answer(a->prediction, a->loss) : "";
}

size_t bytes_of(const Record& r) { return (r.x ? r.x->bytes() : 0) + (r.y ? r.y->bytes() : 0); }

}  // namespace

GuardedStream::GuardedStream(OnlineStream& net) : net_(&net) {
  for (const auto& [part, states] : net.states())
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names())
        leaves_.push_back({part + "." + leaf_name(path, leaf), {state, leaf}, {}});
  keep();
}

GuardedStream::Outcome GuardedStream::take(int64_t number, const Record& record) {
  journal_.push_back({number, record});
  journal_bytes_ += bytes_of(record);
  std::optional<Answer> answer;
  bool                  is_good = false;
  try {
    answer  = apply(record);
    is_good = problem_of(answer).empty();
  } catch (const UserError& error) {
    if (error.kind() == ErrorKind::State) {  // of the model or the machine, such as a device that is lost
      give_up();
      throw;
    }
    // Otherwise repair() finds the error again and reports it.
  } catch (...) {
    give_up();
    throw;
  }
  count(record, 1);
  if (!is_good) return repair();
  const bool is_suspicious = answer && answer->loss && *answer->loss > suspicious_loss;
  if (!is_suspicious && journal_.size() < most_entries && journal_bytes_ < most_bytes) return {answer, {}};
  if (!unsound().empty()) return repair();
  keep();
  return {answer, {}};
}

std::vector<GuardedStream::Undone> GuardedStream::check() {
  if (!unsound().empty()) return repair().undone;
  keep();
  return {};
}

std::optional<GuardedStream::Answer> GuardedStream::apply(const Record& record) {
  if (record.reset) net_->reset();
  if (!record.x) return {};
  if (!record.y) return Answer{net_->predict(*record.x)};
  const auto [prediction, loss] = net_->learn(*record.x, *record.y);
  return Answer{prediction, loss};
}

void GuardedStream::count(const Record& record, int64_t times) {
  if (record.x) (record.y ? learned_ : predicted_) += times;
}

std::string GuardedStream::unsound() const {
  for (const Leaf& l : leaves_)
    if (std::string why = problem_of_state(l.place.value().array(), l.name, l.place.state.is_param()); !why.empty())
      return why;
  return "";
}

void GuardedStream::keep() {
  for (Leaf& l : leaves_) l.kept = l.place.value();
  journal_.clear();
  journal_bytes_ = 0;
}

void GuardedStream::rewind(const std::vector<Entry>& entries) {
  for (const Leaf& l : leaves_) l.place.set(l.kept);
  net_->follow_schedule();
  for (const Entry& e : entries) apply(e.record);
}

// Restores the states before the record or, if that fails, the last copy.
void GuardedStream::give_up() {
  journal_.pop_back();
  try {
    rewind(journal_);
  } catch (const Error&) {
    for (const Entry& e : journal_) count(e.record, -1);
    journal_.clear();
    rewind(journal_);
  }
}

GuardedStream::Outcome GuardedStream::repair() {
  Outcome            out;
  std::vector<Entry> good;
  rewind(good);
  for (const Entry& e : journal_) {
    std::string why;
    try {
      out.answer = apply(e.record);
      why        = problem_of(out.answer);
    } catch (const UserError& error) {
      why = error.what();
    }
    if (why.empty()) why = unsound();
    if (why.empty()) {
      good.push_back(e);
      continue;
    }
    out.answer.reset();
    out.undone.push_back({e.number, why});
    count(e.record, -1);
    rewind(good);
  }
  keep();
  return out;
}

}  // namespace braintrace::stream
