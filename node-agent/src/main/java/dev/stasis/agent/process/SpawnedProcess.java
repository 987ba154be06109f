package dev.stasis.agent.process;

import com.sun.jna.Native;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A child of this program that a {@link SpawnConnection} has started. */
final class SpawnedProcess extends Process {

  private static final int SIGNALLED = 128;

  private final int pid;
  private final OutputStream stdin;
  private final InputStream stdout;
  private final InputStream stderr;
  private final ProcessHandle handle;
  private final CompletableFuture<Integer> exit = new CompletableFuture<>();
  private boolean reaped;

  /** A child without streams. */
  SpawnedProcess(int pid) {
    this(
        pid,
        OutputStream.nullOutputStream(),
        InputStream.nullInputStream(),
        InputStream.nullInputStream());
  }

  SpawnedProcess(int pid, ChildStreams streams) {
    this(pid, streams.stdin(), streams.stdout(), streams.stderr());
  }

  private SpawnedProcess(int pid, OutputStream stdin, InputStream stdout, InputStream stderr) {
    this.pid = pid;
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    // It exists until it is reaped.
    this.handle = ProcessHandle.of(pid).orElseThrow();
    new DaemonThreads("child-" + pid).newThread(this::awaitEnd).start();
  }

  private void awaitEnd() {
    exit.complete(reap());
    try {
      stdin.close();
    } catch (IOException e) {
      // What was not read yet is lost with it.
      System.getLogger(SpawnedProcess.class.getName())
          .log(System.Logger.Level.TRACE, "input of process " + pid, e);
    }
  }

  private int reap() {
    LibC libc = LibC.INSTANCE;
    byte[] unused = new byte[LibC.SIGINFO_BYTES];
    int failed = libc.waitid(LibC.P_PID, pid, unused, LibC.WEXITED | LibC.WNOWAIT);
    while (failed != 0 && Native.getLastError() == LibC.EINTR) {
      failed = libc.waitid(LibC.P_PID, pid, unused, LibC.WEXITED | LibC.WNOWAIT);
    }
    // Under the lock, so that no signal reaches another process that gets its pid.
    int[] status = new int[1];
    synchronized (this) {
      libc.waitpid(pid, status, 0);
      reaped = true;
    }
    int signal = status[0] & 0x7f;
    return signal == 0 ? (status[0] >> 8) & 0xff : SIGNALLED + signal;
  }

  private synchronized void send(Signal signal) {
    if (!reaped) {
      LibC.INSTANCE.kill(pid, signal.number());
    }
  }

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public ProcessHandle toHandle() {
    return handle;
  }

  @Override
  public OutputStream getOutputStream() {
    return stdin;
  }

  @Override
  public InputStream getInputStream() {
    return stdout;
  }

  @Override
  public InputStream getErrorStream() {
    return stderr;
  }

  @Override
  public boolean isAlive() {
    return !exit.isDone();
  }

  @Override
  public int exitValue() {
    if (isAlive()) {
      throw new IllegalThreadStateException("process " + pid + " has not ended");
    }
    return exit.join();
  }

  @Override
  public int waitFor() throws InterruptedException {
    try {
      return exit.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("an exit code cannot be an exception", e);
    }
  }

  @Override
  public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
    try {
      exit.get(Math.max(0, timeout), unit);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("an exit code cannot be an exception", e);
    }
  }

  @Override
  public CompletableFuture<Process> onExit() {
    return exit.thenApply(code -> this);
  }

  @Override
  public void destroy() {
    send(Signal.TERM);
  }

  @Override
  public Process destroyForcibly() {
    send(Signal.KILL);
    return this;
  }

  @Override
  public boolean supportsNormalTermination() {
    return true;
  }

  @Override
  public String toString() {
    return "process " + pid + (isAlive() ? "" : ", ended with " + exit.join());
  }
}
