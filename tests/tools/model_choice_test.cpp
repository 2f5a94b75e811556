// Which file a model's name means.
#include "tools/model_choice.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "temporary_file.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"

namespace crossbill::tools {
namespace {

TEST(ModelChoice, PathsAreTakenAsTheyAre) {
  const TemporaryFolder folder;
  folder.write("there.cbm", "");
  EXPECT_EQ(find_model(folder.path().string(), {}), folder.path());
  EXPECT_EQ(find_model((folder.path() / "there.cbm").string(), {}), folder.path() / "there.cbm");
  EXPECT_EQ(find_model("./", {}), "./");
}

TEST(ModelChoice, APathThatLeadsNowhereIsNotDownloaded) {
  for (const char* path : {"some-publisher/some-model", "./not-there", "not-there.cbm"}) {
    try {
      find_model(path, {});
      ADD_FAILURE() << path;
    } catch (const InputError& fault) {
      EXPECT_NE(std::string(fault.what()).find("downloads nothing"), std::string::npos) << fault.what();
    }
  }
}

TEST(ModelChoice, NamesAreLookedForInOrder) {
  const TemporaryFolder first, second;
  second.write("alpha.cbm", "");
  EXPECT_EQ(find_model("alpha", {first.path(), second.path()}), second.path() / "alpha.cbm");
  first.write("alpha.cbm", "");
  EXPECT_EQ(find_model("alpha", {first.path(), second.path()}), first.path() / "alpha.cbm");
}

TEST(ModelChoice, AnUnknownNameListsWhatThereIs) {
  const TemporaryFolder folder;
  folder.write("beta.cbm", "");
  folder.write("alpha.cbm", "");
  folder.write("notes.md", "");
  try {
    find_model("gamma", {folder.path(), folder.path() / "missing"});
    FAIL() << "gamma was found";
  } catch (const InputError& fault) {
    const std::string sentence = fault.what();
    EXPECT_NE(sentence.find("\"gamma\"; found: alpha, beta; looked in: " + folder.path().string() + ", "),
              std::string::npos)
        << sentence;
  }
}

TEST(ModelChoice, ShortNamesDropFoldersAndSuffix) {
  EXPECT_EQ(short_model_name("/a/b/model.cbm"), "model");
  EXPECT_EQ(short_model_name("/a/folder-v2.1/"), "folder-v2.1");
  EXPECT_EQ(short_model_name("memory"), "memory");
}

}  // namespace
}  // namespace crossbill::tools
