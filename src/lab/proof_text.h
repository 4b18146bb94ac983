#pragma once

#include <string>
#include <vector>

#include "evaluate/compare/comparison_text.h"
#include "lab/proof.h"

namespace hone {

// What was found, a sentence for each half of the question and each control. Nothing is said that
// the intervals do not show.
std::vector<std::string> ProofSentences(const Proof& proof);

// Trajectories to the goal, the ratios beside the laboratory's, success, calls.
std::vector<ReportTable> ProofTables(const Proof& proof);

// The sentences, the tables and the pictures (laboratory and measurement on one plot), for the
// front of a comparison's report.
std::string ProofMarkdown(const Proof& proof);
std::string ProofHtml(const Proof& proof);

// What the laboratory predicts, alone: before anything is measured.
std::string PredictionMarkdown(const std::vector<lab::ChainPrediction>& predictions,
                               const lab::PredictionOptions& options);

}  // namespace hone
