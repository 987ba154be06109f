package dev.stasis.agent.engine;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Whether a container may open a device. Its /dev does not tell: the driver's library makes the
 * node of every GPU of the machine where it has the right to (a container's usual capabilities hold
 * it), and the device cgroup then refuses the others. So a helper joins the cgroup and tries.
 */
final class DeviceAccess {

  private static final System.Logger LOG = System.getLogger(DeviceAccess.class.getName());

  /** The helper opens one file and ends: milliseconds. */
  private static final long LIMIT_SECONDS = 10;

  /** The runtime's own failure, before its program runs. */
  private static final int NOT_ENTERED = 125;

  private final Path runtime;

  /**
   * Tries by {@code stasis-runtime enter}.
   *
   * @param runtime the program
   */
  DeviceAccess(Path runtime) {
    this.runtime = runtime;
  }

  /** False only where the kernel says so; whoever cannot be asked has what its /dev shows. */
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
    // The open is what is wanted; the program behind it only has to end by itself.
    command.addAll(
        List.of("--fd", "3=r:" + device, "--", runtime.toString(), "probe", "--dir", "/proc/none"));
    try {
      Process helper = new ProcessBuilder(command).redirectErrorStream(true).start();
      helper.getOutputStream().close();
      if (!helper.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        helper.destroyForcibly();
        return true;
      }
      String said = new String(helper.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return helper.exitValue() != NOT_ENTERED || !said.contains("Operation not permitted");
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "cannot try " + device + ": " + e.getMessage());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }
}
