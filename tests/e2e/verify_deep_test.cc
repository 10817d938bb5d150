// SPDX-License-Identifier: Apache-2.0
// `tfaot verify --deep`: a package is damaged and its manifest made to fit, so that no hash shows
// the damage. Only running the code does.
#include <elf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "tfaot/base/hash.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/stored_check.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Where a section's bytes are in an object.
struct Section {
  std::size_t offset = 0;
  std::size_t size = 0;
};
Section largest_section(const std::string& object, std::uint64_t flags) {
  Elf64_Ehdr header{};
  std::memcpy(&header, object.data(), sizeof header);
  Section largest;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    std::memcpy(&section, object.data() + header.e_shoff + i * sizeof section, sizeof section);
    const bool has_bytes = section.sh_type == SHT_PROGBITS && section.sh_flags == flags;
    if (has_bytes && section.sh_size > largest.size) largest = {section.sh_offset, section.sh_size};
  }
  return largest;
}

class VerifyDeepTest : public ToolTest {
 protected:
  void compile(const std::string& name) {
    done({"compile", "-c", config(name), "-o", "out", "-q"});
    manifest_ = value_of(read_manifest(files_, root_ / "out/manifest.json"));
  }

  std::string object(const std::string& end) const {
    const auto found = std::ranges::find_if(
        manifest_.files, [&](const ManifestFile& file) { return file.path.ends_with(end); });
    EXPECT_NE(found, manifest_.files.end()) << end;
    return found->path;
  }

  // The file with other contents, and a manifest that fits.
  void replace(const std::string& path, const std::string& text) {
    Manifest manifest = manifest_;
    for (ManifestFile& file : manifest.files) {
      if (file.path == path) file = {path, sha256_of(text), text.size()};
    }
    if (path.ends_with("_weights.o")) manifest.weights.sha256 = sha256_of(text);
    manifest.record->hash = code_sha256(manifest.files);
    ASSERT_TRUE(files_.replace_atomically(root_ / "out" / path, text));
    ASSERT_TRUE(files_.replace_atomically(root_ / "out/manifest.json", manifest_to_json(manifest)));
  }

  StoredCheck check() const {
    const std::string text = read("out/check.json");
    return value_of(stored_check_from_json(manifest_, text, "check.json"));
  }
  void replace_check(const StoredCheck& check) {
    replace("check.json", stored_check_to_json(check));
  }

  template <class T>
  static T value_of(Result<T> result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return std::move(result).value();
  }

  Manifest manifest_;
  std::mt19937 random_{1};
};

TEST_F(VerifyDeepTest, FindsEachOfTwoHundredDamagedWeightsThatNoHashShows) {
  compile("keras_export");
  EXPECT_THAT(done({"verify", "--deep", "out"}), HasSubstr("the stored bits"));
  const std::string path = object("_weights.o");
  const std::string whole = read("out/" + path);
  const Section weights = largest_section(whole, SHF_ALLOC);
  ASSERT_GE(weights.size, 64U);
  for (int damage = 0; damage < 200;) {
    std::string damaged = whole;
    const std::size_t place = weights.offset + random_() % (weights.size / 4) * 4;
    float weight = 0;
    std::memcpy(&weight, damaged.data() + place, sizeof weight);
    if (weight == 0) continue;  // padding between columns, which nothing reads
    damaged[place + 3] = static_cast<char>(damaged[place + 3] ^ (1 << damage % 8));
    replace(path, damaged);
    ASSERT_TRUE(tool({"verify", "out"}).ok());
    const ProcessResult result = tool({"verify", "--deep", "out"});
    EXPECT_EQ(result.exit_code, 1)
        << "damage " << damage << " at " << place << " of " << weight << "\n"
        << result.standard_output << result.standard_error;
    ++damage;
  }
}

// It may crash, hang or compute anything; that ends no verification.
TEST_F(VerifyDeepTest, OutlivesDamagedCode) {
  compile("keras_export");
  int found = 0;
  for (int damage = 0; damage < 20; ++damage) {
    const std::string path = object("_bs1.o");
    std::string code = read("out/" + path);
    const std::string whole = code;
    const Section text = largest_section(code, SHF_ALLOC | SHF_EXECINSTR);
    ASSERT_GT(text.size, 16U);
    code[text.offset + random_() % text.size] ^= static_cast<char>(1 << random_() % 8);
    replace(path, code);
    const ProcessResult result = tool({"verify", "--deep", "--timeout", "10", "out"});
    EXPECT_EQ(result.signal, 0);
    EXPECT_LE(result.exit_code, 1) << result.standard_error;
    found += result.exit_code;
    ASSERT_TRUE(files_.replace_atomically(root_ / "out" / path, whole));
  }
  EXPECT_GT(found, 5);
}

TEST_F(VerifyDeepTest, AnotherMachineMayRoundOtherwise) {
  compile("keras_export");
  StoredCheck other = check();
  other.machine = "another";
  for (StoredCall& call : other.calls) {
    for (StoredBits& bits : call.bits) bits.sha256 = std::string(64, '0');
  }
  replace_check(other);
  EXPECT_THAT(done({"verify", "--deep", "out"}),
              HasSubstr("no bits of this level and machine are stored"));
  for (StoredCall& call : other.calls) call.bits.clear();
  replace_check(other);
  EXPECT_THAT(done({"verify", "--deep", "out"}),
              HasSubstr("no bits of this level and machine are stored"));
  // But not compute something else.
  other.calls.front().outputs.front().numbers.replace(0, 8, "0000c842");  // 100
  replace_check(other);
  const ProcessResult result = tool({"verify", "--deep", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("its code predicts something else"));
}

TEST_F(VerifyDeepTest, TheSameMachineMayNot) {
  compile("keras_export");
  StoredCheck other = check();
  other.calls.front().bits.front().sha256 = std::string(64, '0');
  replace_check(other);
  const ProcessResult result = tool({"verify", "--deep", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("the same machine gave other bits"));
}

TEST_F(VerifyDeepTest, ComparesNaN) {
  compile("nonfinite");
  EXPECT_THAT(done({"verify", "--deep", "out"}), HasSubstr("the stored bits"));
}

TEST_F(VerifyDeepTest, SaysWhyItDoesNotRun) {
  compile("keras_export");
  Manifest manifest = manifest_;
  std::erase_if(manifest.files, [](const ManifestFile& file) { return file.path == kCheckName; });
  ASSERT_TRUE(files_.replace_atomically(root_ / "out/manifest.json", manifest_to_json(manifest)));
  EXPECT_THAT(done({"verify", "--deep", "out"}), HasSubstr("no check is stored in it"));
  manifest.architecture = "aarch64-linux";
  manifest.target_triple = "aarch64-unknown-linux-gnu";
  // Without its objects, of which it is seen that they are for x86-64.
  std::erase_if(manifest.files, [](const ManifestFile& file) { return file.path.ends_with(".o"); });
  manifest.imports.clear();
  manifest.record.reset();
  ASSERT_TRUE(files_.replace_atomically(root_ / "out/manifest.json", manifest_to_json(manifest)));
  EXPECT_THAT(done({"verify", "--deep", "out"}),
              HasSubstr("its code is for 'aarch64', this machine is 'x86_64'"));
}

TEST_F(VerifyDeepTest, TakesArchivesAndAreas) {
  compile("keras_export");
  done({"package", "out", "-o", "dist"});
  const std::string archive = "dist/" + files_.list(root_ / "dist").value().back();
  EXPECT_THAT(done({"verify", "--deep", archive}), HasSubstr("the stored bits"));
  done({"install", archive, "--release-area", "area"});
  EXPECT_THAT(done({"verify", "--deep", "area"}), HasSubstr("the stored bits"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
