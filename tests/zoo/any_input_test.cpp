// SPDX-License-Identifier: Apache-2.0
// Models meet inputs of any rank and type, and without a batch or with one: they answer, or fail with a UserError.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/ops/move.h"
#include "braintrace/verify/layers/layers.h"

namespace braintrace::zoo {
namespace {

TEST(AnyInput, is_answered_or_refused) {
  int answered = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator(BRAINTRACE_SOURCE_DIR "/tests/fuzz/corpus/model")) {
    const std::string text = read_text(file.path().string());
    for (const Shape& shape : {Shape{}, {1}, {2}, {3}, {2, 3}, {4, 4, 2}, {2, 4, 4, 2}, {0}, {2, 0}})
      for (const DType dtype : {DType::F32, DType::I32}) {
        const auto model = golden::described_model(read_json(text, file.path().string()));
        init_all_states(*model);
        try {
          (*model)(zeros(shape, dtype));
          ++answered;
        } catch (const UserError&) {
          ++refused;
        }
      }
  }
  EXPECT_GT(answered, 50);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace braintrace::zoo
