// SPDX-License-Identifier: Apache-2.0
// A stream that bad records cannot damage. From time to time, it checks and copies all states, and it keeps the records
// since then. If a loss, a prediction or a state is not usable, the stream restores the copy and replays the records
// without the bad one: the result is bit for bit that of the other records alone.
//
//   stream::GuardedStream guarded(net);
//   const auto [answer, undone] = guarded.take(number, record);
#pragma once

#include "braintrace/stream/online_stream.h"
#include "braintrace/stream/record.h"

namespace braintrace::stream {

class GuardedStream {
 public:
  // The stream must outlive it, and must get no records from other code.
  explicit GuardedStream(OnlineStream& net);

  struct Answer {
    Array                 prediction;
    std::optional<double> loss = {};  // if there was a target
  };
  struct Undone {
    int64_t     number = 0;  // of the record
    std::string why;
  };
  struct Outcome {
    std::optional<Answer> answer = {};  // none for a reset without data, and for an undone record
    std::vector<Undone>   undone = {};  // this record, or earlier ones whose damage is detected only now
  };
  // `number` identifies the record in `undone`.
  Outcome take(int64_t number, const Record& record);
  // Checks all states; call it before saving.
  std::vector<Undone> check();

  const OnlineStream& stream() const { return *net_; }
  int64_t             learned() const { return learned_; }  // records, without those undone
  int64_t             predicted() const { return predicted_; }

 private:
  struct Entry {
    int64_t number;
    Record  record;
  };
  struct Leaf {
    std::string name;
    StateLeaf   place;
    Tensor      kept;
  };

  std::optional<Answer> apply(const Record& record);
  void                  count(const Record& record, int64_t times);
  std::string           unsound() const;  // what is wrong with a state; empty if nothing is
  void                  keep();
  void                  rewind(const std::vector<Entry>& entries);  // to the states after only these records
  Outcome               repair();
  void                  give_up();  // drops the last record, without counting it as bad

  OnlineStream*      net_;
  std::vector<Leaf>  leaves_;
  std::vector<Entry> journal_;  // records since the states were copied
  size_t             journal_bytes_ = 0;
  int64_t            learned_ = 0, predicted_ = 0;
};

}  // namespace braintrace::stream
