package dev.stasis.agent.cuda.jna;

import dev.stasis.agent.process.LibC;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Protects the worker's output from what libraries print, and the worker from signals of a
 * terminal.
 */
public final class WorkerShield {

  private WorkerShield() {}

  /**
   * Returns the current standard output, and redirects descriptor 1 to standard error for libraries
   * that print.
   */
  public static OutputStream keepOutputForAnswers() throws IOException {
    OutputStream answers = new FileOutputStream("/proc/self/fd/1", true);
    try {
      LibC.INSTANCE.dup2(2, 1);
    } catch (LinkageError e) {
      // Without JNA no library is loaded, so there is nothing to protect.
      System.err.println("JNA cannot be loaded: " + e.getMessage());
    }
    return answers;
  }

  /** Ctrl-C on the agent's terminal must not end the worker during a call. */
  public static void leaveSession() {
    try {
      LibC.INSTANCE.setsid();
    } catch (LinkageError e) {
      System.err.println("cannot leave the agent's session: " + e.getMessage());
    }
  }
}
