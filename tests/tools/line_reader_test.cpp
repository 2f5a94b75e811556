// Lines from files and pipes, plain and gzip'd.
#include "tools/line_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "temporary_file.hpp"
#include "tools/failures.hpp"
#include "tools/text_input.hpp"

namespace crossbill::tools {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> lines_of(const std::string& path, std::size_t limit = LineReader::kDefaultLimit) {
  TextInput input(path);
  LineReader reader(input, limit);
  std::vector<std::string> texts;
  for (Line line; reader.next(line);) {
    EXPECT_EQ(line.number, texts.size() + 1);
    texts.push_back(line.too_long ? "<too long>" : line.text);
  }
  return texts;
}

std::vector<std::string> lines_in(std::string_view content, std::size_t limit = LineReader::kDefaultLimit) {
  const TemporaryFolder folder;
  return lines_of(folder.write("text", content), limit);
}

std::string failure_of(const std::string& path) {
  try {
    lines_of(path);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "no failure";
}

using Lines = std::vector<std::string>;

TEST(LineReader, EndsLinesAtNewlineOrCarriageReturnNewline) {
  EXPECT_EQ(lines_in("a\nb\r\nc\n"), (Lines{"a", "b", "c"}));
}

TEST(LineReader, KeepsALastLineWithoutLineEnd) {
  EXPECT_EQ(lines_in("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_in("a\nb\r"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_in("x"), (Lines{"x"}));
}

TEST(LineReader, KeepsBlankLinesAndCarriageReturnsInside) {
  EXPECT_EQ(lines_in("\n\na\rb\n\n"), (Lines{"", "", "a\rb", ""}));
}

TEST(LineReader, GivesNothingForAnEmptyFile) {
  EXPECT_EQ(lines_in(""), Lines{});
  EXPECT_EQ(lines_in("\xEF\xBB\xBF"), Lines{});
}

TEST(LineReader, DropsAByteOrderMarkBeforeTheFirstLineOnly) {
  EXPECT_EQ(lines_in("\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b\n"),
            (Lines{"a",
                   "\xEF\xBB\xBF"
                   "b"}));
  EXPECT_EQ(lines_in("\xEF\xBB\xBF\n"), (Lines{""}));
}

TEST(LineReader, KeepsZeroBytes) {
  EXPECT_EQ(lines_in(std::string_view("a\0b\n", 4)), (Lines{std::string("a\0b", 3)}));
}

TEST(LineReader, PassesOverLinesBeyondTheLimitAndGoesOn) {
  const std::string ten(10, 'x'), eleven(11, 'x'), huge(1 << 20, 'x');
  EXPECT_EQ(lines_in(ten + "\n" + eleven + "\n" + huge + "\nok\n" + huge, 10),
            (Lines{ten, "<too long>", "<too long>", "ok", "<too long>"}));
  EXPECT_EQ(lines_in(ten + "\r\nok", 10), (Lines{ten, "ok"}));
}

TEST(LineReader, ReadsManyLinesAcrossBuffers) {
  std::string content;
  Lines expected;
  for (int i = 0; i < 60000; ++i) {
    expected.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i % 40), 'y'));
    content += expected.back() + "\n";
  }
  EXPECT_EQ(lines_in(content), expected);
  EXPECT_EQ(lines_in(gzipped(content)), expected);
}

TEST(LineReader, ReadsGzipMembersOneAfterTheOther) {
  EXPECT_EQ(lines_in(gzipped("a\nb") + gzipped("c\nd\n")), (Lines{"a", "bc", "d"}));
  EXPECT_EQ(lines_in(gzipped("") + gzipped("a\n") + gzipped("")), (Lines{"a"}));
  EXPECT_EQ(lines_in(gzipped("")), Lines{});
}

TEST(LineReader, AcceptsZeroPaddingBehindGzip) {
  EXPECT_EQ(lines_in(gzipped("a\n") + std::string(600, '\0')), (Lines{"a"}));
}

TEST(LineReader, RefusesDamagedGzipNamingTheFile) {
  const TemporaryFolder folder;
  const std::string whole = gzipped(std::string(5000, 'a') + "\nb\n");
  const std::string cut = folder.write("cut.gz", std::string_view(whole).substr(0, whole.size() - 5));
  EXPECT_EQ(failure_of(cut), cut + ": the gzip data is cut short");
  const std::string header = folder.write("header.gz", std::string_view(whole).substr(0, 2));
  EXPECT_EQ(failure_of(header), header + ": the gzip data is cut short");
  std::string flipped = whole;
  flipped[flipped.size() - 6] ^= 1;  // in the checksum
  EXPECT_NE(failure_of(folder.write("flipped.gz", flipped)).find("damaged gzip data"), std::string::npos);
  EXPECT_NE(failure_of(folder.write("tail.gz", whole + "tail")).find("not gzip follow"), std::string::npos);
}

TEST(LineReader, TakesAFileThatOnlyBeginsLikeGzipAsText) {
  EXPECT_EQ(lines_in("\x1f"), (Lines{"\x1f"}));
  EXPECT_EQ(lines_in("\x1f!\n"), (Lines{"\x1f!"}));
}

TEST(TextInput, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(failure_of("/nowhere/pairs"), "/nowhere/pairs: can't be opened: No such file or directory");
  const TemporaryFolder folder;
  EXPECT_NE(failure_of(folder.path().string()).find("is a folder"), std::string::npos);
}

// A pipe in place of standard input's file: what arrives late must not be waited for.
TEST(LineReader, IsReadyOnlyWhenAWholeLineHasArrived) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  TextInput input("/dev/fd/" + std::to_string(ends[0]));
  LineReader reader(input);
  EXPECT_FALSE(reader.ready(0ms));
  ASSERT_EQ(write(ends[1], "half", 4), 4);
  EXPECT_FALSE(reader.ready(0ms));
  ASSERT_EQ(write(ends[1], " line\nnext", 10), 10);
  EXPECT_TRUE(reader.ready(0ms));
  Line line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.text, "half line");
  EXPECT_FALSE(reader.ready(1ms));
  close(ends[1]);
  EXPECT_TRUE(reader.ready(0ms));
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.text, "next");
  EXPECT_FALSE(reader.next(line));
  close(ends[0]);
}

TEST(TextInput, StopsWaitingWhenWoken) {
  int ends[2], wake[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(wake), 0);
  TextInput input("/dev/fd/" + std::to_string(ends[0]), wake[0]);
  ASSERT_EQ(write(wake[1], "!", 1), 1);
  std::string text;
  EXPECT_THROW(input.read(text), Interrupted);
  for (const int end : {ends[0], ends[1], wake[0], wake[1]}) close(end);
}

}  // namespace
}  // namespace crossbill::tools
