// SPDX-License-Identifier: Apache-2.0
// The consumer of the records of a stream: a single learner, or a fleet in which every record names its member.
#pragma once

#include "braintrace/stream/fleet.h"
#include "braintrace/stream/guarded_stream.h"

namespace braintrace::stream {

class Taker {
 public:
  using Outcome = GuardedStream::Outcome;
  using Undone  = GuardedStream::Undone;

  virtual ~Taker()                                                  = default;
  virtual Outcome             take(int64_t number, const Record& r) = 0;
  virtual std::vector<Undone> check() { return {}; }  // before a save
  virtual void                save(const std::string& path) = 0;
  virtual int64_t             learned() const               = 0;  // records, without those undone
  virtual int64_t             predicted() const             = 0;
};

class SingleTaker : public Taker {
 public:
  // `before`: number of records that the stream had learned from when it was loaded.
  SingleTaker(OnlineStream& net, int64_t before) : guarded_(net), before_(before) {}
  Outcome             take(int64_t number, const Record& r) override { return guarded_.take(number, r); }
  std::vector<Undone> check() override { return guarded_.check(); }
  void save(const std::string& path) override { stream::save(guarded_.stream(), path, before_ + guarded_.learned()); }
  int64_t learned() const override { return guarded_.learned(); }
  int64_t predicted() const override { return guarded_.predicted(); }

 private:
  GuardedStream guarded_;
  int64_t       before_;
};

// The fleet must be guarded.
class FleetTaker : public Taker {
 public:
  explicit FleetTaker(Fleet& fleet) : fleet_(&fleet) {}
  Outcome take(int64_t number, const Record& r) override;
  void    save(const std::string& path) override { fleet_->save(path); }
  int64_t learned() const override { return learned_; }
  int64_t predicted() const override { return predicted_; }

 private:
  Fleet*  fleet_;
  int64_t learned_ = 0, predicted_ = 0;
};

}  // namespace braintrace::stream
