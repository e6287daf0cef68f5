// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/demo_page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/error.h"

namespace braintrace {

std::string_view demo_css();     // demo.css
std::string_view demo_script();  // demo.js

namespace {

// The functions of the C library that model.c uses. WebAssembly has instructions for copies and for some of the
// functions; the others are imported, and the page takes them from Math.
constexpr const char* math_header =
    R"c(double acos(double), acosh(double), asin(double), asinh(double), atan(double), atanh(double), cbrt(double), cos(double),
    cosh(double), exp(double), expm1(double), log(double), log1p(double), log2(double), sin(double), sinh(double),
    tan(double), tanh(double), atan2(double, double), pow(double, double), fmod(double, double);
float acosf(float), acoshf(float), asinf(float), asinhf(float), atanf(float), atanhf(float), cbrtf(float), cosf(float),
    coshf(float), expf(float), expm1f(float), logf(float), log1pf(float), log2f(float), sinf(float), sinhf(float),
    tanf(float), tanhf(float), atan2f(float, float), powf(float, float), fmodf(float, float);
double fabs(double), sqrt(double), floor(double), ceil(double), rint(double), trunc(double), copysign(double, double);
float fabsf(float), sqrtf(float), floorf(float), ceilf(float), rintf(float), truncf(float), copysignf(float, float);
double fmin(double, double), fmax(double, double), erf(double), erfc(double), lgamma(double), exp2(double);
float fminf(float, float), fmaxf(float, float), erff(float), erfcf(float), exp2f(float);
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
)c";
constexpr const char* imported[] = {"acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "cbrt", "cos", "cosh",
                                    "exp",  "expm1", "log",  "log1p", "log2", "pow",   "sin",   "sinh", "tan", "tanh"};
constexpr const char* integer_header =
    "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\ntypedef short int16_t;\ntypedef unsigned short "
    "uint16_t;\n"
    "typedef int int32_t;\ntypedef unsigned uint32_t;\ntypedef long long int64_t;\ntypedef unsigned long long "
    "uint64_t;\n";
constexpr const char* string_header =
    "typedef __SIZE_TYPE__ size_t;\nvoid* memcpy(void*, const void*, size_t);\nvoid* memset(void*, int, size_t);\n"
    "void* memmove(void*, const void*, size_t);\n";

std::string text_of(const Exported& network, std::string_view file) {
  for (const ExportedFile& f : network.files)
    if (f.name == file) return f.text;
  ensure(false, "an export without {}", file);
  return "";
}

}  // namespace

void check_demo(const Exported& n) {
  const auto is_vector = [](const Type& t) { return t.dtype == DType::F32 && t.rank() == 1 && t.size() > 0; };
  require(
      is_vector(n.input) && is_vector(n.output) && n.target == n.output,
      "export: the page needs a network that reads a vector of f32 and learns vectors of f32 by mse; this one has "
      "input {}, output {} and target {}.\n  Export it as C instead (-o FOLDER), or use another model, such as gru.",
      to_string(n.input), to_string(n.output), to_string(n.target));
}

std::vector<ExportedFile> demo_sources(const Exported& n) {
  std::string states, functions;
  for (size_t i = 0; i < n.states.size(); ++i)
    states += fmt::format("    case {}: return m.{};\n", i, n.states[i].name);
  for (const char* f : imported) functions += fmt::format("{0}\n{0}f\n", f);
  const std::string source = fmt::format(R"c(#include "model.h"
#define EXPORT(name) __attribute__((export_name(#name)))
static {0}_model m;
static float x[{1}], target[{2}], y[{2}], loss;
EXPORT(init) void demo_init(void) {{ {0}_init(&m); }}
EXPORT(learn) float demo_learn(void) {{ return {0}_learn(&m, x, target, y, &loss) ? -1.0f : loss; }}
EXPORT(x) float* demo_x(void) {{ return x; }}
EXPORT(target) float* demo_target(void) {{ return target; }}
EXPORT(y) float* demo_y(void) {{ return y; }}
EXPORT(state) void* demo_state(int i) {{
  switch (i) {{
{3}  }}
  return 0;
}}
)c",
                                         n.name, n.input.size(), n.output.size(), states);
  return {{"model.h", text_of(n, "model.h")},
          {"model.c", text_of(n, "model.c")},
          {"demo.c", source},
          {"math.h", math_header},
          {"stdint.h", integer_header},
          {"string.h", string_header},
          {"imported.txt", functions}};
}

std::vector<std::string> demo_compiler_arguments() {
  return {"--target=wasm32",
          "-std=c99",
          "-O2",
          "-fwrapv",
          "-fno-strict-aliasing",
          "-mbulk-memory",
          "-nostdinc",
          "-I.",
          "-nostdlib",
          "-Wl,--no-entry",
          "-Wl,--strip-all",
          "-Wl,--allow-undefined-file=imported.txt",
          "model.c",
          "demo.c",
          "-o",
          "demo.wasm"};
}

std::string demo_page(const Exported& n, const DemoWords& words, const std::string& wasm) {
  nlohmann::ordered_json facts = {{"inputs", n.input.size()},
                                  {"outputs", n.output.size()},
                                  {"lag", demo_lag},
                                  {"title", words.title},
                                  {"about", words.about}};
  for (const ExportedState& s : n.states)
    facts["states"].push_back({{"path", s.path},
                               {"label", s.label},
                               {"float", s.type.dtype == DType::F32},
                               {"shape", std::vector<int64_t>(s.type.shape.begin(), s.type.shape.end())}});
  std::string json = facts.dump();  // "</script>" in a name must not end the element
  for (size_t at = 0; (at = json.find('<', at)) != json.npos; at += 6) json.replace(at, 1, "\\u003c");
  return fmt::format(R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A network that learns in your browser</title>
<style>{}</style>
</head>
<body>
<header><h1 id="title"></h1><p id="about"></p></header>
<main>
<section>
<h2>Move the pointer or a finger up and down here</h2>
<canvas id="pad" tabindex="0" aria-label="Your movement, and what the network remembers of it"></canvas>
<p class="key"><span class="you">your movement</span> <span class="wanted">target: where you were</span> <span
class="net">prediction of the network</span></p>
<p><button id="auto" aria-pressed="true">Move automatically</button> <button id="reset">Start over</button></p>
<p id="numbers" role="status"></p>
</section>
<section><h2>Error over time</h2><canvas id="error" aria-label="Error over time"></canvas></section>
<section><h2>Eligibility traces</h2><div id="traces" class="maps"></div></section>
<section><h2>Weights</h2><div id="weights" class="maps"></div></section>
</main>
<script type="application/json" id="facts">{}</script>
<script type="text/plain" id="wasm">{}</script>
<script>{}</script>
</body>
</html>
)html",
                     demo_css(), json, wasm, demo_script());
}

}  // namespace braintrace
