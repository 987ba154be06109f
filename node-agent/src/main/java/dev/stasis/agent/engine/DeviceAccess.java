package dev.stasis.agent.engine;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.ChildStart;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Determines whether a container may open a device. Its /dev does not show that: the driver's
 * library creates the node of every GPU of the machine if it may (with a container's usual
 * capabilities it may), and the device cgroup then refuses the others. A helper therefore joins the
 * cgroup and tries.
 */
final class DeviceAccess {

  private static final System.Logger LOG = System.getLogger(DeviceAccess.class.getName());

  /** The helper opens one file and exits: milliseconds. */
  private static final long LIMIT_SECONDS = 10;

  /** A failure of the runtime itself, before it starts the program. */
  private static final int NOT_ENTERED = 125;

  private final Path runtime;

  /**
   * Tries with {@code stasis-runtime enter}.
   *
   * @param runtime the program
   */
  DeviceAccess(Path runtime) {
    this.runtime = runtime;
  }

  /** False only if the kernel refuses; if the test fails, the device counts as accessible. */
  boolean allows(Container container, Path device) {
    List<String> command = new ArrayList<>(List.of(runtime.toString(), "enter"));
    boolean any = false;
    for (Cgroup cgroup : container.cgroups()) {
      if (cgroup.isUnified() || cgroup.controls("devices")) {
        command.addAll(List.of("--cgroup", cgroup.folder().toString()));
        any = true;
      }
    }
    if (!any || !container.ownsCgroups()) {
      return true;
    }
    // Only the open matters; the program just has to exit by itself.
    command.addAll(
        List.of("--fd", "3=r:" + device, "--", runtime.toString(), "probe", "--dir", "/proc/none"));
    try {
      Process helper =
          new ChildStart().start(new ProcessBuilder(command).redirectErrorStream(true));
      try (InputStream output = helper.getInputStream()) {
        helper.getOutputStream().close();
        if (!helper.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          helper.destroyForcibly();
          return true;
        }
        String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
        return helper.exitValue() != NOT_ENTERED || !said.contains("Operation not permitted");
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "cannot try " + device + ": " + e.getMessage());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }
}
