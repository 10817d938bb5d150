// SPDX-License-Identifier: Apache-2.0
// What both file systems guarantee: every test here runs on the disk and in memory.
#include "tfaot/base/file_system.h"

#include <map>

#include "any_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TYPED_TEST_SUITE(AnyFileSystem, Sides, SideNames);

TYPED_TEST(AnyFileSystem, TellsKindsApart) {
  this->write("file", "x");
  this->make_folder("folder");
  this->link("folder", "link");
  this->link("nothing", "dangling");
  EXPECT_EQ(this->kind("file"), FileKind::kFile);
  EXPECT_EQ(this->kind("folder"), FileKind::kDirectory);
  EXPECT_EQ(this->kind("folder/"), FileKind::kDirectory);
  EXPECT_EQ(this->kind("link"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("link/"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("dangling"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("nothing"), FileKind::kMissing);
  EXPECT_EQ(this->kind("file/below"), FileKind::kMissing);
}

TYPED_TEST(AnyFileSystem, WhatCannotBeToldIsNotMissing) {
  this->link("b", "a");
  this->link("a", "b");
  EXPECT_EQ(this->kind("a"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("a/below"), FileKind::kUnknown);
  EXPECT_EQ(this->error_of(this->fs.look(this->at("a/below"))),
            "ROOT/a/below: cannot look at it: Too many levels of symbolic links");
}

TYPED_TEST(AnyFileSystem, AnOpenedFileStaysTheSame) {
  this->write("file", "0123456789");
  const auto file = this->fs.open(this->at("file")).value();
  this->write("file", "another");
  EXPECT_EQ(file->size().value(), 10U);
  EXPECT_EQ(file->read_range({.offset = 2, .size = 3}).value(), "234");
  EXPECT_EQ(this->error_of(this->fs.open(this->at("none"))),
            "ROOT/none: cannot read: No such file or directory");
}

TYPED_TEST(AnyFileSystem, ReadsWhatWasWritten) {
  const std::string bytes("a\0\n\xff", 4);
  this->write("deep/er/file", bytes);
  EXPECT_EQ(this->read("deep/er/file"), bytes);
  EXPECT_EQ(this->fs.size(this->at("deep/er/file")).value(), 4U);
  this->write("empty", "");
  EXPECT_EQ(this->read("empty"), "");
  EXPECT_EQ(this->fs.size(this->at("empty")).value(), 0U);
}

TYPED_TEST(AnyFileSystem, FollowsLinksToRead) {
  this->write("a/file", "x");
  this->link("file", "a/link");
  this->link("a", "b");
  this->link("../a/link", "c/up");
  this->link(this->at("a/file").string(), "absolute");
  EXPECT_EQ(this->read("b/link"), "x");
  EXPECT_EQ(this->read("c/up"), "x");
  EXPECT_EQ(this->read("absolute"), "x");
  EXPECT_EQ(this->fs.size(this->at("b/link")).value(), 1U);
  EXPECT_THAT(this->list("b"), ElementsAre("file", "link"));
}

TYPED_TEST(AnyFileSystem, SaysWhyItCannotRead) {
  this->make_folder("folder");
  this->write("file", "x");
  this->link("loop", "loop");
  EXPECT_EQ(this->read("no"), "ROOT/no: cannot read: No such file or directory");
  EXPECT_EQ(this->read("no/no"), "ROOT/no/no: cannot read: No such file or directory");
  EXPECT_EQ(this->read("folder"), "ROOT/folder: cannot read: Is a directory");
  EXPECT_EQ(this->read("file/x"), "ROOT/file/x: cannot read: Not a directory");
  EXPECT_EQ(this->read("loop"), "ROOT/loop: cannot read: Too many levels of symbolic links");
  EXPECT_EQ(this->error_of(this->fs.size(this->at("no"))),
            "ROOT/no: cannot get the size: No such file or directory");
  EXPECT_EQ(this->error_of(this->fs.size(this->at("folder"))),
            "ROOT/folder: cannot get the size: Is a directory");
}

TYPED_TEST(AnyFileSystem, FeedsLargeFilesInPieces) {
  std::string contents;
  for (int i = 0; contents.size() < 3'500'000; ++i) contents += std::to_string(i) + " ";
  this->write("large", contents);
  std::string fed;
  std::size_t largest = 0;
  const Status status =
      this->fs.read_chunks(this->at("large"), [&](std::string_view chunk) -> Status {
        largest = std::max(largest, chunk.size());
        fed += chunk;
        return {};
      });
  EXPECT_TRUE(status);
  EXPECT_TRUE(fed == contents);
  EXPECT_LE(largest, 1U << 20);
}

TYPED_TEST(AnyFileSystem, StopsFeedingAtTheFirstFailure) {
  this->write("large", std::string(3'500'000, 'x'));
  int calls = 0;
  const Status status =
      this->fs.read_chunks(this->at("large"), [&calls](std::string_view) -> Status {
        ++calls;
        return fail(Error("enough"));
      });
  EXPECT_EQ(this->error_of(status), "enough");
  EXPECT_EQ(calls, 1);
}

TYPED_TEST(AnyFileSystem, ListsNamesSortedByByte) {
  for (const char* name : {"b", "a", "B", "a.b", "\xc3\xa4", ".hidden"}) this->write(name, "");
  this->make_folder("a-folder");
  EXPECT_THAT(this->list(), ElementsAre(".hidden", "B", "a", "a-folder", "a.b", "b", "\xc3\xa4"));
  EXPECT_THAT(this->list("a-folder"), IsEmpty());
  EXPECT_EQ(this->error_of(this->fs.list(this->at("no"))),
            "ROOT/no: cannot list the folder: No such file or directory");
  EXPECT_EQ(this->error_of(this->fs.list(this->at("a"))),
            "ROOT/a: cannot list the folder: Not a directory");
}

TYPED_TEST(AnyFileSystem, ReplacesFilesAndLinksButNotFolders) {
  this->write("file", "old");
  this->link("file", "link");
  this->make_folder("folder");
  this->write("file", "new");
  EXPECT_EQ(this->read("link"), "new");
  this->write("link", "own");
  EXPECT_EQ(this->kind("link"), FileKind::kFile);
  EXPECT_EQ(this->read("file"), "new");
  EXPECT_EQ(this->error_of(this->fs.replace_atomically(this->at("folder"), "x")),
            "ROOT/folder: cannot replace: Is a directory");
  EXPECT_EQ(this->error_of(this->fs.replace_atomically(this->at("file/x"), "x")),
            "ROOT/file: cannot make the folder: Not a directory");
  EXPECT_THAT(this->list(), ElementsAre("file", "folder", "link"));
}

// As cp does. Relative links count from their own folder.
TYPED_TEST(AnyFileSystem, AFileThatTheUserNamedIsWrittenThroughLinks) {
  this->write("data/there", "old");
  this->make_folder("names");
  this->link("../data/there", "names/link");
  this->link("link", "names/again");
  this->link("../data/missing", "names/dangling");
  this->link("circle", "names/circle");
  for (const auto& [name, file] :
       std::map<std::string, std::string>{{"names/again", "data/there"},
                                          {"names/dangling", "data/missing"},
                                          {"names/plain", "names/plain"},
                                          {"no folder/yet", "no folder/yet"}}) {
    const auto place = place_for_named_file(this->fs, this->at(name));
    ASSERT_TRUE(place) << place.error().text();
    ASSERT_TRUE(this->fs.replace_atomically(*place, name));
    EXPECT_EQ(this->read(file), name);
  }
  EXPECT_EQ(this->kind("names/again"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("names/dangling"), FileKind::kSymlink);
  EXPECT_EQ(this->kind("data/there"), FileKind::kFile);
  EXPECT_FALSE(place_for_named_file(this->fs, this->at("names/circle")));
}

TYPED_TEST(AnyFileSystem, CopiesContentsAndTheExecutableBit) {
  this->write("tool", "#!");
  this->side.make_executable(this->at("tool"));
  this->write("text", "x");
  this->link("tool", "link");
  ASSERT_TRUE(this->fs.copy_file(this->at("link"), this->at("new/tool")));
  ASSERT_TRUE(this->fs.copy_file(this->at("text"), this->at("new/text")));
  EXPECT_EQ(this->read("new/tool"), "#!");
  EXPECT_EQ(this->kind("new/tool"), FileKind::kFile);
  EXPECT_TRUE(this->side.is_executable(this->at("new/tool")));
  EXPECT_FALSE(this->side.is_executable(this->at("new/text")));
  EXPECT_EQ(this->error_of(this->fs.copy_file(this->at("no"), this->at("x"))),
            "ROOT/no: cannot read: No such file or directory");
  EXPECT_EQ(this->kind("x"), FileKind::kMissing);
}

TYPED_TEST(AnyFileSystem, CopyOntoItselfKeepsTheFile) {
  this->write("file", "x");
  ASSERT_TRUE(this->fs.copy_file(this->at("file"), this->at("file")));
  EXPECT_EQ(this->read("file"), "x");
}

TYPED_TEST(AnyFileSystem, FollowsLinksWhenAsked) {
  this->write("file", "x");
  this->make_folder("folder");
  this->link("file", "to_file");
  this->link("folder", "to_folder");
  this->link("nothing", "to_nothing");
  this->link("round", "round");
  const auto kind = [this](const char* name) {
    return this->fs.kind(this->at(name), Links::kFollow);
  };
  EXPECT_EQ(kind("file"), FileKind::kFile);
  EXPECT_EQ(kind("to_file"), FileKind::kFile);
  EXPECT_EQ(kind("to_folder"), FileKind::kDirectory);
  EXPECT_EQ(kind("to_nothing"), FileKind::kMissing);
  EXPECT_EQ(kind("round"), FileKind::kUnknown);
  EXPECT_EQ(kind("file/below"), FileKind::kMissing);
  EXPECT_TRUE(is_file(this->fs, this->at("to_file")));
  EXPECT_FALSE(is_file(this->fs, this->at("to_folder")));
  EXPECT_TRUE(is_folder(this->fs, this->at("to_folder")));
  EXPECT_FALSE(is_folder(this->fs, this->at("to_nothing")));
}

TYPED_TEST(AnyFileSystem, AReplacedFilePassesOnItsPermissions) {
  this->write("file", "x");
  this->side.make_executable(this->at("file"));
  this->link("file", "link");
  this->write("file", "y");
  this->write("link", "z");
  EXPECT_TRUE(this->side.is_executable(this->at("file")));
  EXPECT_FALSE(this->side.is_executable(this->at("link")));
}

TYPED_TEST(AnyFileSystem, MakesFoldersThroughLinks) {
  this->make_folder("a/b/c");
  this->make_folder("a/b/c");
  this->link("a/b", "link");
  this->make_folder("link/d/");
  EXPECT_EQ(this->kind("a/b/d"), FileKind::kDirectory);
  this->write("file", "x");
  EXPECT_EQ(this->error_of(this->fs.create_directories(this->at("file/x"))),
            "ROOT/file/x: cannot make the folder: Not a directory");
  EXPECT_EQ(this->error_of(this->fs.create_directories(this->at("file"))),
            "ROOT/file: cannot make the folder: Not a directory");
}

TYPED_TEST(AnyFileSystem, RenamesFilesLinksAndFolders) {
  this->write("a/file", "x");
  this->write("old", "old");
  ASSERT_TRUE(this->fs.rename(this->at("a"), this->at("b")));
  EXPECT_EQ(this->read("b/file"), "x");
  ASSERT_TRUE(this->fs.rename(this->at("b/file"), this->at("old")));
  EXPECT_EQ(this->read("old"), "x");
  EXPECT_THAT(this->list("b"), IsEmpty());
  this->link("old", "link");
  ASSERT_TRUE(this->fs.rename(this->at("link"), this->at("b/moved")));
  EXPECT_EQ(this->kind("b/moved"), FileKind::kSymlink);
  this->make_folder("empty");
  ASSERT_TRUE(this->fs.rename(this->at("b"), this->at("empty")));
  EXPECT_THAT(this->list(), ElementsAre("empty", "old"));
  ASSERT_TRUE(this->fs.rename(this->at("old"), this->at("old")));
  EXPECT_EQ(this->read("old"), "x");
}

TYPED_TEST(AnyFileSystem, SaysWhyItCannotRename) {
  this->write("full/file", "x");
  this->write("file", "y");
  this->make_folder("folder");
  const auto rename = [this](const std::string& from, const std::string& to) {
    return this->error_of(this->fs.rename(this->at(from), this->at(to)));
  };
  EXPECT_EQ(rename("no", "x"), "ROOT/no: cannot rename to 'ROOT/x': No such file or directory");
  EXPECT_EQ(rename("file", "no/x"),
            "ROOT/file: cannot rename to 'ROOT/no/x': No such file or directory");
  EXPECT_EQ(rename("folder", "full"),
            "ROOT/folder: cannot rename to 'ROOT/full': Directory not empty");
  EXPECT_EQ(rename("folder", "file"), "ROOT/folder: cannot rename to 'ROOT/file': Not a directory");
  EXPECT_EQ(rename("file", "folder"), "ROOT/file: cannot rename to 'ROOT/folder': Is a directory");
  EXPECT_EQ(rename("full", "full/in"),
            "ROOT/full: cannot rename to 'ROOT/full/in': Invalid argument");
  EXPECT_EQ(this->read("full/file"), "x");
  EXPECT_EQ(this->read("file"), "y");
}

TYPED_TEST(AnyFileSystem, ReplacesLinksWithoutTouchingTheirTargets) {
  this->write("1/file", "one");
  this->write("2/file", "two");
  this->link("1", "area/current");
  EXPECT_EQ(this->fs.read_symlink(this->at("area/current")).value(), "1");
  this->link("../2", "area/current");
  EXPECT_EQ(this->fs.read_symlink(this->at("area/current")).value(), "../2");
  EXPECT_EQ(this->read("area/current/file"), "two");
  EXPECT_EQ(this->read("1/file"), "one");
  EXPECT_THAT(this->list("area"), ElementsAre("current"));
  EXPECT_EQ(this->error_of(this->fs.replace_symlink("2", this->at("1"))),
            "ROOT/1: cannot make the link: Is a directory");
  EXPECT_THAT(this->list(), ElementsAre("1", "2", "area"));
}

TYPED_TEST(AnyFileSystem, ReadsOnlyLinksAsLinks) {
  this->write("file", "x");
  EXPECT_EQ(this->error_of(this->fs.read_symlink(this->at("file"))),
            "ROOT/file: cannot read the link: Invalid argument");
  EXPECT_EQ(this->error_of(this->fs.read_symlink(this->at("no"))),
            "ROOT/no: cannot read the link: No such file or directory");
}

TYPED_TEST(AnyFileSystem, RemovesTreesButNotWhatLinksPointTo) {
  this->write("kept/file", "x");
  this->write("tree/deep/file", "y");
  this->link("../kept", "tree/link");
  ASSERT_TRUE(this->fs.remove_all(this->at("tree")));
  EXPECT_EQ(this->kind("tree"), FileKind::kMissing);
  EXPECT_EQ(this->read("kept/file"), "x");
  this->link("kept", "link");
  ASSERT_TRUE(this->fs.remove_all(this->at("link/")));
  EXPECT_EQ(this->kind("link"), FileKind::kMissing);
  EXPECT_EQ(this->read("kept/file"), "x");
  EXPECT_TRUE(this->fs.remove_all(this->at("no")));
  EXPECT_TRUE(this->fs.remove_all(this->at("no/no")));
}

TYPED_TEST(AnyFileSystem, ReadsPieces) {
  this->write("file", "0123456789");
  EXPECT_EQ(this->fs.read_range(this->at("file"), {.offset = 2, .size = 3}).value(), "234");
  EXPECT_EQ(this->fs.read_range(this->at("file"), {.offset = 8, .size = 100}).value(), "89");
  EXPECT_EQ(this->fs.read_range(this->at("file"), {.offset = 10, .size = 1}).value(), "");
  EXPECT_EQ(this->fs.read_range(this->at("file"), {.offset = 1000, .size = 1}).value(), "");
  EXPECT_EQ(this->error_of(this->fs.read_range(this->at("none"), {.offset = 0, .size = 1})),
            "ROOT/none: cannot read: No such file or directory");
}

TYPED_TEST(AnyFileSystem, WritesPieceByPieceOrNotAtAll) {
  const auto produce = [](const ChunkSink& sink) -> Status {
    TFAOT_TRY(sink("one "));
    return sink("two");
  };
  ASSERT_TRUE(this->fs.write_chunks(this->at("new/file"), produce));
  EXPECT_EQ(this->read("new/file"), "one two");
  const auto fail_half_way = [](const ChunkSink& sink) -> Status {
    TFAOT_TRY(sink("half"));
    return fail(Error("enough"));
  };
  EXPECT_EQ(this->error_of(this->fs.write_chunks(this->at("new/file"), fail_half_way)), "enough");
  EXPECT_EQ(this->read("new/file"), "one two");
  EXPECT_THAT(this->list("new"), ElementsAre("file"));
}

TYPED_TEST(AnyFileSystem, ExchangesFoldersInOneStep) {
  this->write("a/old", "1");
  this->write("b/c/new", "2");
  ASSERT_TRUE(this->fs.exchange(this->at("a"), this->at("b/c")));
  EXPECT_THAT(this->list("a"), ElementsAre("new"));
  EXPECT_THAT(this->list("b/c"), ElementsAre("old"));
  EXPECT_EQ(this->error_of(this->fs.exchange(this->at("a"), this->at("none"))),
            "ROOT/a: cannot exchange with 'ROOT/none': No such file or directory");
  EXPECT_EQ(this->error_of(this->fs.exchange(this->at("b"), this->at("b/c"))),
            "ROOT/b: cannot exchange with 'ROOT/b/c': Invalid argument");
}

TYPED_TEST(AnyFileSystem, ListsFilesOfATreeInOrder) {
  this->write("t/b/file", "");
  this->write("t/b.file", "");
  this->write("t/a", "");
  this->make_folder("t/empty");
  this->link("a", "t/link");
  this->link("..", "t/up");  // a link to a folder is not entered, or this would not end
  this->link("no", "t/dangling");
  EXPECT_THAT(list_files_recursively(this->fs, this->at("t")).value(),
              ElementsAre("a", "b.file", "b/file", "link"));
  EXPECT_EQ(this->error_of(list_files_recursively(this->fs, this->at("no"))),
            "ROOT/no: cannot list the folder: No such file or directory");
}

TYPED_TEST(AnyFileSystem, FollowsLinksToFoldersThatLieElsewhere) {
  this->write("elsewhere/variables/index", "");
  this->write("elsewhere/deeper/file", "");
  this->link("../deeper", "elsewhere/variables/more");
  this->link("..", "elsewhere/deeper/up");
  this->link("elsewhere", "alias");
  this->write("t/a", "");
  this->link("../alias/variables", "t/variables");
  this->link((this->at("elsewhere") / "deeper").string(), "t/b");
  this->link(".", "t/self");
  this->link("..", "t/up");
  this->link("no", "t/dangling");
  EXPECT_THAT(list_files_recursively(this->fs, this->at("t"), FolderLinks::kFollow).value(),
              ElementsAre("a", "b/file", "variables/index", "variables/more/file"));
}

TYPED_TEST(AnyFileSystem, EndsWhereFoldersLinkToEachOther) {
  const std::string names = "abcdefghi";
  for (const char from : names) {
    for (const char to : names) {
      if (from == to) continue;
      this->link(std::string("../") + to, std::string("t/") + from + "/" + to);
    }
  }
  this->link("b", "circle/a");
  this->link("a", "circle/b");
  EXPECT_EQ(this->error_of(list_files_recursively(this->fs, this->at("t"), FolderLinks::kFollow)),
            "ROOT/t: the folder holds more than 10000 files\n"
            "  links to folders are followed: remove those that lead to each other");
  EXPECT_THAT(list_files_recursively(this->fs, this->at("circle"), FolderLinks::kFollow).value(),
              ElementsAre());
}

}  // namespace
}  // namespace tfaot::toolkit
