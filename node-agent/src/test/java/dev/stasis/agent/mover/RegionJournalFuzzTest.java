package dev.stasis.agent.mover;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;

/** Whatever a region journal holds: it is understood, or it is damage that is named. */
class RegionJournalFuzzTest {

  @FuzzTest
  void anyJournalIsReadOrDamaged(byte[] journal) throws IOException {
    JournalParser parser = new JournalParser();
    try {
      parser.take(new ByteArrayInputStream(journal));
    } catch (JournalParser.Damaged damaged) {
      return;
    }
    parser.journal().ifPresent(RegionJournalFuzzTest::requireConsistent);
  }

  private static void requireConsistent(RegionJournal journal) {
    if (journal.absentBytes() < 0 || (journal.whole() && !journal.absent().isEmpty())) {
      throw new AssertionError("absent: " + journal.absentBytes());
    }
  }
}
