// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/environment.h"

#include <thread>

#include <gtest/gtest.h>

#include "braintrace/base/default_float.h"
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

TEST(Environment, PrecisionIsTheDefaultFloatType) {
  EXPECT_EQ(default_float(), DType::F32);
  {
    const Environment::Scope scope({.precision = DType::F64});
    const Environment::Scope inner({.dt = 1});
    EXPECT_EQ(default_float(), DType::F64);
    std::thread([] { EXPECT_EQ(default_float(), DType::F32); }).join();
  }
  EXPECT_EQ(default_float(), DType::F32);
  Environment::set({.precision = DType::BF16});
  std::thread([] { EXPECT_EQ(default_float(), DType::BF16); }).join();
  Environment::set({.precision = DType::F32});
}

TEST(Environment, RefusesNonsenseAndSaysWhatToDo) {
  EXPECT_THROW(Environment::Scope({.dt = 0.0}), UserError);
  EXPECT_THROW(Environment::set({.precision = DType::I32}), UserError);
  try {
    Environment::dt();
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("such as dt = 0.1"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace braintrace
