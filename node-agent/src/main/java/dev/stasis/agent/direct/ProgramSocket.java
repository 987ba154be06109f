package dev.stasis.agent.direct;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.HelperCgroups;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A socket of {@code stasis-keeper}, which runs outside the agent's container and outlives it.
 *
 * @param startLimit how long a started program may take until it listens
 */
record ProgramSocket(Path path, Duration startLimit) {

  /**
   * cuInit takes 2.7 s on eight GPUs, a pinned GiB half a second; this allows for a busy machine.
   */
  static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** There is no event when it listens; an attempt costs microseconds. */
  private static final long TRY_EVERY_NANOS = 5_000_000;

  /** Connects; empty if the program has ended, or does not listen yet. */
  Optional<SocketChannel> connect() throws InterruptedException {
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    try {
      return Optional.of(SocketChannel.open(UnixDomainSocketAddress.of(path)));
    } catch (IOException e) {
      if (Thread.interrupted()) {
        // An interrupted thread cannot connect. The program may run, and must not be started twice.
        throw new InterruptedException("connecting to " + path);
      }
      return Optional.empty();
    }
  }

  /**
   * Starts the program that listens there.
   *
   * @param runtime the program {@code stasis-runtime}, which starts it
   * @param log receives its standard error
   */
  Process start(
      KeeperSettings settings, Path runtime, ProcessBuilder.Redirect log, String... arguments)
      throws IOException {
    List<String> command = new HelperCgroups().command(runtime, settings.program().toString());
    command.addAll(List.of(arguments));
    ProcessBuilder program =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(log);
    program.environment().putAll(settings.environment());
    return new ChildStart().start(program);
  }

  /** Waits until a started program listens; empty if it ended, or took too long. */
  Optional<SocketChannel> await(ProcessHandle program) throws InterruptedException {
    long until = System.nanoTime() + startLimit.toNanos();
    while (program.isAlive() && System.nanoTime() < until) {
      Optional<SocketChannel> channel = connect();
      if (channel.isPresent()) {
        return channel;
      }
      LockSupport.parkNanos(TRY_EVERY_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for " + path);
      }
    }
    return Optional.empty();
  }
}
