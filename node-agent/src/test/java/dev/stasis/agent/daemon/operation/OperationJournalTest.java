package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An entry that this agent does not understand is not acted upon, and hides no other one. */
class OperationJournalTest {

  @TempDir Path state;

  private OperationJournal.Entry write(OperationJournal journal, String name) {
    return write(journal, name, Instant.EPOCH);
  }

  private OperationJournal.Entry write(OperationJournal journal, String name, Instant created) {
    OperationJournal.Entry entry =
        new OperationJournal.Entry(
            OperationJournal.Entry.FORMAT,
            "boot",
            name,
            "uid-of-" + name,
            created,
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

  /** Two operations on one pod are recovered as they were made. */
  @Test
  void theEntriesAreInTheOrderOfTheOperationsCreation() {
    OperationJournal journal = new OperationJournal(state);
    List<String> names = List.of("d", "b", "e", "a", "c");
    for (String name : names) {
      write(journal, name, Instant.EPOCH.plusSeconds(names.indexOf(name)));
    }

    assertThat(journal.all())
        .extracting(OperationJournal.Entry::name)
        .containsExactlyElementsOf(names);
  }

  /** What is suspended or held is meant to be frozen, and what is gone cannot be thawed. */
  @ParameterizedTest
  @CsvSource({
    "ENDED, FAILED, NOT_UNDONE, FROZEN, true",
    "ENDED, FAILED, NOT_UNDONE, UNKNOWN, true",
    "HELD, FAILED, NOT_UNDONE, FROZEN, false",
    "ENDED, SUCCEEDED, NOT_UNDONE, FROZEN, false",
    "ENDED, FAILED, UNDONE, FROZEN, false",
    "ENDED, FAILED, NOT_UNDONE, SUSPENDED, false",
    "ENDED, FAILED, NOT_UNDONE, RUNNING, false",
  })
  void onlyAFailedFreezeThatCouldNotBeUndoneIsThawedAgain(
      OperationJournal.Entry.Stage stage,
      OperationPhase phase,
      Outcome outcome,
      WorkloadState workload,
      boolean thawed) {
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setPhase(phase);
    status.setOutcome(outcome);
    status.setWorkload(workload);
    OperationJournal.Entry entry = write(new OperationJournal(state), "one").at(stage, status);
    assertThat(entry.leftFrozen()).as("a deletion").isFalse();

    entry.spec().setFreeze(new FreezeOrder());
    assertThat(entry.leftFrozen()).isEqualTo(thawed);
  }
}
