package dev.stasis.agent.cli;

import java.util.concurrent.CountDownLatch;

/**
 * What Ctrl-C, SIGTERM and a lost terminal do to an operation: they ask it to stop, and the program
 * ends when it has been undone, never before.
 */
final class Interruption {

  private final Console console;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile int code;
  private volatile Runnable cancel = () -> {};
  private volatile boolean guarding;

  Interruption(Console console) {
    this.console = console;
  }

  /** To be called once, by the program. */
  void install() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::onShutdown, "interruption"));
  }

  /** From now on a signal calls {@code cancel} and waits. */
  void guard(Runnable whatToDo) {
    cancel = whatToDo;
    guarding = true;
  }

  /** The command is over and has told its result. */
  void ended(int exitCode) {
    code = exitCode;
    ended.countDown();
  }

  private void onShutdown() {
    if (!guarding || ended.getCount() == 0) {
      return;
    }
    console.err().println("\nstasis-node: stopping; waits until the workload is as it was");
    cancel.run();
    try {
      // Without a limit of its own: each step and each undo has one.
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    console.out().flush();
    console.err().flush();
    // A signal's own exit code would hide what became of the workload.
    Runtime.getRuntime().halt(code);
  }
}
