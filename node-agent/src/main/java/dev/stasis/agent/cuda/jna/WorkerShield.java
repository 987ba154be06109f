package dev.stasis.agent.cuda.jna;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Shields the worker from what libraries print and from the signals of a terminal. */
public final class WorkerShield {

  interface Libc extends Library {
    int setsid();

    int dup2(int from, int to);
  }

  private WorkerShield() {}

  /**
   * Gives the standard output as it is now, and turns descriptor 1 into standard error for whatever
   * library prints.
   */
  public static OutputStream keepOutputForAnswers() throws IOException {
    OutputStream answers = new FileOutputStream("/proc/self/fd/1", true);
    try {
      Native.load("c", Libc.class).dup2(2, 1);
    } catch (LinkageError e) {
      // Without JNA no library is loaded either: there is nothing to guard against.
      System.err.println("JNA cannot be loaded: " + e.getMessage());
    }
    return answers;
  }

  /** Control-C on the agent's terminal must not end the worker inside a call. */
  public static void leaveSession() {
    try {
      Native.load("c", Libc.class).setsid();
    } catch (LinkageError e) {
      System.err.println("still in the agent's session: " + e.getMessage());
    }
  }
}
