// SPDX-License-Identifier: Apache-2.0
#include "cli/model_argument.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/ascii.h"
#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/viz/escape.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

using nlohmann::json;

// "f32[28,28,1]", or a shape alone: "28,28,1".
Type parse_type(const std::string& text) {
  const size_t open  = text.find('[');
  Type         type  = {DType::F32, {}};
  std::string  shape = text;
  if (open != std::string::npos && text.back() == ']') {
    const auto dtype = open == 0 ? DType::F32 : dtype_named(text.substr(0, open));
    require(dtype.has_value(), "--input {}: there is no element type '{}'.", text, text.substr(0, open));
    type.dtype = *dtype;
    shape      = text.substr(open + 1, text.size() - open - 2);
  }
  for (size_t at = 0; at < shape.size();) {
    const size_t      comma  = std::min(shape.find(',', at), shape.size());
    const std::string number = shape.substr(at, comma - at);
    require(!number.empty() && number.size() < 10 && std::all_of(number.begin(), number.end(), is_digit),
            "--input {}: expected a type such as f32[28,28,1] or a shape such as 28,28,1.", text);
    type.shape.push_back(std::stoll(number));
    at = comma + 1;
  }
  return type;
}

// The input of the first layer, if its fields determine it.
std::optional<Type> input_of(const json& description) {
  const json* first = &description;
  while (first->is_object() && first->contains("layers") && (*first)["layers"].is_array() &&
         !(*first)["layers"].empty())
    first = &(*first)["layers"][0];
  if (!first->is_object()) return std::nullopt;
  if (first->value("type", json()) == "embedding") return Type{DType::I32, {}};
  for (const char* field : {"in_size", "n_in", "d_model", "n"}) {
    if (!first->contains(field)) continue;
    const json& size = (*first)[field];
    if (size.is_number_integer()) return Type{DType::F32, {size.get<int64_t>()}};
    const auto whole = [](const json& n) { return n.is_number_integer(); };
    if (size.is_array() && std::all_of(size.begin(), size.end(), whole)) return Type{DType::F32, size.get<Shape>()};
  }
  return std::nullopt;
}

// `file` is empty for a built-in model.
std::shared_ptr<Module> built(const json& description, const std::string& file) {
  try {
    return zoo::build_model(description);
  } catch (const UserError& error) {
    if (file.empty()) throw;
    throw UserError(fmt::format("{}: {}", file, error.what()), error.kind());
  }
}

std::string known_models() {
  std::vector<std::string> names;
  for (const auto& m : zoo::builtin_models()) names.push_back(m.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void ModelArgument::add_model(CLI::App& command) {
  command.add_option("MODEL", model, "JSON description of a model, or the name of a built-in one: " + known_models())
      ->required();
  command
      .add_option("--input", input, "Type of one input sample, such as f32[28,28,1] (default: from the description)")
      ->type_name("TYPE");
  command.add_option("--weights", weights, "File of weights: .npz, .safetensors, a checkpoint, or msgpack")
      ->type_name("FILE");
}

void ModelArgument::add_reference(CLI::App& command) {
  command.add_flag("--reference", reference,
                   "Reproduce the decisions of braintrace 0.2.6, including its known defects");
}

void ModelArgument::add_options(CLI::App& command) {
  add_model(command);
  command.add_option("--batch", batch, "Compile for this batch size")->check(whole_number(1));
  add_reference(command);
}

void add_rule(CLI::App& command, std::string& rule, std::string& options) {
  command.add_option("--rule", rule, "Learning rule; braintrace info --algorithms lists them")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--rule-options", options, "Options of the rule, such as {\"decay_or_rank\": 0.9}")
      ->type_name("JSON");
}

BuiltModel build_argument(const ModelArgument& argument) {
  const auto text        = text_of_file(argument.model);
  json       description = read_json(text ? *text : zoo::builtin_model(argument.model).description, argument.model);
  if (description.is_object() && description.contains("weights") && description["weights"].is_string())
    description["weights"] = zoo::weights_beside(description["weights"].get<std::string>(), argument.model);
  if (!argument.weights.empty() && description.is_object()) description["weights"] = argument.weights;
  const auto module = built(description, text ? argument.model : "");
  const auto found  = argument.input.empty() ? input_of(description) : parse_type(argument.input);
  require(found.has_value(),
          "{}: the description does not specify the input of the first layer; give --input, such as f32[10].",
          argument.model);
  json layers = description;
  if (layers.is_object()) layers.erase("weights");
  return {text ? utf8(std::filesystem::path(argument.model).stem().string()) : argument.model, module, *found,
          layers.dump()};
}

CompiledModel compile_argument(const ModelArgument& argument) {
  BuiltModel    built = build_argument(argument);
  CompiledModel out{built.name, built.module, {}};
  init_all_states(*out.module, {.batch_size = argument.batch});
  Type input = built.input;
  if (argument.batch) input.shape.insert(input.shape.begin(), *argument.batch);
  try {
    out.graph =
        compile_etrace_graph(*out.module, {input}, argument.reference ? CompileOptions::reference() : CompileOptions{});
  } catch (const CompileError& error) {
    std::string message = fmt::format("{}: {}", argument.model, error.what());
    for (const CompilationRecord& r : error.diagnostics)
      if (r.level != DiagnosticLevel::Info)
        message += fmt::format("\n  [{}] {}: {}", name_of(r.level), name_of(r.kind), r.message);
    throw UserError(message);
  }
  return out;
}

std::optional<std::string> text_of_file(const std::string& path) {
  const bool is_name = path.find_first_of("/.") == path.npos;
  if (is_name && !std::filesystem::is_regular_file(path)) return std::nullopt;
  return read_text(path);
}

}  // namespace braintrace::cli
