package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One entry that cannot be read says nothing about the others. */
class WorkJournalTest {

  @TempDir private Path folder;

  private WorkJournal journal() {
    return new WorkJournal(folder.resolve("state"));
  }

  private static Work work(Work.Phase phase) {
    return work(phase, "good", Instant.EPOCH);
  }

  private static Work work(Work.Phase phase, String container, Instant since) {
    return new Work(
        Work.FORMAT,
        "this-boot",
        "operation",
        "GpuCheckpoint ml/train",
        Work.Kind.FREEZE,
        After.EVICT,
        false,
        phase,
        since,
        container,
        new ProcessId(42, 4),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        null,
        null,
        null,
        List.of(),
        null,
        null,
        null,
        false);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "null",
        "{}",
        "{\"format\": 2}",
        "{\"format\": 1, \"phase\": \"A_PHASE_TO_COME\"}"
      })
  void oneThatCannotBeReadIsOneWorkloadInStateUnknown(String text) throws IOException {
    journal().write(work(Work.Phase.WORKING));
    Files.writeString(journal().folderOf("bad").resolve("work.json"), text);

    assertThat(journal().all())
        .extracting(Work::containerId, Work::phase)
        .containsExactlyInAnyOrder(
            tuple("good", Work.Phase.WORKING), tuple("bad", Work.Phase.UNKNOWN));
    assertThat(journal().read("bad")).map(Work::phase).contains(Work.Phase.UNKNOWN);
  }

  @Test
  void theOldestComesFirst() {
    List<String> containers = List.of("d", "b", "e", "a", "c");
    for (String container : containers) {
      Instant since = Instant.EPOCH.plusSeconds(containers.indexOf(container));
      journal().write(work(Work.Phase.WORKING, container, since));
    }

    assertThat(journal().all()).extracting(Work::containerId).containsExactlyElementsOf(containers);
  }

  @Test
  void oneOfANewerVersionOrOfAnotherContainerIsUnknown() throws IOException {
    journal().write(work(Work.Phase.HELD));
    Path good = journal().folderOf("good").resolve("work.json");
    String text = Files.readString(good);
    Files.writeString(journal().folderOf("other").resolve("work.json"), text);
    Files.writeString(good, text.replace("\"format\" : 1", "\"format\" : 3"));

    assertThat(journal().all()).extracting(Work::phase).containsOnly(Work.Phase.UNKNOWN);
  }

  @Test
  void anAgentThatCannotReloadMemoryDoesNotTakeUpWhatIsOffloaded() throws IOException {
    Work work =
        work(Work.Phase.WORKING)
            .withOffloaded(
                List.of(new Offloaded(new ProcessId(7, 8), 1, Map.of(), "/stage/1")), "/stage");
    journal().write(work);
    assertThat(journal().folderOf("good").resolve("work.json"))
        .content()
        .contains("\"format\" : 2");
    assertThat(journal().read("good")).contains(work);

    journal().write(work.withOffloaded(List.of(), null));
    assertThat(journal().folderOf("good").resolve("work.json"))
        .content()
        .contains("\"format\" : 1");
  }
}
