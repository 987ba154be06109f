package dev.stasis.agent.mover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Chunk;
import dev.stasis.artifact.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalReaderTest {

  private static final String BOOT = "8e8ad2ab-9a5c-4a3f-9b0c-5a3c1b0f1f11";
  private static final String HEAD =
      "stasis-regions 1 boot=" + BOOT + " pid=4242 start=99887 stage=/run/my stage/regions\n";
  private static final String THREE =
      """
      R 0 7f0000000000 20971520
      C 0 7f0000000000 8388608 0 1a2b3c4d
      C 1 7f0000800000 8388608 8388608 zero
      C 2 7f0001000000 4194304 16777216 0000000f %s
      """
          .formatted("ab".repeat(32));
  private static final ProcessId PROCESS = new ProcessId(4242, 99887);

  private final JournalReader reader = new JournalReader(BOOT);
  @TempDir Path folder;

  @Test
  void everyRecordIsTaken() throws IOException {
    RegionJournal journal = read(HEAD + THREE);

    assertThat(journal.process()).isEqualTo(PROCESS);
    assertThat(journal.bootId()).isEqualTo(BOOT);
    assertThat(journal.stage()).isEqualTo(Path.of("/run/my stage/regions"));
    assertThat(journal.regions()).containsExactly(new Region(0x7f0000000000L, 20971520));
    assertThat(journal.chunks().keySet()).containsExactly(0, 1, 2);
    Chunk last = List.copyOf(journal.chunks().values()).get(2);
    assertThat(last.address()).isEqualTo(0x7f0001000000L);
    assertThat(last.length()).isEqualTo(4194304);
    assertThat(last.offset()).isEqualTo(16777216);
    assertThat(last.crc32c()).isEqualTo(15);
    assertThat(last.sha256()).isEqualTo("ab".repeat(32));
    assertThat(List.copyOf(journal.chunks().values()).get(1).zero()).isTrue();
    assertThat(List.copyOf(journal.chunks().values()).get(0).sha256()).isNull();
  }

  @Test
  void aProcessIsWholeIfItsCopiedMemoryWasNotDropped() throws IOException {
    assertThat(read(HEAD + THREE).whole()).isTrue();
  }

  @Test
  void aDropMakesItNotWholeUntilEveryChunkIsFilled() throws IOException {
    assertThat(read(HEAD + THREE + "D 0 3\n").absent()).containsExactly(0, 1, 2);
    assertThat(read(HEAD + THREE + "D 0 3\nF 2\nF 0\n").absent()).containsExactly(1);
    assertThat(read(HEAD + THREE + "D 0 3\nF 2\nF 0\nF 1\n").whole()).isTrue();
  }

  @Test
  void aFillBeforeTheDropDoesNotCount() throws IOException {
    assertThat(read(HEAD + THREE + "F 1\nD 1 1\n").absent()).containsExactly(1);
  }

  @Test
  void aThreadWithForeignRegistersIsNotWhole() throws IOException {
    String injection = "I 4242 0 7fff1234abcd " + "0123456789abcdef".repeat(27) + "\n";

    assertThat(read(HEAD + THREE + injection).whole()).isFalse();
    assertThat(read(HEAD + THREE + injection + "E 4242\n").whole()).isTrue();
  }

  @Test
  void aSecondDropIsAsAbsentAsTheFirst() throws IOException {
    assertThat(read(HEAD + THREE + "D 1 1\nF 1\nD 1 1\n").absent()).containsExactly(1);
  }

  @Test
  void absentBytesAreThoseOfTheStageAlone() throws IOException {
    assertThat(read(HEAD + THREE + "D 1 2\n").absentBytes()).isEqualTo(8388608 + 4194304);
  }

  @Test
  void aTornFillDoesNotCount() throws IOException {
    assertThat(read(HEAD + THREE + "D 0 3\nF 0\nF 1\nF 2").absent()).containsExactly(2);
  }

  @Test
  void aTornDropWasNotBegun() throws IOException {
    assertThat(read(HEAD + THREE + "D 0 3").whole()).isTrue();
  }

  @Test
  void everyTornEndSaysWhatTheWholeLinesSay() throws IOException {
    String text = HEAD + THREE + "D 0 2\nF 0\nD 2 1\nF 1\n";
    for (int length = HEAD.length(); length < text.length(); length++) {
      String torn = text.substring(0, length);
      String whole = torn.substring(0, torn.lastIndexOf('\n') + 1);
      assertThat(read(torn).absent()).as(torn).isEqualTo(read(whole).absent());
    }
  }

  @Test
  void aJournalWithoutACompleteFirstLineHasDroppedNothing() throws IOException {
    for (String begun : List.of("", "stasis", HEAD.substring(0, HEAD.length() - 1))) {
      JournalReading reading = reader.read(write(begun));
      assertThat(reading).isInstanceOf(JournalReading.Begun.class);
      assertThat(reading.whole()).isTrue();
    }
  }

  @Test
  void aJournalOfAnotherBootIsLost() throws IOException {
    JournalReading reading = new JournalReader("another").read(write(HEAD + THREE));

    assertThat(reading).isInstanceOf(JournalReading.Lost.class);
    assertThat(reading.whole()).isFalse();
    assertThat(reading.describe()).contains(BOOT, "another");
  }

  @Test
  void aJournalThatIsGoneHoldsNothingBack() {
    JournalReading reading = reader.read(folder.resolve("none"));

    assertThat(reading).isInstanceOf(JournalReading.Removed.class);
    assertThat(reading.whole()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X 1\n",
        "\n",
        "D 0 3F 1\n",
        "D 0 4\n",
        "D 999999999 999999999\n",
        "D -1 1\n",
        "F 3\n",
        "F 0 \n",
        "F\n",
        "C 3 7f0000000000 8388608 0\n",
        "C 3 7F0000000000 8388608 0 zero\n",
        "R 0 xyz 1\n",
        "F 0\r\n",
        "F 99999999999999999999\n",
      })
  void aLineThatMakesNoSenseIsNeverPassedOver(String line) throws IOException {
    JournalReading reading = reader.read(write(HEAD + THREE + line + "F 0\nF 1\nF 2\n"));

    assertThat(reading).isInstanceOf(JournalReading.Unreadable.class);
    assertThat(reading.whole()).isFalse();
    assertThat(reading.describe()).contains("line 6: expected");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stasis-regions 2 boot=b pid=1 start=1 stage=/s\n",
        "stasis-regions 1 boot=b pid=0 start=1 stage=/s\n",
        "stasis-regions 1 boot=b pid=1 start=1 stage=relative\n",
        "stasis-regions 1 boot=b pid=1 start=1 stage=/s\0\n",
        "D 0 1\n",
      })
  void aFirstLineThatIsNotOursIsRefused(String head) throws IOException {
    assertThat(reader.read(write(head))).isInstanceOf(JournalReading.Unreadable.class);
  }

  @Test
  void aLineWithoutEndIsNotReadIntoMemory() throws IOException {
    JournalReading reading = reader.read(write(HEAD + "R" + " ".repeat(20_000)));

    assertThat(reading).isInstanceOf(JournalReading.Unreadable.class);
    assertThat(reading.describe()).contains("at most");
  }

  @Test
  void theJournalsOfAProcessAreFoundInEveryWorkFolder() throws IOException {
    place("one", PROCESS, HEAD + THREE);
    place("two", PROCESS, HEAD + THREE + "D 0 1\n");
    place("three", new ProcessId(4242, 99888), HEAD);
    Files.createDirectories(folder.resolve("work/four"));

    List<JournalReading> readings = reader.of(PROCESS, folder);

    assertThat(readings).extracting(JournalReading::whole).containsExactlyInAnyOrder(true, false);
    assertThat(readings.stream().filter(reading -> !reading.whole()).findFirst().orElseThrow())
        .extracting(JournalReading::describe)
        .isEqualTo("process 4242@99887: 1 of 3 chunks are still in /run/my stage/regions");
  }

  @Test
  void aJournalThatNamesAnotherProcessThanItsFileIsRefused() throws IOException {
    place("one", new ProcessId(1, 2), HEAD + THREE);

    assertThat(reader.of(new ProcessId(1, 2), folder))
        .singleElement()
        .isInstanceOf(JournalReading.Unreadable.class);
  }

  @Test
  void noStateFolderMeansThatNothingWasMoved() throws IOException {
    assertThat(reader.of(PROCESS, folder.resolve("none"))).isEmpty();
  }

  @Test
  void theBootIsThatOfThisMachine() throws IOException {
    assertThat(new JournalReader(new ProcFs()).read(write(HEAD)))
        .isInstanceOf(JournalReading.Lost.class);
  }

  private void place(String work, ProcessId process, String text) throws IOException {
    Path file = folder.resolve("work").resolve(work).resolve(RegionJournal.fileName(process));
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private RegionJournal read(String text) throws IOException {
    JournalReading reading = reader.read(write(text));
    assertThat(reading).as(text).isInstanceOf(JournalReading.Read.class);
    return ((JournalReading.Read) reading).journal();
  }

  private Path write(String text) throws IOException {
    return Files.writeString(folder.resolve("journal"), text);
  }
}
