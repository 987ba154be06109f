package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterleavedSha256Test {

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theDigestEqualsThatOfTheMover() {
    // The same bytes and the same digest as in runtime/test/digest_test.c.
    byte[] data = new byte[1 << 20];
    int x = 1;
    for (int i = 0; i < data.length; i++) {
      x = x * 1664525 + 1013904223;
      data[i] = (byte) (x >>> 24);
    }

    assertThat(digest(data, data.length))
        .isEqualTo("16x2150b81c684609f9b5ad671a06075f5298fb582baf474dec309f1d53b399a894");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 960, 1000, 1023, 1024, 4096, 40_000, 1 << 20})
  void theDigestDoesNotDependOnHowTheBytesAreSplit(int step) throws Exception {
    byte[] data = new byte[100_000];
    new Random(step).nextBytes(data);

    assertThat(digest(data, step)).isEqualTo(byHand(data));
  }

  @Test
  void aByteThatChangesItsLaneChangesIt() {
    byte[] data = new byte[4096];
    data[0] = 1;
    String first = digest(data, data.length);
    data[0] = 0;
    data[64] = 1;

    assertThat(digest(data, data.length)).isNotEqualTo(first);
  }

  private static String digest(byte[] data, int step) {
    InterleavedSha256 digest = new InterleavedSha256(InterleavedSha256Test::sha256);
    for (int at = 0; at < data.length; at += step) {
      digest.update(data, at, Math.min(step, data.length - at));
    }
    return digest.text();
  }

  private static String byHand(byte[] data) throws Exception {
    MessageDigest all = sha256();
    for (int lane = 0; lane < 16; lane++) {
      ByteArrayOutputStream message = new ByteArrayOutputStream();
      for (int at = lane * 64; at < data.length; at += 1024) {
        message.write(data, at, Math.min(64, data.length - at));
      }
      all.update(sha256().digest(message.toByteArray()));
    }
    return "16x" + HexFormat.of().formatHex(all.digest());
  }
}
