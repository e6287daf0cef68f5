// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/progress.h"

#include <algorithm>
#include <cmath>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "braintrace/base/percent.h"
#include "braintrace/io/line_sink.h"

namespace braintrace::train {

namespace {

constexpr double terminal_interval = 0.1, plain_interval = 10;  // seconds between two drawings

std::string bar(double part) {
  constexpr int width = 20;
  const int     full  = static_cast<int>(std::clamp(part, 0.0, 1.0) * width);
  std::string   out;
  for (int i = 0; i < width; ++i) out += i < full ? "━" : "╌";
  return out;
}

int columns_of(std::string_view utf8) {
  return static_cast<int>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Recent steps count more; a non-finite value is shown immediately, and forgotten afterwards.
double smoothed(double before, double now) {
  return std::isfinite(before) && std::isfinite(now) ? before + 0.1 * (now - before) : now;
}

}  // namespace

std::string clock_text(double seconds) {
  if (!(seconds < 1e9)) return "?";
  const auto s = static_cast<int64_t>(std::max(seconds, 0.0));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

Screen Screen::standard_error() {
  return {isatty(STDERR_FILENO) != 0,
          [] {
            winsize size{};
            return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? static_cast<int>(size.ws_col) : 80;
          },
          [](std::string_view text) { LineSink(STDERR_FILENO).try_write(text); }};
}

// The parts in order of importance, as many as fit.
std::string Progress::line(int columns) const {
  const auto               done  = static_cast<double>(last_.step - first_.step);
  const double             spent = last_.seconds - first_.seconds;
  const double             rate  = spent > 0 ? done / spent : 0;
  std::vector<std::string> parts;
  parts.push_back(total_ ? fmt::format("{}/{}", last_.step, total_) : fmt::format("update {}", last_.step));
  parts.push_back(fmt::format("loss {:.4g}", loss_));
  if (accuracy_ >= 0) parts.push_back("accuracy " + percent(accuracy_));
  if (total_ && rate > 0) parts.push_back(clock_text(static_cast<double>(total_ - last_.step) / rate) + " left");
  if (rate > 0)
    parts.push_back(rate >= 10 ? fmt::format("{:.0f} updates/s", rate) : fmt::format("{:.2g} updates/s", rate));
  if (total_ && screen_.is_terminal)
    parts.push_back(bar(static_cast<double>(last_.step) / static_cast<double>(total_)));
  std::string out;
  for (const std::string& part : parts) {
    const std::string longer = out.empty() ? part : out + "  " + part;
    if (columns_of(longer) > columns) break;
    out = longer;
  }
  return out;
}

void Progress::draw() {
  if (screen_.is_terminal)
    screen_.write("\r\x1b[K" + line(screen_.columns() - 1));
  else
    screen_.write(line(1000) + "\n");
  drawn_at_ = last_.seconds;
  is_drawn_ = true;
}

void Progress::say(const std::string& text) {
  if (screen_.is_terminal && is_drawn_) screen_.write("\r\x1b[K");
  screen_.write(text + "\n");
  if (screen_.is_terminal && is_drawn_) draw();
}

void Progress::begin(const RunRecord& run) {
  total_ = run.total_steps;
  if (!run.pace.empty()) say(run.pace);
}

void Progress::step(const StepRecord& r) {
  const bool is_first = last_.step == 0;
  last_               = r;
  if (is_first) first_ = r;
  loss_     = is_first ? r.loss : smoothed(loss_, r.loss);
  accuracy_ = accuracy_ < 0 || r.accuracy < 0 ? r.accuracy : smoothed(accuracy_, r.accuracy);
  if (drawn_at_ < 0 || r.seconds - drawn_at_ >= (screen_.is_terminal ? terminal_interval : plain_interval)) draw();
}

void Progress::validation(const ValidationRecord& r) {
  std::string text = fmt::format("update {}: validation loss {:.4g}", r.step, r.loss);
  if (r.accuracy >= 0) text += ", accuracy " + percent(r.accuracy);
  say(text);
}

void Progress::alarm(const Alarm& a) {
  say(fmt::format("update {}: {} at {}: {}", a.step, a.kind, a.where, a.message));
}

void Progress::end(const RunRecord&) {
  if (last_.step == 0) return;
  if (screen_.is_terminal || drawn_at_ < last_.seconds) draw();
  if (screen_.is_terminal) screen_.write("\n");
}

}  // namespace braintrace::train
