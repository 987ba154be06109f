package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How helpers of an operation are ended. */
class ChildrenTest {

  /** Each of many movers that wait for a disk would be waited for in turn. */
  @Test
  void allHelpersAreAskedToEndBeforeOneIsWaitedFor() throws Exception {
    try (EngineLab lab = new EngineLab(1, 64)) {
      areAskedBeforeOneIsWaitedFor(lab);
    }
  }

  private static void areAskedBeforeOneIsWaitedFor(EngineLab lab) throws Exception {
    Path asked = lab.folder().resolve("asked");
    // Ends by itself once the other one was asked to end, and not if it was killed.
    Process first = shell("trap '' TERM", "[ -e '%s' ] && exit 3", asked);
    Process second = shell("trap 'touch \"%s\"; exit 4' TERM", ":", asked);
    FrozenWork work = new FrozenWork(lab.parts(), work(lab, first, second), StepListener.NONE);

    new Children(work).end();

    assertThat(first.waitFor()).isEqualTo(3);
    assertThat(second.waitFor()).isEqualTo(4);
    assertThat(work.work().children()).isEmpty();
  }

  /** Returns once it has set its trap. */
  private static Process shell(String trap, String each, Path file) throws Exception {
    String script = "%s; echo ready; while :; do %s; sleep 0.1; done".formatted(trap, each);
    Process shell = new ProcessBuilder("sh", "-c", script.replace("%s", file.toString())).start();
    assertThat(shell.inputReader().readLine()).isEqualTo("ready");
    return shell;
  }

  private static Work work(EngineLab lab, Process... children) {
    Work work =
        new Work(
            lab.engine().bootId(),
            "operation",
            "test",
            Work.Kind.FREEZE,
            After.RESUME,
            false,
            Work.Phase.WORKING,
            Instant.EPOCH,
            "helpers",
            new ProcessId(Integer.MAX_VALUE, 0),
            null,
            null);
    ProcFs proc = new ProcFs();
    return work.withChildren(
        List.of(children).stream().map(child -> proc.id((int) child.pid()).orElseThrow()).toList());
  }
}
