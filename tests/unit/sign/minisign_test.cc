// SPDX-License-Identifier: Apache-2.0
// Keys and signatures that minisign 0.11 made. tests/cli/sign_test.cc runs minisign itself.
#include "tfaot/sign/minisign.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPublic =
    "untrusted comment: minisign public key 643033449745F1AB\n"
    "RWSr8UWXRDMwZAjHNmbEeJWvsa9rgnAseOYB6Mla2GpOJ/w13DttRE3K\n";
constexpr const char* kOtherPublic = "RWRilvP7QM0fGsnkeyWlnx6T50643xHZhXbGvK0WhsIk0YkfS6zZPrSV";
constexpr const char* kSecret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAq/FFl0QzMGSRUrsDfes1"
    "F8t1XVhnQTOwpV51e6ZM/xGpsOsjmeqEkAjHNmbEeJWvsa9rgnAseOYB6Mla2GpOJ/w13DttRE3KAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
constexpr const char* kLockedSecret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWRTY0IyuLuSyCi9mpVj7uoFa/lrZhwTVdD7kk8arUuLb8VdpDAAAAACAAAAAAAAAEAAAAAArWQfUCVTkQ/MC4Pe/umQ"
    "UV40EEsCXjdn/z0UF09RDBOXwLhfLMiaKxcw0ngN87i2F2VSzv4wMl2b+6P5X353D1lulGaxIBSL/OKEOJGju4XCQyoG"
    "Vxo/sRLqRocFqX6FU/aN3us0Cgo=\n";
constexpr const char* kSignature =
    "untrusted comment: signature from minisign secret key\n"
    "RUSr8UWXRDMwZPLZ7TVOZM5YXqFo7D5DyrTFqvmSrdks/s2iEHY34+9wyKQN5RLzPmono5HtqruM5cmTW+bTu56FNT/w9"
    "DN/OwI=\n"
    "trusted comment: a trusted comment\n"
    "s0xikcBYa/St4skcC/PWdV1M+iRwXof52HxTmjNVgWsErXRiEN6ui/EXFXBJN3JWwXE/ivIPGlNNfLjSOJf/CA==\n";
constexpr const char* kOldSignature =
    "untrusted comment: signature from minisign secret key\n"
    "RWSr8UWXRDMwZDgVwT2kVijvKdDE+Xt0pjxeGDRht62IFpIkNUCoVWeRqocRAW60EyOQGy+oLj9B0iCjDn1hdwZXMb37G"
    "S4QqAc=\n"
    "trusted comment: old\n"
    "ZRSX2zrGN2KgE/MulKAirhJpeNoKJrgC2clUnBb1vK2RbvN16DHmXNd6dwJFI32ZzQH+78hzw2ogzkKBU9KGDA==\n";

class MinisignTest : public ::testing::Test {
 protected:
  MinisignTest() {
    write("some bytes\n");
    sign_with(kSignature);
  }
  void write(const std::string& text) { ASSERT_TRUE(files_.replace_atomically("/a/file", text)); }
  void sign_with(const std::string& text) {
    ASSERT_TRUE(files_.replace_atomically("/a/file.minisig", text));
  }
  static PublicKey key(const std::string& text = kPublic) {
    return parse_public_key(text, "key").value();
  }
  std::string error_of(const PublicKey& key) const {
    const auto checked = check_signature(files_, "/a/file", {key});
    return checked ? "" : checked.error().text();
  }

  MemoryFileSystem files_;
};

TEST_F(MinisignTest, TakesASignatureOfMinisign) {
  const auto checked = check_signature(files_, "/a/file", {key(kOtherPublic), key()});
  ASSERT_TRUE(checked) << checked.error().text();
  EXPECT_EQ(checked->trusted_comment, "a trusted comment");
  EXPECT_EQ(key_id_text(checked->key), "643033449745F1AB");
}

TEST_F(MinisignTest, RefusesOtherBytes) {
  write("some bytez\n");
  EXPECT_EQ(error_of(key()),
            "/a/file: its signature by 643033449745F1AB is not of these bytes\n"
            "  the file or the signature was changed; get both again");
}

TEST_F(MinisignTest, RefusesAnotherKey) {
  EXPECT_EQ(error_of(key(kOtherPublic)),
            "/a/file.minisig: the signature is by the key 643033449745F1AB\n"
            "  keys that are allowed: 1A1FCD40FBF39662");
  // Nor another key that calls itself by the same number.
  PublicKey false_key = key();
  false_key.key = key(kOtherPublic).key;
  EXPECT_THAT(error_of(false_key), HasSubstr("is not of these bytes"));
}

TEST_F(MinisignTest, RefusesAnotherTrustedComment) {
  std::string text = kSignature;
  text.replace(text.find("a trusted"), 1, "A");
  sign_with(text);
  EXPECT_EQ(error_of(key()), "/a/file.minisig: the trusted comment was changed");
}

TEST_F(MinisignTest, RefusesWhatIsNoSignature) {
  sign_with(kOldSignature);
  EXPECT_THAT(error_of(key()), HasSubstr("minisign's old form"));
  sign_with("nothing\n");
  EXPECT_THAT(error_of(key()), HasSubstr("not a signature of minisign"));
  ASSERT_TRUE(files_.remove_all("/a/file.minisig"));
  EXPECT_EQ(error_of(key()),
            "/a/file: the file has no signature beside it\n"
            "  it would be file.minisig; 'tfaot sign' makes it");
}

// Each line of the file but the first, damaged at each place.
TEST_F(MinisignTest, RefusesEachDamagedSignature) {
  const std::string whole = kSignature;
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t place = first; place + 1 < whole.size(); ++place) {
    std::string text = whole;
    text[place] = text[place] == 'Q' ? 'R' : 'Q';
    sign_with(text);
    EXPECT_NE(error_of(key()), "") << text;
  }
}

TEST_F(MinisignTest, SignsSoThatItIsChecked) {
  const auto secret = SecretKey::parse(kSecret, "key", "");
  ASSERT_TRUE(secret) << secret.error().text();
  EXPECT_FALSE(SecretKey::is_encrypted(kSecret));
  const auto signature = sign_file(files_, "/a/file", *secret, "our comment");
  ASSERT_TRUE(signature);
  sign_with(*signature);
  EXPECT_EQ(error_of(key()), "");
  // Ed25519 knows no chance: the signature of the same bytes is that of minisign.
  EXPECT_THAT(*signature, HasSubstr(std::string(kSignature).substr(54, 100)));
}

TEST_F(MinisignTest, RefusesAKeyThatIsDamagedOrLocked) {
  EXPECT_TRUE(SecretKey::is_encrypted(kLockedSecret));
  std::string damaged = kSecret;
  damaged.replace(damaged.find("F8t1"), 4, "F8t2");
  const auto secret = SecretKey::parse(damaged, "key", "");
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().text(), "key: the key is damaged");
  const auto none = SecretKey::parse(kPublic, "key", "");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("not a secret key of minisign"));
}

TEST_F(MinisignTest, ReadsAPublicKeyAloneOrInItsFile) {
  EXPECT_EQ(key().key, key("RWSr8UWXRDMwZAjHNmbEeJWvsa9rgnAseOYB6Mla2GpOJ/w13DttRE3K").key);
  const auto none = parse_public_key(kSignature, "a.pub");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("a.pub: not a public key of minisign"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
