// The laboratory's results as a page and as curves.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lab/gradient.h"

namespace hone::lab {
namespace {

std::string NoiseText(double noise, bool uphill) {
  if (!std::isfinite(noise) || noise > 1e9) return "–";
  if (!uphill) return "downhill";
  return noise >= 100 ? fmt::format("{:.0f}", noise) : fmt::format("{:.2g}", noise);
}

std::string BiasText(double bias) {
  return bias < 1e-6 ? "0" : bias < 0.01 ? "< 0.01" : fmt::format("{:.2f}", bias);
}

// The curves that are drawn: few enough to read.
constexpr std::pair<const char*, const char*> kDrawn[] = {{"reinforce", "#6b7280"},
                                                          {"rloo", "#2563eb"},
                                                          {"grpo", "#0891b2"},
                                                          {"toolpo", "#dc2626"},
                                                          {"toolpo-per-call", "#ea580c"},
                                                          {"toolpo-split", "#16a34a"},
                                                          {"smeared", "#a16207"},
                                                          {"turn-loo", "#9333ea"},
                                                          {"gigpo", "#db2777"},
                                                          {"gae-token:whiten=no", "#111827"}};

}  // namespace

std::string GradientPage(const std::vector<GradientRow>& rows) {
  std::string page =
      "# Against the exact gradient\n\n"
      "<!-- Written by `hone lab gradient --write docs/algorithms`; a test keeps it true. -->\n\n"
      "A task that needs a chain of n right calls and then an answer. In each state the policy "
      "(a softmax over three logits) calls rightly, calls wrongly, which ends the episode, or "
      "answers: it decides itself when to stop. A right call earns 1, a wrong one −0.5, one too "
      "many −0.25; the outcome is 1 if the answer comes after all n. All groups of four "
      "trajectories are listed with their probabilities, so means and variances below are exact, "
      "not sampled. Critics are exact.\n\n"
      "- *bias*: distance of the mean estimate from the gradient of the expected sum of the terms "
      "that the method reads, relative to its length, chain of 2; 0 means below 1e-6. *angle*: "
      "between the two, which no learning rate can mend.\n"
      "- *to success*: angle between the mean estimate and the gradient of success alone.\n"
      "- *noise*: variance divided by the squared mean along the gradient of success, for chains "
      "of 1, 2, 4 and 8: about how many groups must be averaged before the step is worth taking. "
      "\"downhill\": the mean points away from success; \"–\": no signal.\n\n"
      "| method | claims | bias | angle | to success | noise 1 | 2 | 4 | 8 |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const GradientRow& row : rows) {
    page += fmt::format("| {} | {} | {} | {:.1f}° | {:.1f}° |", row.method,
                        row.unbiased ? "unbiased" : "", BiasText(row.bias), row.angle + 1e-9,
                        row.angle_success + 1e-9);
    for (size_t i = 0; i < row.noise.size(); ++i) {
      page += " " + NoiseText(row.noise[i], row.uphill[i]) + " |";
    }
    page += "\n";
  }
  page +=
      "\n![noise against the length of the chain](variance.svg)\n\n"
      "`remax` is not in the table: it needs a greedy trajectory beside the group. The levels of "
      "`cm2` need checklists.\n";
  return page;
}

std::string VarianceCurves(const std::vector<GradientRow>& rows) {
  constexpr double kLeft = 70, kTop = 20, kWidth = 430, kHeight = 300;
  double low = INFINITY, high = 0;
  std::vector<std::pair<const GradientRow*, std::string>> drawn;
  for (const auto& [name, colour] : kDrawn) {
    for (const GradientRow& row : rows) {
      if (row.method != name) continue;
      drawn.emplace_back(&row, colour);
      for (size_t i = 0; i < row.noise.size(); ++i) {
        if (!row.uphill[i] || !std::isfinite(row.noise[i])) continue;
        low = std::min(low, std::log10(row.noise[i]));
        high = std::max(high, std::log10(row.noise[i]));
      }
    }
  }
  low = std::floor(low), high = std::ceil(high);
  auto x = [&](size_t i) { return kLeft + kWidth * static_cast<double>(i) / 3; };
  auto y = [&](double exponent) { return kTop + kHeight * (high - exponent) / (high - low); };
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 370\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>Noise of the gradient estimate against the length of the chain</title>\n"
      "<rect width=\"700\" height=\"370\" fill=\"#fff\"/>\n";
  for (double exponent = low; exponent <= high; ++exponent) {
    svg += fmt::format(
        "<line x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e5e7eb\"/>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
        kLeft, kLeft + kWidth, y(exponent), y(exponent), kLeft - 8, y(exponent) + 4,
        std::pow(10, exponent));
  }
  for (size_t i = 0; i < ChainLengths().size(); ++i) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n", x(i),
                       kTop + kHeight + 18, ChainLengths()[i]);
  }
  svg += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">calls that the task needs</text>\n",
      kLeft + kWidth / 2, kTop + kHeight + 38);
  int line = 0;
  for (const auto& [row, colour] : drawn) {
    std::string points;
    for (size_t i = 0; i < row->noise.size(); ++i) {
      if (!row->uphill[i] || !std::isfinite(row->noise[i])) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(i), y(std::log10(row->noise[i])));
    }
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n"
        "<rect x=\"520\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>"
        "<text x=\"538\" y=\"{}\">{}</text>\n",
        points, colour, 24 + 20 * line, colour, 34 + 20 * line, row->method);
    ++line;
  }
  return svg + "</svg>\n";
}

}  // namespace hone::lab
