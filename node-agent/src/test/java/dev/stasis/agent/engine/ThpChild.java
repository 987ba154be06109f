package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** An agent that raises the huge page setting, says so, and waits to be killed. */
final class ThpChild {

  private ThpChild() {}

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[1]);
    ThpSetting setting =
        new ThpSetting(
            Path.of(args[0]), folder, new HostLocks(folder, System::nanoTime), new ProcFs());
    try (ThpSetting.Raised raised = setting.raise()) {
      System.out.println("raised");
      while (true) {
        LockSupport.park();
      }
    }
  }
}
