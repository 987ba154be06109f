package dev.stasis.agent.daemon.operation;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.compat.Fingerprint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What the agent reads of its operations, after a restart and from their orders. */
class OperationJsonFuzzTest {

  @FuzzTest
  void anyOperationIsReadOrRefused(byte[] description) {
    try {
      new OperationJson().read(description, GpuNodeOperation.class);
    } catch (IOException refused) {
      return;
    }
  }

  @FuzzTest
  void anyFingerprintIsReadOrRefused(byte[] text) {
    try {
      Fingerprint.parse(new String(text, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException refused) {
      return;
    }
  }
}
