package dev.stasis.agent.cuda;

import dev.stasis.agent.cuda.jna.JnaDriver;
import dev.stasis.agent.cuda.jna.WorkerShield;
import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The driver worker: loads the driver's libraries and makes its calls, so that the agent itself
 * never hangs in one. It exits when its input ends and the last call has returned.
 */
public final class DriverWorkerMain {

  /** The folder with the region journals. */
  static final String STATE_FOLDER = "STASIS_STATE_DIR";

  /** A node has at most 16 GPUs, with several ranks or jobs on each, and some calls may hang. */
  private static final int CALLS_AT_ONCE = 64;

  private DriverWorkerMain() {}

  public static void main(String[] arguments) throws IOException {
    // Before any output: a library that writes to standard output must not corrupt the answers.
    OutputStream answers = WorkerShield.keepOutputForAnswers();
    WorkerShield.leaveSession();
    ProcFs proc = new ProcFs();
    Path stateFolder = Path.of(System.getenv().getOrDefault(STATE_FOLDER, "/run/stasis"));
    DriverCalls calls =
        new DriverCalls(
            new JnaDriver(System.getenv()),
            new TargetGuard(proc, new FrozenCgroups(proc)),
            new JournalReader(proc),
            stateFolder);
    // Threads are kept for half a minute: one freeze makes its calls within that time.
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(0, CALLS_AT_ONCE, 30, TimeUnit.SECONDS, new SynchronousQueue<>());
    new WorkerLoop(calls::answer, executor, answers, System.err).run(System.in);
    executor.shutdown();
  }
}
