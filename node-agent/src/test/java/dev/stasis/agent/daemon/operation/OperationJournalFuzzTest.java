package dev.stasis.agent.daemon.operation;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.stasis.compat.Fingerprint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What the agent reads of its operations, after a restart and from their orders. */
class OperationJournalFuzzTest {

  @FuzzTest
  void anyEntryIsReadOrRefused(byte[] entry) {
    try {
      new OperationJson().read(entry, OperationJournal.Entry.class);
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
