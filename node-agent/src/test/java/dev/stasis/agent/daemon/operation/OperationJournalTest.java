package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An entry that this agent does not understand is not acted upon, and hides no other one. */
class OperationJournalTest {

  @TempDir Path state;

  private OperationJournal.Entry write(OperationJournal journal, String name) {
    OperationJournal.Entry entry =
        new OperationJournal.Entry(
            OperationJournal.Entry.FORMAT,
            "boot",
            name,
            "uid-of-" + name,
            Instant.EPOCH,
            Instant.EPOCH,
            Orders.ofSomebody().delete().getSpec(),
            OperationJournal.Entry.Stage.BEGUN,
            null);
    journal.write(entry);
    return entry;
  }

  private void edit(String name, String from, String to) throws IOException {
    Path file = state.resolve("operations").resolve(name + ".json");
    String text = Files.readString(file);
    assertThat(text).contains(from);
    Files.writeString(file, text.replace(from, to));
  }

  @Test
  void anEntryOfANewerFormatIsPassedOver() throws IOException {
    OperationJournal journal = new OperationJournal(state);
    write(journal, "newer");
    write(journal, "other");
    edit("newer", "\"format\" : 1", "\"format\" : 2");

    assertThat(journal.all()).extracting(OperationJournal.Entry::name).containsExactly("other");
  }

  @Test
  void anEntryWithAStageOfANewerAgentIsPassedOver() throws IOException {
    OperationJournal journal = new OperationJournal(state);
    write(journal, "newer");
    write(journal, "other");
    edit("newer", "\"BEGUN\"", "\"PREPARED\"");

    assertThat(journal.all()).extracting(OperationJournal.Entry::name).containsExactly("other");
  }
}
