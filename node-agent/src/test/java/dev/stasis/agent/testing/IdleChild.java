package dev.stasis.agent.testing;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;
import java.time.Duration;
import org.awaitility.Awaitility;

/** The helper of a counting workload with {@link #OPTION}: it does not use the GPU. */
public final class IdleChild {

  /** The option that gives a workload one. */
  public static final String OPTION = "--idle-child";

  /** A signal arrives in microseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final ProcFs proc = new ProcFs();
  private final int parent;

  /**
   * @param parent pid of the workload's first process
   */
  public IdleChild(int parent) {
    this.parent = parent;
  }

  /** Stops it, as the workload itself may do. */
  public void stop() {
    signal("-STOP");
    await('T');
  }

  /** Continues it. */
  public void goOn() {
    signal("-CONT");
    await('S');
  }

  /** Returns its pid on the host. */
  public int pid() {
    return stat().pid();
  }

  /** Returns the letter of its state. */
  public char state() {
    return stat().state();
  }

  private void signal(String which) {
    new Sh().must("kill", which, Integer.toString(pid()));
  }

  private void await(char state) {
    Awaitility.await("the idle child").atMost(LIMIT).until(() -> state() == state);
  }

  private ProcessStat stat() {
    return proc.children(parent).stream()
        .filter(stat -> stat.comm().equals("idle-child"))
        .findFirst()
        .orElseThrow();
  }
}
