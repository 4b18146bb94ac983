#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/sqlite.h"
#include "record/array_codec.h"
#include "record/store.h"
#include "tools/journal/journal_rows.h"

// Changes that are planted into what a run has stored, as small as can be. All checksums are right
// again afterwards, so that only deriving the run anew tells.

namespace hone {

// Flips one bit of the file's bytes, counted from its end.
inline void FlipBit(const std::filesystem::path& file, size_t bytes_from_end, int bit) {
  std::string bytes = ReadFile(file).value();
  ASSERT_LE(bytes_from_end, bytes.size());
  char& byte = bytes[bytes.size() - bytes_from_end];
  byte = static_cast<char>(byte ^ (1 << bit));
  ASSERT_TRUE(WriteFileAtomic(file, bytes).ok());
}

// The store of a run as a database.
inline std::unique_ptr<SqliteFile> StoreOf(const std::filesystem::path& run) {
  static constexpr const char* kNone[] = {"", ""};  // as many as the store has versions
  SqliteFormat format{.name = "run store", .application_id = 0x686f6e65};
  format.migrations = kNone;
  return SqliteFile::Open(run / "store.sqlite", format).value();
}

// One row of the store as the statement says.
inline void Plant(const std::filesystem::path& run, const std::string& statement) {
  const auto store = StoreOf(run);
  SqliteStatement update(store.get(), statement);
  ASSERT_TRUE(update.Run("planting a row").ok());
  ASSERT_EQ(store->ChangedRows(), 1);
}

// The lowest bit of one token of a tree.
inline void FlipToken(const std::filesystem::path& run, int64_t tree, size_t node, size_t token) {
  ScoredTree record =
      RunStore::OpenForReading(run / "store.sqlite").value()->ReadTree(tree).value();
  record.tree.nodes.at(node).tokens.at(token) ^= 1;
  const std::string arrays = EncodeTreeArrays(record.tree);
  const auto store = StoreOf(run);
  SqliteStatement update(store.get(), "UPDATE trees SET arrays = ? WHERE id = ?");
  update.BindBlob(arrays).Bind(tree);
  ASSERT_TRUE(update.Run("planting a token").ok());
  ASSERT_EQ(store->ChangedRows(), 1);
}

// The lowest bit of the last letter but one of what a call was answered with.
inline void FlipAnswer(const std::filesystem::path& file, int64_t call) {
  JournalEntry entry;
  {
    const auto journal = Journal::OpenForReading(file).value();
    entry = journal->List({}, call - 1, 1).value().at(0).entry;
  }
  ASSERT_GE(entry.result.content.size(), 4u);
  char& letter = entry.result.content[entry.result.content.size() - 3];
  letter = static_cast<char>(letter ^ 1);
  if (entry.attempts.size() == 1) entry.attempts[0].content = entry.result.content;
  const auto journal = SqliteFile::Open(file, kJournalFormat).value();
  {
    SqliteStatement gone(journal.get(), "DELETE FROM calls WHERE id = ?");
    ASSERT_TRUE(gone.Bind(call).Run("planting an answer").ok());
  }
  const CallTexts texts = CallTexts::Of(entry);
  std::string columns(kCallColumns);
  std::string marks = "?, ?, ?";
  for (const char letter_of : columns) marks += letter_of == ',' ? ", ?" : "";
  SqliteStatement add(journal.get(), "INSERT INTO calls (id, content_hash, " + columns +
                                         ") VALUES (" + marks + ")");
  add.Bind(call).BindBlob(texts.content_hash);
  BindCall(entry, texts, &add);
  ASSERT_TRUE(add.Run("planting an answer").ok());
}

}  // namespace hone
