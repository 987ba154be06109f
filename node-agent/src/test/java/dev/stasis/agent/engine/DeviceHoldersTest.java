package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceHoldersTest {

  private static final String LIBRARY =
      "7f0000000000-7f0000001000 r-xp 00000000 fe:00 12 /usr/lib/libcuda.so.580.159.04";
  private static final String LIBRARY_ELSEWHERE = LIBRARY.replace("7f00", "7e00");
  private static final String MAPPED = "200800000-204000000 rw-s 00000000 00:06 142 /dev/nvidiactl";

  @TempDir private Path root;
  private final List<ProcessStat> members = new ArrayList<>();

  @BeforeEach
  void theCudaProcess() throws IOException {
    process(10, 1, LIBRARY);
  }

  @Test
  void aForkedChildIsNoLiveHolder() throws IOException {
    process(11, 10, LIBRARY, MAPPED);
    open(11, "/dev/nvidia0");
    process(12, 11, LIBRARY, MAPPED);
    assertThat(holders().live(members)).isEmpty();
    assertThat(holders().any(members)).isTrue();
  }

  @Test
  void aChildWithAProgramOfItsOwnIsAlive() throws IOException {
    process(11, 10, LIBRARY_ELSEWHERE, MAPPED);
    assertThat(holders().live(members)).get().asString().contains("a mapping of /dev/nvidiactl");
  }

  @Test
  void aDescriptorWithoutAMappingBelongsToALiveHolder() throws IOException {
    process(11, 10, LIBRARY);
    open(11, "/dev/nvidiactl");
    assertThat(holders().live(members))
        .get()
        .asString()
        .contains("/dev/nvidiactl as descriptor 3 of process 11@1 (some)");
  }

  @Test
  void aHolderWithoutACudaAncestorIsAlive() throws IOException {
    process(11, 1, LIBRARY, MAPPED);
    assertThat(holders().live(members)).isPresent();
  }

  @Test
  void anEndingProcessIsNoLiveHolder() throws IOException {
    process(11, 10);
    open(11, "/dev/nvidiactl");
    assertThat(holders().live(members)).isEmpty();
  }

  @Test
  void aCudaProcessThatHasNotLetGoIsAlive() throws IOException {
    open(10, "/dev/nvidia-uvm");
    assertThat(holders().live(members)).isPresent();
  }

  @Test
  void withoutDevicesThereIsNothing() throws IOException {
    process(11, 10, LIBRARY);
    open(11, "/dev/null");
    assertThat(holders().live(members)).isEmpty();
    assertThat(holders().any(members)).isFalse();
  }

  private DeviceHolders holders() {
    return new DeviceHolders(new ProcFs(root), List.of(new ProcessId(10, 1)));
  }

  private void process(int pid, int parent, String... maps) throws IOException {
    Path folder = Files.createDirectories(root.resolve(Integer.toString(pid)));
    Files.createDirectories(folder.resolve("fd"));
    Files.createDirectories(folder.resolve("fdinfo"));
    Files.write(folder.resolve("maps"), List.of(maps));
    members.add(new ProcessStat(pid, "some", 'S', parent, pid, 0, 0, 0, 1, 1, 0, 0));
  }

  private void open(int pid, String target) throws IOException {
    Path folder = root.resolve(Integer.toString(pid));
    Files.createSymbolicLink(folder.resolve("fd/3"), Path.of(target));
    Files.write(folder.resolve("fdinfo/3"), List.of("pos:\t0", "flags:\t02", "mnt_id:\t20"));
  }
}
