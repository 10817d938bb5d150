// SPDX-License-Identifier: Apache-2.0
// A package's object is linked, loaded and run in this process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/utsname.h>

#include <filesystem>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/load/link.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/load/predictor.h"
#include "tfaot/runtime/models.h"

namespace tfaot::toolkit {
namespace {

// Or code would write beyond the runtime's buffers.
static_assert(::tfaot::kElementsBeyond == kElementsBeyond);

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string this_machine() {
  utsname machine{};
  return ::uname(&machine) == 0 ? machine.machine : "";
}

CompiledCode code_of(std::int64_t batch_size, const std::string& level) {
  CompiledCode code;
  code.batch_size = batch_size;
  code.cpu_level = level;
  code.entry_symbol = fmt::format("load_test_bs{}{}", batch_size, level == "base" ? "" : "_better");
  const auto bytes = static_cast<std::uint64_t>(batch_size) * 8;
  code.buffers = {{BufferKind::kInput, 0, bytes},
                  {BufferKind::kOutput, 0, bytes},
                  {BufferKind::kWeight, 0, 64},
                  {BufferKind::kTemporary, 0, 8}};
  code.weights = {0};
  code.result_slot = 3;
  return code;
}

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    std::filesystem::create_directories(tree_ / "lib");
    std::filesystem::create_directories(tree_ / "runtime/lib");
    std::filesystem::copy_file(TFAOT_PACKAGE_OBJECT, tree_ / "lib/net_bs1.o");
    std::filesystem::copy_file(TFAOT_RUNTIME_LIBRARY, tree_ / "runtime/lib/libtfaot_runtime.a");
    manifest_.name = "net";
    manifest_.version = "1.0.0";
    manifest_.architecture = this_machine() + "-linux";
    manifest_.cpu_levels = {"base", "better"};
    manifest_.files = {{"include/net/model.h", "", 0}, {"lib/net_bs1.o", "", 0}};
    compiled_.signature = {"", {{"x", DType::kFloat32, {2}}}, {{"y", DType::kFloat32, {2}}}};
    compiled_.batch_sizes = {1, 4};
    compiled_.weights = {{"w", DType::kFloat32, {16}, 0, 64}};
    compiled_.weights_size = 64;
    compiled_.weights_object = "net_weights.o";
    compiled_.weights_symbol = "load_test_weights";
    for (const std::int64_t batch_size : compiled_.batch_sizes) {
      for (const std::string& level : manifest_.cpu_levels) {
        compiled_.codes.push_back(code_of(batch_size, level));
      }
    }
    manifest_.signature = compiled_.signature;
  }

  Status link() { return link(request()); }
  Status link(const LinkRequest& request) { return link_model(files_, manifest_, request); }
  LinkRequest request() const {
    LinkRequest request;
    request.tree = tree_;
    request.output = library_;
    request.machine = this_machine();
    return request;
  }
  std::string link_error(const LinkRequest& wrong) {
    const Status linked = link(wrong);
    EXPECT_FALSE(std::filesystem::exists(library_));
    return linked ? "" : shortened(linked.error().text());
  }
  std::string shortened(std::string text) const {
    const std::string root = scratch_.path().string();
    for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root)) {
      text.replace(at, root.size(), "ROOT");
    }
    return text;
  }

  std::shared_ptr<const LoadedModel> load() {
    const Status linked = link();
    EXPECT_TRUE(linked) << linked.error().text();
    auto model = LoadedModel::open(library_, manifest_, compiled_);
    EXPECT_TRUE(model) << model.error().text();
    return *model;
  }
  Predictor predictor(const PredictorOptions& options = {}) {
    auto made = Predictor::create(load(), options);
    EXPECT_TRUE(made) << made.error().text();
    return *std::move(made);
  }
  std::string create_error(const PredictorOptions& options) {
    const auto made = Predictor::create(load(), options);
    return made ? "" : made.error().text();
  }

  testing::TemporaryFolder scratch_;
  Path tree_ = scratch_.path() / "a tree";
  Path library_ = scratch_.path() / "code";
  RealFileSystem files_;
  Manifest manifest_;
  CompiledModel compiled_;
};

// The first number of each row, for rows 0, 1, 2, ...
std::vector<float> predictions(Predictor& predictor, std::size_t rows) {
  std::vector<float> x(2 * rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i / 2);
  std::vector<float> y(2 * rows, -1);
  const Status ran = predictor.run(rows, {x.data()}, {y.data()});
  EXPECT_TRUE(ran) << ran.error().text();
  std::vector<float> firsts;
  for (std::size_t i = 0; i < rows; ++i) {
    EXPECT_EQ(y[2 * i], y[2 * i + 1]);
    firsts.push_back(y[2 * i]);
  }
  return firsts;
}

TEST_F(LoadTest, RunsAnyNumberOfRows) {
  Predictor net = predictor({"base", {}});
  EXPECT_EQ(net.cpu_level(), "base");
  EXPECT_THAT(predictions(net, 0), ElementsAre());
  EXPECT_THAT(predictions(net, 1), ElementsAre(1000.25F));
  EXPECT_THAT(predictions(net, 4), ElementsAre(4000.25F, 4010.25F, 4020.25F, 4030.25F));
  EXPECT_THAT(predictions(net, 5), ElementsAre(4000.25F, 4010.25F, 4020.25F, 4030.25F, 1040.25F));
}

TEST_F(LoadTest, HasTheSignatureAndTheMeasuredCosts) {
  manifest_.tuning = Tuning{"a CPU", {{4, "better", 12.5, 12, 13, 9}}};
  const auto model = load();
  const ::tfaot::Description& description = model->description();
  EXPECT_STREQ(description.name, "net");
  ASSERT_EQ(description.input_count, 1U);
  EXPECT_STREQ(description.inputs[0].name, "x");
  EXPECT_EQ(description.inputs[0].row_elements, 2U);
  EXPECT_EQ(description.weights_bytes, 64U);
  ASSERT_EQ(description.program_count, 2U);
  EXPECT_EQ(description.programs[1].codes[1].cost, 12500U);
  EXPECT_EQ(description.programs[1].codes[0].cost, 0U);
}

TEST_F(LoadTest, TakesTheBestLevelThatThisCpuCanRun) {
  EXPECT_EQ(predictor().cpu_level(), "better");
  for (CompiledCode& code : compiled_.codes) {
    if (code.cpu_level == "better") code.cpu_features = {"abacus"};
  }
  EXPECT_EQ(predictor().cpu_level(), "base");
  EXPECT_EQ(create_error({"better", {}}),
            "this CPU cannot run the level 'better'\n"
            "  compiled levels: base, better; this CPU can run: base");
  EXPECT_EQ(create_error({"best", {}}),
            "model 'net' has no code for the level 'best'\n"
            "  compiled levels: base, better; this CPU can run: base");
}

TEST_F(LoadTest, ComposesByRulesInSiblingsToo) {
  Predictor net = predictor({"base", {"4:1,1,1,1"}});
  EXPECT_THAT(predictions(net, 4), ElementsAre(1000.25F, 1010.25F, 1020.25F, 1030.25F));
  Predictor sibling = net.sibling();
  EXPECT_THAT(predictions(sibling, 4), ElementsAre(1000.25F, 1010.25F, 1020.25F, 1030.25F));
  EXPECT_EQ(create_error({"", {"4:2,2"}}),
            "model 'net': the rule for batch size 4 uses size 2, but compiled sizes are 1, 4");
  EXPECT_THAT(create_error({"", {"four"}}), HasSubstr("four"));
}

TEST_F(LoadTest, RefusesSizesOfCoupledRows) {
  manifest_.rows = RowsMode::kCoupled;
  Predictor net = predictor({"base", {}});
  EXPECT_EQ(predictions(net, 4).size(), 4U);
  float memory[6] = {};
  const Status ran = net.run(3, {memory}, {memory});
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().text(), HasSubstr("model 'net'"));
}

TEST_F(LoadTest, RunsInManyThreads) {
  Predictor net = predictor({"base", {}});
  std::vector<Predictor> siblings;
  for (int i = 0; i < 4; ++i) siblings.push_back(net.sibling());
  std::vector<std::vector<float>> found(siblings.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < siblings.size(); ++i) {
    threads.emplace_back([&, i] { found[i] = predictions(siblings[i], 4 + i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], predictions(net, 4 + i));
  }
}

// The package's entries say which one ran: two threads that share four rows run two rows each.
TEST_F(LoadTest, SharesRowsOrKernels) {
  Predictor net = predictor({"base", {}});
  const auto alone = ElementsAre(4000.25F, 4010.25F, 4020.25F, 4030.25F);
  EXPECT_THAT(predictions(net, 4), alone);
  net.share(Shared::kRows, 2);
  EXPECT_THAT(predictions(net, 4), ElementsAre(1000.25F, 1010.25F, 1020.25F, 1030.25F));
  net.share(Shared::kKernels, 3);
  EXPECT_THAT(predictions(net, 4), alone);
  net.share_nothing();
  EXPECT_THAT(predictions(net, 4), alone);
}

TEST_F(LoadTest, WorksWithoutWeightsAndWithoutItsFile) {
  compiled_.weights_object.clear();
  compiled_.weights.clear();
  for (CompiledCode& code : compiled_.codes) {
    code.buffers[2].kind = BufferKind::kUnused;
    code.weights.clear();
  }
  Predictor net = predictor({"base", {}});
  std::filesystem::remove_all(scratch_.path() / "a tree");
  std::filesystem::remove(library_);
  EXPECT_THAT(predictions(net, 1), ElementsAre(1000.0F));
}

TEST_F(LoadTest, SaysWhyItCannotBeLinked) {
  LinkRequest wrong = request();
  wrong.linker = "/nowhere/ld";
  EXPECT_THAT(link_error(wrong),
              HasSubstr("the linker '/nowhere/ld', which makes a package's code loadable, cannot "
                        "be started"));
  EXPECT_THAT(link_error(wrong), HasSubstr("install it (Debian: binutils)"));
  wrong = request();
  wrong.machine = "pdp11";
  EXPECT_EQ(link_error(wrong),
            "ROOT/a tree: the package is for '" + this_machine() +
                "', this machine is 'pdp11'\n  run it on a machine that can run it");
  std::filesystem::resize_file(tree_ / "lib/net_bs1.o", 100);
  EXPECT_THAT(link_error(request()),
              HasSubstr("ROOT/a tree: the package's objects cannot be linked"));
  std::filesystem::remove(tree_ / "runtime/lib/libtfaot_runtime.a");
  EXPECT_EQ(link_error(request()),
            "ROOT/a tree: the package has no runtime/lib/libtfaot_runtime.a\n"
            "  it was made by an older tfaot; compile the model again");
}

TEST_F(LoadTest, SaysWhyItCannotBeOpened) {
  ASSERT_TRUE(link());
  compiled_.codes[0].entry_symbol = "missing";
  const auto other = LoadedModel::open(library_, manifest_, compiled_);
  ASSERT_FALSE(other);
  EXPECT_EQ(shortened(other.error().text()),
            "ROOT/code: the library has no symbol 'missing'\n"
            "  the package's record is of another code");
  std::filesystem::resize_file(library_, 10);
  const auto damaged = LoadedModel::open(library_, manifest_, compiled_);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(shortened(damaged.error().text()),
              HasSubstr("ROOT/code: the library cannot be loaded"));
}

// Libraries of models, of the runtime as it is shipped: 'ld' alone does not link sanitizers.
class LinkModelsTest : public LoadTest {
 protected:
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  void SetUp() override { GTEST_SKIP() << "the runtime is compiled with sanitizers"; }
#endif
#endif
  LinkModelsTest() {
    for (CompiledCode& code : compiled_.codes) code.object = "net_bs1.o";
    manifest_.files[1].sha256 = "hash of net_bs1.o";
    manifest_.weights.sha256 = "hash of the weights";
    manifest_.record = ModelRecord{"net", 1000000, "hash of the model"};
  }

  PackageToLink package(const std::string& version) const {
    PackageToLink package{tree_, manifest_, compiled_};
    package.manifest.version = version;
    return package;
  }
  LinkModelsRequest linking(std::vector<PackageToLink> packages) const {
    LinkModelsRequest request;
    request.packages = std::move(packages);
    request.runtime = TFAOT_RUNTIME_LIBRARY;
    request.name = "libnet.so";
    request.scratch = scratch_.path() / "scratch";
    request.machine = this_machine();
    return request;
  }
  Path link_all(std::vector<PackageToLink> packages) {
    auto linked = link_models(files_, linking(std::move(packages)));
    EXPECT_TRUE(linked) << linked.error().text();
    return linked.value_or(Path());
  }
  std::string linking_error(LinkModelsRequest request) {
    const auto linked = link_models(files_, std::move(request));
    return linked ? "" : shortened(linked.error().text());
  }
};

TEST_F(LinkModelsTest, HaveTheTablesOfEachPackage) {
  PackageToLink newer = package("1.1.0");
  newer.compiled.signature.inputs[0] = {"a \"b\"\\\n\xC3\xA4", DType::kFloat32, {2, 1}};
  newer.compiled.weights_object.clear();
  for (CompiledCode& code : newer.compiled.codes) code.buffers[2].kind = BufferKind::kUnused;
  newer.manifest.rows = RowsMode::kCoupled;
  const Path library = link_all({package("1.0.0"), newer});
  const ::tfaot::Models models(library.string());
  auto first = models.load("net", "<1.1");
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(first->version(), "1.0.0");
  EXPECT_EQ(first->record().version, 1000000);
  EXPECT_EQ(first->record().hash, "hash of the model");
  EXPECT_EQ(first->record().cpu_level, "better");
  std::vector<float> x(10, 1);
  std::vector<float> y(10);
  ASSERT_TRUE(first->run(5, {{"x", x}}, {{"y", y}}));
  EXPECT_THAT(y, ElementsAre(4510.25F, 4510.25F, 4510.25F, 4510.25F, 4510.25F, 4510.25F, 4510.25F,
                             4510.25F, 1510.25F, 1510.25F));
  auto second = models.load("net");
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_STREQ(second->signature().inputs[0].name, "a \"b\"\\\n\xC3\xA4");
  EXPECT_THAT(std::vector<std::int64_t>(second->signature().inputs[0].shape().begin(),
                                        second->signature().inputs[0].shape().end()),
              ElementsAre(2, 1));
  ASSERT_TRUE(second->run(1, ::tfaot::inputs(std::vector<float>(2, 1)),
                          ::tfaot::outputs(::tfaot::Span<float>(y.data(), 2))));
  EXPECT_EQ(y[0], 1510.0F);
  // The runtime's exceptions are caught inside of the library.
  const auto coupled = second->run(2, ::tfaot::inputs(std::vector<float>(4)),
                                   ::tfaot::outputs(::tfaot::Span<float>(y.data(), 4)));
  EXPECT_THAT(coupled.error().text, HasSubstr("2 rows cannot be run"));
  EXPECT_EQ(coupled.error().status, TFAOT_UNKNOWN_BATCH_SIZE);
}

TEST_F(LinkModelsTest, HaveTheSameBytesInEachFolder) {
  const auto first = files_.read(link_all({package("1.0.0"), package("2.0.0")}));
  std::filesystem::rename(tree_, scratch_.path() / "moved");
  tree_ = scratch_.path() / "moved";
  LinkModelsRequest other = linking({package("1.0.0"), package("2.0.0")});
  other.scratch = scratch_.path() / "another folder";
  const auto second = link_models(files_, std::move(other));
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(*first, *files_.read(*second));
}

TEST_F(LinkModelsTest, AreRefusedIfTheyWouldBeMixedUp) {
  EXPECT_EQ(linking_error(linking({package("1.0.0"), package("1.0.0")})),
            "ROOT/a tree: net 1.0.0 is given twice\n"
            "  a library has one model of each name and version");
  PackageToLink other = package("1.1.0");
  other.manifest.files[1].sha256 = "another hash";
  EXPECT_EQ(linking_error(linking({package("1.0.0"), other})),
            "ROOT/a tree: the symbol 'load_test_bs1' is of other code in another package\n"
            "  link each of them into a library of its own");
  other = package("1.1.0");
  other.manifest.weights.sha256 = "another hash";
  EXPECT_THAT(linking_error(linking({package("1.0.0"), other})), HasSubstr("load_test_weights"));
}

TEST_F(LinkModelsTest, SayWhatIsMissing) {
  LinkModelsRequest wrong = linking({package("1.0.0")});
  wrong.assembler = "/nowhere/as";
  EXPECT_THAT(linking_error(wrong), HasSubstr("the assembler '/nowhere/as'"));
  EXPECT_THAT(linking_error(wrong), HasSubstr("install it (Debian: binutils)"));
  wrong = linking({package("1.0.0")});
  wrong.linker = "/nowhere/ld";
  EXPECT_THAT(linking_error(wrong), HasSubstr("the linker '/nowhere/ld'"));
  PackageToLink other = package("1.1.0");
  other.manifest.architecture = "pdp11-linux";
  EXPECT_EQ(linking_error(linking({package("1.0.0"), other})),
            "ROOT/a tree: the package is for 'pdp11', the library for '" + this_machine() +
                "'\n  link the packages of each machine into a library of their own");
  wrong = linking({other});
  wrong.machine = "pdp11";
  wrong.is_foreign = true;
  wrong.assembler = "pdp11-linux-gnu-as";
  EXPECT_THAT(linking_error(wrong), HasSubstr("the assembler 'pdp11-linux-gnu-as'"));
  EXPECT_THAT(linking_error(wrong), HasSubstr("install it (Debian: g++-pdp11-linux-gnu)"));
  wrong = linking({package("1.0.0")});
  wrong.packages[0].compiled.codes[0].entry_symbol = "missing_entry";
  EXPECT_THAT(linking_error(wrong), HasSubstr("the packages' objects cannot be linked"));
  EXPECT_THAT(linking_error(wrong), HasSubstr("missing_entry"));
}

}  // namespace
}  // namespace tfaot::toolkit
