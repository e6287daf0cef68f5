// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/environment.h"

#include <thread>

#include <gtest/gtest.h>

#include "braintrace/base/error.h"

namespace braintrace {
namespace {

TEST(Environment, ScopesNestAndEnd) {
  EXPECT_THROW(Environment::dt(), UserError);
  EXPECT_EQ(Environment::precision(), DType::F32);
  EXPECT_TRUE(Environment::training());
  const std::string outside = Environment::signature();
  {
    Environment::Scope a({.dt = 0.1, .precision = DType::F64});
    EXPECT_EQ(Environment::dt(), 0.1);
    {
      Environment::Scope b({.dt = 0.2, .training = false});
      EXPECT_EQ(Environment::dt(), 0.2);
      EXPECT_EQ(Environment::precision(), DType::F64);
      EXPECT_FALSE(Environment::training());
      std::thread([] { EXPECT_THROW(Environment::dt(), UserError); }).join();
    }
    EXPECT_EQ(Environment::dt(), 0.1);
    EXPECT_NE(Environment::signature(), outside);
  }
  EXPECT_EQ(Environment::signature(), outside);
}

TEST(Environment, RefusesNonsenseAndSaysWhatToDo) {
  EXPECT_THROW(Environment::Scope({.dt = 0.0}), UserError);
  EXPECT_THROW(Environment::set({.precision = DType::I32}), UserError);
  try {
    Environment::dt();
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("Environment::set({.dt"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace braintrace
