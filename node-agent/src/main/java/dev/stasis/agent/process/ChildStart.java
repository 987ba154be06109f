package dev.stasis.agent.process;

import java.io.IOException;

/**
 * Starts a program although somebody sends signals to our whole process group, as an impatient
 * Ctrl-C does: Java starts each program by a helper, which such a signal ends before it has become
 * the program. Nothing was done by then, so it is done again.
 */
public final class ChildStart {

  /** A person does not press keys that often while one program starts. */
  private static final int TRIES = 20;

  /** Starts it. */
  public Process start(ProcessBuilder program) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        return program.start();
      } catch (IOException e) {
        if (tries == TRIES || !String.valueOf(e.getMessage()).contains("exec spawn helper")) {
          throw e;
        }
      }
    }
  }
}
