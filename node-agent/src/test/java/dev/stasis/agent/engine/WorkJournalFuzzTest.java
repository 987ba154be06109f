package dev.stasis.agent.engine;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Work of any bytes is read, or left alone as work of phase UNKNOWN. */
class WorkJournalFuzzTest {

  private static final String CONTAINER = "good";

  @FuzzTest
  void anyWorkIsReadOrUnknown(byte[] work) throws IOException {
    Path state = Files.createTempDirectory("work-journal");
    WorkJournal journal = new WorkJournal(state);
    try {
      Files.write(journal.folderOf(CONTAINER).resolve("work.json"), work);
      List<Work> all = journal.all();
      if (all.size() != 1 || !all.get(0).containerId().equals(CONTAINER)) {
        throw new AssertionError("expected the work of one container, got " + all);
      }
      journal.write(all.get(0));
    } finally {
      journal.remove(CONTAINER);
      Files.delete(state.resolve("work"));
      Files.delete(state);
    }
  }
}
