package dev.stasis.local;

import dev.stasis.agent.log.ProgramLog;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;

/** Starts the single-machine mode, and stops it at the end. */
public final class StasisLocal {

  private static final int USAGE = 2;

  private final MachineSettings settings;
  private final Machine machine;
  private final OperatorProcess operator;
  private final AtomicBoolean closing = new AtomicBoolean();

  private StasisLocal(MachineSettings settings) {
    this.settings = settings;
    this.machine = new Machine(settings, Clock.systemUTC());
    this.operator = new OperatorProcess(settings.operator, settings.folder);
  }

  public static void main(String... arguments) {
    new ProgramLog(Level.INFO, Level.WARNING).apply();
    MachineSettings settings = new MachineSettings();
    CommandLine line =
        new CommandLine(settings)
            .registerConverter(Path.class, path -> Path.of(path).toAbsolutePath().normalize());
    int code = line.execute(arguments);
    if (code != 0 || line.isUsageHelpRequested() || line.isVersionHelpRequested()) {
      System.exit(code == 0 ? 0 : USAGE);
    }
    System.exit(new StasisLocal(settings).run());
  }

  private int run() {
    System.out.println(
        "stasis-local: this is not Kubernetes. Objects are kept in memory; no schema, admission"
            + " rule"
            + " or role is checked; pods run as runc containers of this machine.");
    System.out.println(
        "stasis-local: the GPU is "
            + (settings.simulated.isPresent() ? "SIMULATED." : "a real one."));
    Runtime.getRuntime().addShutdownHook(new Thread(this::close, "close"));
    try {
      Kubeconfig forPeople = new Kubeconfig(machine.start(), "");
      operator.start(machine.kubeconfig());
      forPeople.write(settings.folder.resolve("kubeconfig"));
      System.out.println("stasis-local: ready");
      if (settings.untilInputEnds) {
        endWithInput();
      }
      int code = operator.awaitEnd();
      if (!closing.get()) {
        System.err.println("stasis-local: the operator exited with code " + code);
      }
      return 1;
    } catch (IOException e) {
      System.err.println("stasis-local: " + e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  /** The process at the other end cannot end without closing it, even if it is killed. */
  private static void endWithInput() {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  // The input has no content.
                }
              } catch (IOException e) {
                // Treated like the end of the input.
              }
              System.exit(0);
            },
            "input");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * The operator is stopped first, so that it does not react to the end of the other components.
   */
  private void close() {
    closing.set(true);
    operator.close();
    machine.close();
  }
}
