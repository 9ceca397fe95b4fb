//===- Plot.cpp - Measurements as a picture -------------------------------===//
//
// Two panels of dots over logarithmic axes, in SVG 1.1 without scripts or fonts of its own, so that
// browsers and viewers of repositories show it.
//
//===----------------------------------------------------------------------===//
#include "Records.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

using namespace swage;

static constexpr double kWidth = 520, kHeight = 340, kLeft = 60, kTop = 50, kGap = 70;
static constexpr const char *kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                           "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

/// "16", "64 K", "256 M".
static std::string shortNumber(double value) {
  const char *units[] = {"", " K", " M", " G", " T"};
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return fmt::format("{:.0f}{}", value, units[unit]);
}

namespace {
class Panel {
public:
  using Position = std::function<double(const Record &)>;
  Panel(const std::vector<Record> &records, double left, std::string label, Position position);
  /// Empty where no record has a position.
  std::string draw(const std::vector<std::string> &series, double highest) const;

private:
  double xOf(double value) const {
    return left + kWidth * (std::log2(value) - low) / std::max(1.0, high - low);
  }

  const std::vector<Record> &records;
  double left, low = 1e9, high = -1e9;
  std::string label;
  Position position;
};
} // namespace

/// What dots of one colour have in common.
static std::string seriesOf(const Record &record) {
  size_t offset = record.caseName.find(" offset");
  return record.family + (record.element.empty() ? "" : " " + record.element) +
         (offset == std::string::npos ? "" : record.caseName.substr(offset));
}

Panel::Panel(const std::vector<Record> &records, double left, std::string label, Position position)
    : records(records), left(left), label(std::move(label)), position(std::move(position)) {
  for (const Record &record : records)
    if (double value = this->position(record); value > 0) {
      low = std::min(low, std::floor(std::log2(value)));
      high = std::max(high, std::ceil(std::log2(value)));
    }
}

std::string Panel::draw(const std::vector<std::string> &series, double highest) const {
  if (low > high)
    return {};
  auto yOf = [&](double share) {
    return kTop + kHeight * (1 - std::min(share, highest) / highest);
  };
  std::string text = fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' "
                                 "stroke='#888'/>\n",
                                 left, kTop, kWidth, kHeight);
  for (int tenth = 0; tenth <= int(std::floor(highest * 10 + 1e-9)); tenth += 2)
    text += fmt::format("<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' stroke='{3}'/>\n"
                        "<text x='{4}' y='{5:.1f}' text-anchor='end'>{6:.1f}</text>\n",
                        left, left + kWidth, yOf(tenth / 10.0), tenth == 10 ? "#444" : "#ddd",
                        left - 6, yOf(tenth / 10.0) + 4, tenth / 10.0);
  int step = std::max(1, int(std::ceil((high - low) / 8)));
  for (int power = int(low); power <= int(high); power += step)
    text += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}' stroke='#eee'/>\n"
                        "<text x='{0:.1f}' y='{3}' text-anchor='middle'>{4}</text>\n",
                        xOf(std::exp2(power)), kTop, kTop + kHeight, kTop + kHeight + 16,
                        shortNumber(std::exp2(power)));
  text += fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", left + kWidth / 2,
                      kTop + kHeight + 36, label);
  for (const Record &record : records) {
    double value = position(record);
    if (value <= 0)
      continue;
    size_t colour =
        size_t(std::find(series.begin(), series.end(), seriesOf(record)) - series.begin());
    text += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'><title>{} {}: {:.2f} us, "
                        "{:.3f} of a copy</title></circle>\n",
                        xOf(value), yOf(record.time.share()),
                        kColours[colour % std::size(kColours)], escaped(record.family),
                        escaped(record.caseName), record.time.seconds * 1e6, record.time.share());
  }
  return text;
}

std::string swage::plotShares(const std::vector<Record> &records, const std::string &title) {
  std::vector<std::string> series;
  double highest = 1.2;
  for (const Record &record : records) {
    if (std::string name = seriesOf(record);
        std::find(series.begin(), series.end(), name) == series.end())
      series.push_back(name);
    highest = std::clamp(record.time.share() * 1.05, highest, 2.0);
  }
  Panel sizes(records, kLeft, "bytes that must be moved",
              [](const Record &record) { return double(record.neededBytes); });
  Panel lengths(records, kLeft + kWidth + kGap, "row length",
                [](const Record &record) { return double(record.length); });
  std::string body = sizes.draw(series, highest) + lengths.draw(series, highest);
  double y = kTop + kHeight + 60, x = kLeft;
  for (size_t i = 0; i < series.size(); ++i) {
    if (x > kLeft + 2 * kWidth - 160) {
      x = kLeft;
      y += 18;
    }
    body += fmt::format("<circle cx='{}' cy='{}' r='4' fill='{}'/><text x='{}' y='{}'>{}</text>\n",
                        x, y - 4, kColours[i % std::size(kColours)], x + 8, y, escaped(series[i]));
    x += 200;
  }
  return fmt::format("<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' "
                     "font-family='sans-serif' font-size='12'>\n"
                     "<rect width='100%' height='100%' fill='white'/>\n"
                     "<text x='{}' y='28' font-size='15'>{}</text>\n{}</svg>\n",
                     kLeft + 2 * kWidth + kGap + 20, y + 20, kLeft, escaped(title), body);
}
