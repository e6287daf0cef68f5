// SPDX-License-Identifier: Apache-2.0
// A stream that no record can spoil. Now and then all states are looked at and kept, and so are the records that
// follow. When a loss, an answer or a state is not a number to go on with, the stream returns to what is kept and takes
// the records again, without the one that did it: what is left is bit by bit what the other records alone would have
// made.
//
//   stream::GuardedStream guarded(net);
//   const auto [answer, undone] = guarded.take(number, record);
#pragma once

#include "braintrace/stream/online_stream.h"
#include "braintrace/stream/record.h"

namespace braintrace::stream {

class GuardedStream {
 public:
  // The stream must outlive it; nobody else gives it records.
  explicit GuardedStream(OnlineStream& net);

  struct Answer {
    Array                 prediction;
    std::optional<double> loss = {};  // where there was a target
  };
  struct Undone {
    int64_t     number = 0;  // of the record
    std::string why;
  };
  struct Outcome {
    std::optional<Answer> answer = {};  // none for a reset alone, and for a record that is undone
    std::vector<Undone>   undone = {};  // this record, or earlier ones whose harm shows only now
  };
  // `number` names the record in what is undone.
  Outcome take(int64_t number, const Record& record);
  // Looks at all states: before they are saved.
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
  std::string           unsound() const;  // what is wrong with a state; empty: nothing
  void                  keep();
  void                  rewind(const std::vector<Entry>& entries);  // to the states that only these records made
  Outcome               repair();
  void                  give_up();  // on the last record, by no fault of it

  OnlineStream*      net_;
  std::vector<Leaf>  leaves_;
  std::vector<Entry> journal_;  // records since the states were kept
  size_t             journal_bytes_ = 0;
  int64_t            learned_ = 0, predicted_ = 0;
};

}  // namespace braintrace::stream
