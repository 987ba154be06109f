package dev.stasis.agent.container;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessTreeTest {

  private static final int FIRST = FakeProcesses.FIRST;

  @TempDir private Path folder;
  private FakeProcesses processes;

  @BeforeEach
  void noProcesses() throws IOException {
    processes = new FakeProcesses(folder);
  }

  @Test
  void aSecondListHasTheChildOfAProcessInAnotherCgroup() throws IOException {
    ProcessId root = processes.add(FIRST, 1, FakeProcesses.ID, "1", "/program");
    processes.inCgroup(root.pid());
    Container container = container();
    ProcessId moved = processes.add(FIRST + 1, root.pid(), "other", "2", "/program");
    ProcessTree tree = new ProcessTree(processes.proc());
    List<ProcessId> first = tree.list(container).living();
    assertThat(first).containsExactly(root, moved);

    ProcessId fresh = processes.add(FIRST + 2, moved.pid(), "other", "3", "/program");

    assertThat(tree.listAgain(container, first).living()).containsExactly(root, moved, fresh);
  }

  @Test
  void aSecondListIsCompleteIfTheCgroupsCannotBeRead() throws IOException {
    ProcessId root = processes.add(FIRST, 1, FakeProcesses.ID, "1", "/program");
    ProcessId child = processes.add(FIRST + 1, root.pid(), FakeProcesses.ID, "2", "/program");
    Container container = container();

    assertThat(new ProcessTree(processes.proc()).listAgain(container, List.of()).living())
        .containsExactly(root, child);
  }

  private Container container() {
    Resolution resolution = new ContainerResolver(processes.proc()).resolve(FakeProcesses.ID);
    assertThat(resolution).isInstanceOf(Resolution.Found.class);
    return ((Resolution.Found) resolution).container();
  }
}
