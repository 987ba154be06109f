package dev.stasis.agent.cli;

import java.time.Clock;
import java.util.concurrent.CountDownLatch;

/**
 * The environment of every command.
 *
 * @param console input and output
 * @param clock for times shown to users
 * @param interruption the handling of signals
 */
record Environment(Console console, Clock clock, Interruption interruption) {

  /**
   * Handles Ctrl-C, SIGTERM and a lost terminal during an operation: the operation is canceled, and
   * the program exits after the undo, never before.
   */
  static final class Interruption {

    private final Console console;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile int code;
    private volatile Runnable cancel = () -> {};
    private volatile boolean guarding;

    Interruption(Console console) {
      this.console = console;
    }

    /** Called once, by the program. */
    void install() {
      Runtime.getRuntime().addShutdownHook(new Thread(this::onShutdown, "interruption"));
    }

    /** From now on a signal calls {@code cancel} and waits. */
    void guard(Runnable action) {
      cancel = action;
      guarding = true;
    }

    /** The command has ended and reported its result. */
    void ended(int exitCode) {
      code = exitCode;
      ended.countDown();
    }

    private void onShutdown() {
      if (!guarding || ended.getCount() == 0) {
        return;
      }
      console.err().println("\nstasis-node: stopping; waiting for the rollback");
      cancel.run();
      try {
        // No limit here: each step and each undo has one.
        ended.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      console.out().flush();
      console.err().flush();
      // The exit code of a signal would hide the state of the workload.
      Runtime.getRuntime().halt(code);
    }
  }
}
