package dev.stasis.agent.container;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpusetReaderTest {

  @TempDir Path folder;

  @Test
  void aCpusetHierarchyDefinesTheProcessors() throws IOException {
    write("online", "0-7");
    write("cpuset/pod/cpuset.effective_cpus", "2-3");

    assertThat(read(new Cgroup(List.of("cpuset"), in("cpuset"), in("cpuset/pod"))))
        .isEqualTo("2-3");
  }

  @Test
  void aCgroupWithoutTheControllerInheritsFromItsParent() throws IOException {
    write("online", "0-7");
    write("unified/cpuset.cpus.effective", "0-5");
    write("unified/pod/container/cgroup.procs", "");

    assertThat(read(new Cgroup(List.of(), in("unified"), in("unified/pod/container"))))
        .isEqualTo("0-5");
  }

  @Test
  void withoutACpusetAllProcessorsOfTheMachineAreUsed() throws IOException {
    write("online", "0-7");

    assertThat(read(new Cgroup(List.of("memory"), in("memory"), in("memory/pod"))))
        .isEqualTo("0-7");
  }

  @Test
  void unknownProcessorsAreReportedAsNone() {
    assertThat(read(new Cgroup(List.of(), in("unified"), in("unified")))).isEmpty();
  }

  private Path in(String name) {
    return folder.resolve(name);
  }

  private void write(String name, String text) throws IOException {
    Files.createDirectories(in(name).getParent());
    Files.writeString(in(name), text + "\n");
  }

  private String read(Cgroup cgroup) {
    ProcessId nobody = new ProcessId(1, 0);
    return new CpusetReader(in("online"))
        .read(
            new Container(
                "ff",
                nobody,
                nobody,
                List.of(cgroup),
                true,
                List.of(),
                Map.of(),
                List.of(),
                Optional.empty(),
                0,
                0))
        .toString();
  }
}
