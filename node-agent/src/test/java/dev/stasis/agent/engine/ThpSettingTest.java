package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The machine's huge page setting is put back, whoever dies; on a file that stands for the
 * kernel's, which shows all values and takes one.
 */
@Tag("alone")
class ThpSettingTest {

  private final ProcFs proc = new ProcFs();

  @TempDir private Path folder;

  @BeforeEach
  void asTheKernelShowsIt() throws IOException {
    show("always [madvise] never");
  }

  private Path file() {
    return folder.resolve("enabled");
  }

  private void show(String value) throws IOException {
    Files.writeString(file(), value + "\n");
  }

  private String value() throws IOException {
    return Files.readString(file()).trim();
  }

  private ThpSetting setting() {
    return new ThpSetting(file(), folder, new HostLocks(folder, System::nanoTime), proc);
  }

  @Test
  void theLastUserPutsItBack() throws Exception {
    ThpSetting setting = setting();
    ThpSetting.Raised first = setting.raise();
    assertThat(value()).isEqualTo("always");
    show("[always] madvise never");
    ThpSetting.Raised second = setting.raise();
    first.close();
    assertThat(value()).isEqualTo("always");
    show("[always] madvise never");
    second.close();
    assertThat(value()).isEqualTo("madvise");
    assertThat(folder.resolve("thp.json")).doesNotExist();
  }

  @Test
  void aValueThatSomebodyElseSetMeanwhileStays() throws Exception {
    ThpSetting.Raised raised = setting().raise();
    show("always madvise [never]");
    raised.close();
    assertThat(value()).isEqualTo("always madvise [never]");
  }

  @Test
  void theNextAgentPutsItBackForOneThatDied() throws Exception {
    Process died = new ProcessBuilder("sleep", "100").start();
    long start = proc.id((int) died.pid()).orElseThrow().startTime();
    Files.writeString(
        folder.resolve("thp.json"),
        """
        {"bootId":"%s","oldValue":"madvise","users":[{"pid":%d,"startTime":%d}]}\
        """
            .formatted(proc.bootId(), died.pid(), start));
    show("[always] madvise never");
    setting().putBackIfAbandoned();
    assertThat(value()).isEqualTo("[always] madvise never");
    died.destroyForcibly().waitFor();
    setting().putBackIfAbandoned();
    assertThat(value()).isEqualTo("madvise");
  }

  @Test
  void theWatchdogPutsItBackWhenTheAgentIsKilled() throws Exception {
    Process agent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ThpChild.class.getName(),
                file().toString(),
                folder.toString())
            .redirectErrorStream(true)
            .start();
    // The kernel's file would show it in brackets.
    assertThat(agent.inputReader().lines().filter("raised"::equals).findFirst())
        .as("what an agent says, beside what its JVM may say of its options")
        .isPresent();
    show("[always] madvise never");
    agent.destroyForcibly();
    assertThat(agent.waitFor(60, TimeUnit.SECONDS)).isTrue();
    Awaitility.await("the watchdog")
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> value().equals("madvise"));
  }
}
