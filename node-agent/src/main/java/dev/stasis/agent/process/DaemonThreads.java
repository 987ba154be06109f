package dev.stasis.agent.process;

import java.util.concurrent.ThreadFactory;

/**
 * Creates daemon threads, which do not keep the program running.
 *
 * @param name the name of each thread
 */
public record DaemonThreads(String name) implements ThreadFactory {

  @Override
  public Thread newThread(Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
