// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/manifest_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/support/golden.h"
#include "tests/unit/records/sample_records.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::json;
using testing::Records;

Manifest manifest_of(const Records& records) {
  Manifest manifest =
      make_manifest(records.spec, records.compiled, "",
                    {{"lib/test_weights.o", std::string(64, 'e'), 1024},
                     {"include/tfaot-model-test/model.h", std::string(64, 'd'), 12}});
  manifest.toolkit_version = "0.0.0";  // a release must not change the golden files
  return manifest;
}

// The error for the manifest of simple_records() with `value` at the place that `pointer` names.
std::string error_with(const std::string& pointer, const json& value) {
  json document = json::parse(manifest_to_json(manifest_of(testing::simple_records())));
  document[json::json_pointer(pointer)] = value;
  const auto manifest = manifest_from_json(document.dump(), "manifest.json");
  return manifest ? "no error" : manifest.error().text();
}

TEST(ManifestJson, Golden) {
  EXPECT_TRUE(testing::matches_golden(manifest_to_json(manifest_of(testing::simple_records())),
                                      "generate/simple/manifest.json"));
  EXPECT_TRUE(testing::matches_golden(manifest_to_json(manifest_of(testing::mixed_records())),
                                      "generate/mixed/manifest.json"));
  EXPECT_TRUE(testing::matches_golden(manifest_to_json(manifest_of(testing::embedded_records())),
                                      "generate/embedded/manifest.json"));
  EXPECT_TRUE(testing::matches_golden(manifest_to_json(manifest_of(testing::cmssw_records())),
                                      "generate/cmssw/manifest.json"));
}

TEST(ManifestJson, RoundTrip) {
  for (const auto& records : {testing::simple_records(), testing::mixed_records(),
                              testing::embedded_records(), testing::cmssw_records()}) {
    const std::string text = manifest_to_json(manifest_of(records));
    const auto manifest = manifest_from_json(text, "manifest.json");
    ASSERT_TRUE(manifest) << manifest.error().text();
    EXPECT_EQ(manifest_to_json(*manifest), text);
    EXPECT_EQ(manifest->cpp_class, cpp_class_of(records.spec));
    EXPECT_EQ(manifest->signature.inputs.size(), records.compiled.signature.inputs.size());
    EXPECT_EQ(manifest->weights.size, records.compiled.weights_size);
    EXPECT_EQ(manifest->headers, records.spec.compilation.headers);
    EXPECT_EQ(manifest->rows, records.spec.compilation.rows);
  }
}

json tuning_json() {
  return {{"cpu", "A CPU"},
          {"calls",
           {{{"batch_size", 1},
             {"cpu_level", "x86-64"},
             {"ns", 7.25},
             {"low", 7},
             {"high", 8},
             {"repeats", 30},
             {"live_permille", 900}}}}};
}

TEST(ManifestJson, KeepsWhatWasMeasured) {
  Manifest before = manifest_of(testing::simple_records());
  EXPECT_FALSE(manifest_from_json(manifest_to_json(before), "manifest.json")->tuning);
  before.tuning = {"A CPU", {{1, "x86-64", 7.25, 7, 8, 30, 900}}};
  const std::string text = manifest_to_json(before);
  EXPECT_EQ(json::parse(text)["tuning"], tuning_json());
  const auto after = manifest_from_json(text, "manifest.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(manifest_to_json(*after), text);
}

TEST(ManifestJson, RefusesImpossibleMeasurements) {
  const auto error = [](const char* pointer, const json& value) {
    json tuning = tuning_json();
    tuning[json::json_pointer(pointer)] = value;
    return error_with("/tuning", tuning);
  };
  EXPECT_EQ(error("/cpu", "other"), "no error");
  EXPECT_EQ(error("/cpu", 1), "manifest.json: tuning.cpu: expected a string");
  EXPECT_EQ(error("/calls/0/ns", "7"), "manifest.json: tuning.calls[0].ns: expected a number");
  EXPECT_EQ(error("/calls/0/low", 0),
            "manifest.json: tuning.calls[0].low: expected nanoseconds above 0");
  EXPECT_EQ(error("/calls/0/high", 7.1),
            "manifest.json: tuning.calls[0]: the interval from 'low' to 'high' does not hold 'ns'");
  EXPECT_EQ(error("/calls/0/live_permille", 1001),
            "manifest.json: tuning.calls[0].live_permille: expected thousandths");
  EXPECT_EQ(error("/calls/0/batch_size", 3),
            "manifest.json: tuning: batch size 3, CPU level x86-64 is not in the package");
  EXPECT_EQ(error("/calls/0/cpu_level", "z80"),
            "manifest.json: tuning: batch size 1, CPU level z80 is not in the package");
  EXPECT_EQ(error("/calls/1", tuning_json()["calls"][0]),
            "manifest.json: tuning: batch size 1, CPU level x86-64 is listed twice");
}

json validation_json() {
  return {{"reference", "tensorflow 2.18.1"},
          {"cpu_levels", {"x86-64"}},
          {"rows", {1, 3}},
          {"tolerance", {{"relative", 1e-5}, {"absolute", 1e-6}}},
          {"outputs",
           {{{"output", "y"},
             {"inputs", "random"},
             {"cpu_level", "x86-64"},
             {"rows", 3},
             {"composition", "stitched"},
             {"numbers", 6},
             {"unequal", 2},
             {"nonfinite", 0},
             {"largest", 0.5},
             {"mean", 0.25},
             {"scale", 2.0},
             {"relative", 0.25},
             {"ulps", 9},
             {"moved", 0.125},
             {"allowed", 1.5},
             {"row", 2},
             {"index", {1}},
             {"counts", true},
             {"passed", false}}}}};
}

TEST(ManifestJson, KeepsWhatWasValidated) {
  Manifest before = manifest_of(testing::simple_records());
  EXPECT_FALSE(manifest_from_json(manifest_to_json(before), "manifest.json")->validation);
  ValidatedOutput output;
  output.cpu_level = "x86-64";
  output.rows = 3;
  output.composition = Composition::kStitched;
  output.output = "y";
  output.difference = {6, 0.5, 0.25, 2, 9, 2, 0, 5, 0.125};
  output.allowed = 1.5;
  output.row = 2;
  output.index = {1};
  output.passed = false;
  before.validation = {"tensorflow 2.18.1", {"x86-64"}, {1, 3}, {}, {output}};
  const std::string text = manifest_to_json(before);
  EXPECT_EQ(json::parse(text)["validation"], validation_json());
  const auto after = manifest_from_json(text, "manifest.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(manifest_to_json(*after), text);
}

// tfaot 0.2 wrote the tolerance alone.
TEST(ManifestJson, KnowsWhatOldValidationsAllowed) {
  json manifest = json::parse(manifest_to_json(manifest_of(testing::simple_records())));
  manifest["validation"] = validation_json();
  json& output = manifest["validation"]["outputs"][0];
  output.erase("allowed");
  output.erase("moved");
  const auto read = manifest_from_json(manifest.dump(), "manifest.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_DOUBLE_EQ(read->validation->outputs[0].allowed, 1e-6 + 1e-5 * 2);
}

TEST(ManifestJson, RefusesImpossibleValidations) {
  const auto error = [](const char* pointer, const json& value) {
    json validation = validation_json();
    validation[json::json_pointer(pointer)] = value;
    return error_with("/validation", validation);
  };
  EXPECT_EQ(error("/reference", "other"), "no error");
  EXPECT_EQ(
      error("/reference", "a\nvalidated  by nobody"),
      "manifest.json: validation.reference: 'a\\u000avalidated  by nobody' is not one line of "
      "at most 120 letters");
  EXPECT_EQ(error("/reference", 7), "manifest.json: validation.reference: expected a string");
  EXPECT_EQ(error("/cpu_levels/0", "z80"),
            "manifest.json: validation.cpu_levels[0]: the package has no 'z80'");
  EXPECT_EQ(error("/rows/1", 0),
            "manifest.json: validation.rows[1]: a batch has at least one row, not 0");
  EXPECT_EQ(error("/rows/1", 2.5), "manifest.json: validation.rows[1]: expected a whole number");
  EXPECT_EQ(error("/tolerance/relative", "1e-5"),
            "manifest.json: validation.tolerance.relative: expected a number");
  EXPECT_EQ(error("/outputs/0/output", "y\nz"),
            "manifest.json: validation.outputs[0].output: the package has no 'y\\u000az'");
  EXPECT_EQ(error("/outputs/0/cpu_level", "z80"),
            "manifest.json: validation.outputs[0].cpu_level: the package has no 'z80'");
  EXPECT_EQ(error("/outputs/0/rows", -3),
            "manifest.json: validation.outputs[0].rows: a batch has at least one row, not -3");
  EXPECT_EQ(error("/outputs/0/row", 3),
            "manifest.json: validation.outputs[0].row: there is no row 3 of 3");
  EXPECT_EQ(error("/outputs/0/row", -1),
            "manifest.json: validation.outputs[0].row: there is no row -1 of 3");
  EXPECT_EQ(error("/outputs/0/nonfinite", 7),
            "manifest.json: validation.outputs[0].nonfinite: 7 of 6 numbers");
  EXPECT_EQ(error("/outputs/0/passed", "yes"),
            "manifest.json: validation.outputs[0].passed: expected true or false");
  EXPECT_EQ(error("/outputs/0/largest", true),
            "manifest.json: validation.outputs[0].largest: expected a number");
  EXPECT_EQ(error("/outputs/0/largest", -1),
            "manifest.json: validation.outputs[0].largest: it is negative");
  EXPECT_EQ(error("/outputs/0/index", {-1}),
            "manifest.json: validation.outputs[0].index[0]: -1 is negative");
  EXPECT_EQ(error("/outputs/0/composition", "glued"),
            "manifest.json: validation.outputs[0].composition: expected 'compiled', 'padded', "
            "'stitched' or 'planned', not 'glued'");
}

TEST(ManifestJson, HostileTextsSurvive) {
  const Manifest before = manifest_of(testing::hostile_records());
  const auto after = manifest_from_json(manifest_to_json(before), "manifest.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->author, before.author);
  EXPECT_EQ(after->signature.inputs[0].name, before.signature.inputs[0].name);
}

// Older packages know none of these.
TEST(ManifestJson, KeepsTheModelsOwnWeightsAndTheWishes) {
  testing::Records records = testing::simple_records();
  records.compiled.variables = {{"kernel", "float32", {3, 5}}, {"scale", "float16", {}}};
  records.spec.compilation.optimize = Optimization::kSize;
  records.spec.compilation.compute = ComputeType::kBfloat16;
  json document = json::parse(manifest_to_json(manifest_of(records)));
  const auto after = manifest_from_json(document.dump(), "manifest.json");
  EXPECT_EQ(after->weights.model_size, 62U);
  EXPECT_EQ(after->optimize, Optimization::kSize);
  EXPECT_EQ(after->compute, ComputeType::kBfloat16);
  document.erase("optimize");
  document.erase("compute");
  document["weights"].erase("model_size");
  const auto old = manifest_from_json(document.dump(), "manifest.json");
  EXPECT_EQ(old->weights.model_size, 0U);
  EXPECT_EQ(old->optimize, Optimization::kSpeed);
  EXPECT_EQ(old->compute, ComputeType::kFloat32);
}

TEST(ManifestJson, UnknownKeysAreIgnored) {
  EXPECT_EQ(error_with("/another", {{"v", 1}}), "no error");
}

TEST(ManifestJson, EveryKeyIsNeeded) {
  const json whole = json::parse(manifest_to_json(manifest_of(testing::simple_records())));
  for (const auto& [key, value] : whole.items()) {
    if (key == "manifest_sha256") continue;  // older packages have none
    json document = whole;
    document.erase(key);
    const auto manifest = manifest_from_json(document.dump(), "m.json");
    ASSERT_FALSE(manifest) << key;
    EXPECT_EQ(manifest.error().text(), "m.json: the key '" + key + "' is missing");
  }
}

TEST(ManifestJson, ItsOwnHashFindsAnyChangedByte) {
  const std::string text = manifest_to_json(manifest_of(testing::simple_records()));
  EXPECT_TRUE(check_own_hash(text, "m.json"));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x01);
    EXPECT_FALSE(check_own_hash(flipped, "m.json")) << at;
  }
  EXPECT_TRUE(check_own_hash(text.substr(0, text.rfind(",\n")) + "\n}\n", "m.json"));  // older
}

TEST(ManifestJson, SchemaVersion) {
  EXPECT_EQ(error_with("/schema_version", 2),
            "manifest.json: schema_version: this tfaot reads version 1, not 2\n"
            "  Use the tfaot that made the package, or a newer one.");
  EXPECT_EQ(error_with("/schema_version", 1.5),
            "manifest.json: schema_version: expected a whole number");
}

TEST(ManifestJson, WrongTypesNameTheirPlace) {
  EXPECT_EQ(error_with("/name", 5), "manifest.json: name: expected a string");
  EXPECT_EQ(error_with("/signature", "x"), "manifest.json: signature: expected an object");
  EXPECT_EQ(error_with("/signature/inputs/0/dtype", "flaot32"),
            "manifest.json: signature.inputs[0].dtype: expected 'bool', 'int8', 'int16', "
            "'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'bfloat16', "
            "'float32' or 'float64', not 'flaot32'");
  EXPECT_EQ(error_with("/signature/inputs/0/row_shape/0", -4),
            "manifest.json: signature.inputs[0].row_shape[0]: -4 is negative");
  EXPECT_EQ(error_with("/batch_sizes", 4), "manifest.json: batch_sizes: expected a list");
  EXPECT_EQ(error_with("/batch_sizes/0", 18446744073709551615u),
            "manifest.json: batch_sizes[0]: expected a whole number");
  EXPECT_EQ(error_with("/weights/storage", "none"),
            "manifest.json: weights.storage: expected 'shared' or 'embedded', not 'none'");
  EXPECT_EQ(error_with("/headers", "other"),
            "manifest.json: headers: expected 'cmssw', or no such key, not 'other'");
  EXPECT_EQ(error_with("/files/1/size", -1), "manifest.json: files[1].size: -1 is negative");
}

TEST(ManifestJson, SizesAndLevelsAreThoseOfAPackage) {
  EXPECT_EQ(error_with("/batch_sizes", json::array()),
            "manifest.json: batch_sizes: the list is empty");
  EXPECT_EQ(error_with("/batch_sizes", {0}),
            "manifest.json: batch_sizes[0]: 0 is not from 1 to 1048576");
  EXPECT_EQ(error_with("/batch_sizes", {4, 4}),
            "manifest.json: batch_sizes: the sizes are not in ascending order");
  EXPECT_EQ(error_with("/cpu_levels", json::array()),
            "manifest.json: cpu_levels: the list is empty");
  EXPECT_EQ(error_with("/cpu_levels", {"x86-64", "x86-64"}),
            "manifest.json: cpu_levels: 'x86-64' is listed twice");
  EXPECT_EQ(error_with("/cpu_levels", {"../x"}),
            "manifest.json: cpu_levels[0]: '../x' cannot be a file name in a package");
  for (const char* bad : {"", "test", "a::", "::a", "a::b c", "a::1", "a::class", "a;b::c"}) {
    EXPECT_EQ(error_with("/cpp_class", bad), std::string("manifest.json: cpp_class: '") + bad +
                                                 "' is not a C++ class in a namespace");
  }
  const std::string own_class =
      json::parse(manifest_to_json(manifest_of(testing::simple_records())))["cpp_class"];
  for (const std::string bad : {"a-b", "1x", "class", "a+b", "other"}) {
    EXPECT_EQ(error_with("/name", bad),
              "manifest.json: the model '" + bad + "' cannot have the class '" + own_class + "'");
  }
}

TEST(ManifestJson, AByteOrderMarkIsNoJson) {
  const std::string text = manifest_to_json(manifest_of(testing::simple_records()));
  EXPECT_TRUE(manifest_from_json(text, "m.json"));
  EXPECT_EQ(manifest_from_json("\xEF\xBB\xBF" + text, "m.json").error().text(),
            "m.json:1:1: not valid JSON\n"
            "  it begins with a byte order mark: save it as UTF-8 without one");
}

TEST(ManifestJson, CountsAndLengthsAreLimited) {
  std::vector<std::int64_t> sizes(1001);
  std::iota(sizes.begin(), sizes.end(), 1);
  EXPECT_EQ(error_with("/batch_sizes", sizes),
            "manifest.json: batch_sizes: 1001 items, but at most 1000 are allowed");
  sizes.pop_back();
  EXPECT_EQ(error_with("/batch_sizes", sizes), "no error");
  json both = json::parse(manifest_to_json(manifest_of(testing::simple_records())));
  both["batch_sizes"] = sizes;
  for (int i = 0; i < 11; ++i) both["cpu_levels"][i] = "level" + std::to_string(i);
  EXPECT_EQ(manifest_from_json(both.dump(), "m.json").error().text(),
            "m.json: 1000 batch sizes times 11 CPU levels, but at most 10000 objects are allowed");
  EXPECT_EQ(error_with("/signature/inputs/0/row_shape", std::vector<int>(101, 1)),
            "manifest.json: signature.inputs[0].row_shape: 101 items, but at most 100 are allowed");
  EXPECT_EQ(error_with("/files", std::vector<int>(50'001)),
            "manifest.json: files: 50001 items, but at most 50000 are allowed");
  EXPECT_EQ(error_with("/tool_name", std::string(121, 'a')),
            "manifest.json: tool_name: it has 121 bytes, but at most 120 are allowed");
  EXPECT_EQ(error_with("/signature/inputs/0/name", std::string(1001, 'a')),
            "manifest.json: signature.inputs[0].name: it has 1001 bytes, but at most 1000 are "
            "allowed");
  EXPECT_EQ(error_with("/signature/key", std::string(70'000, 'a')),
            "manifest.json: signature.key: it has 70000 bytes, but at most 1000 are allowed");
  EXPECT_EQ(error_with("/files/0/path", std::string(1001, 'a')),
            "manifest.json: files[0].path: it has 1001 bytes, but at most 1000 are allowed");
  std::string deep = "1";
  for (int i = 0; i < 100'000; ++i) deep.insert(0, 1, '[');
  EXPECT_EQ(manifest_from_json(deep, "m.json").error().text(),
            "m.json: not valid JSON\n  nested deeper than 64 levels");
}

TEST(ManifestJson, LongValuesAreShownInPart) {
  const std::string text = error_with("/weights/storage", std::string(1'000'000, 'x'));
  EXPECT_LT(text.size(), 300U);
}

TEST(ManifestJson, HashesAreLowerCaseHex) {
  for (const std::string& bad :
       {std::string(63, 'a'), std::string(64, 'A'), std::string(64, 'g'), std::string()}) {
    EXPECT_EQ(error_with("/files/0/sha256", bad), "manifest.json: files[0].sha256: '" + bad +
                                                      "' is not 64 lower-case hexadecimal digits");
  }
}

TEST(ManifestJson, NothingLeavesThePackage) {
  for (const char* bad : {"/etc/passwd", "..", "a/../b", "a//b", "./a", "a/", "a\\b", "a\nb", ""}) {
    EXPECT_EQ(error_with("/files/0/path", bad), std::string("manifest.json: files[0].path: '") +
                                                    printable_line(bad) +
                                                    "' is not a plain path inside the package");
  }
  for (const char* key : {"name", "version", "tool_name", "architecture"}) {
    EXPECT_EQ(error_with(std::string("/") + key, "../x"),
              std::string("manifest.json: ") + key + ": '../x' cannot be a file name in a package");
  }
}

TEST(ManifestJson, TakesNothingThatAnAreaOrScramHasForItself) {
  for (const char* name : {"tfaot-runtime", "TFAOT-Runtime", "self"}) {
    EXPECT_EQ(
        error_with("/tool_name", name),
        std::string("manifest.json: tool_name: a model's tool cannot be named '") + name + "'");
  }
  EXPECT_EQ(error_with("/files/0/path", "etc/scram.d/tfaot-model-test.xml"),
            "manifest.json: files: 'etc/scram.d/tfaot-model-test.xml' is where an install puts a "
            "tool file");
  for (const char* version : {"", "1.0-newest", "1..0", "1.0."}) {
    EXPECT_EQ(
        error_with("/toolkit_version", version),
        std::string("manifest.json: toolkit_version: '") + version + "' is not a version of tfaot");
  }
}

TEST(ManifestJson, FilesAreSortedAndUnique) {
  EXPECT_EQ(error_with("/files/1/path", "manifest.json"),
            "manifest.json: files: the manifest cannot list itself");
  EXPECT_EQ(error_with("/files/1/path", "include/tfaot-model-test/model.h"),
            "manifest.json: files: 'include/tfaot-model-test/model.h' is out of order or "
            "listed twice");
}

TEST(ManifestJson, SyntaxErrorsHaveAPlace) {
  const auto manifest =
      manifest_from_json("{\n  \"schema_version\": 1,\n  oops\n}", "manifest.json");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().where().line, 3);
  EXPECT_EQ(manifest.error().where().column, 3);
  EXPECT_EQ(manifest.error().message(), "not valid JSON");
}

TEST(ManifestJson, KeepsTheBitsThatAreTheSame) {
  Manifest before = manifest_of(testing::simple_records());
  EXPECT_FALSE(manifest_from_json(manifest_to_json(before), "manifest.json")->bits);
  const std::string sha256(64, 'a');
  before.bits = {{1, 4}, 4, sha256, {{{"x86-64"}, sha256}}};
  const std::string text = manifest_to_json(before);
  const json bits = {{"rows", {1, 4}},
                     {"threads", 4},
                     {"inputs_sha256", sha256},
                     {"outputs", {{{"cpu_levels", {"x86-64"}}, {"sha256", sha256}}}}};
  EXPECT_EQ(json::parse(text)["bits"], bits);
  const auto after = manifest_from_json(text, "manifest.json");
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(manifest_to_json(*after), text);
  json other = bits;
  other["outputs"][0]["cpu_levels"] = {"z80"};
  EXPECT_EQ(error_with("/bits", other), "manifest.json: bits: the package has no 'z80'");
  other = bits;
  other["outputs"][0]["sha256"] = "none";
  EXPECT_NE(error_with("/bits", other), "no error");
}

}  // namespace
}  // namespace tfaot::toolkit
