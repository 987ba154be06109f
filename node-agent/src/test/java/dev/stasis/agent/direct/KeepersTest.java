package dev.stasis.agent.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.lang.Thread.State;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a socket as of a running keeper, and programs that only start. */
class KeepersTest {

  private static final String CONTAINER = "0123456789abcdef0123";

  /** A shell starts in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder;

  /** Two keepers of a container would both hold its memory. */
  @Test
  void anInterruptedThreadStartsNoSecondKeeper() throws Exception {
    Path none = folder.resolve("none");
    Keepers keepers = new Keepers(KeeperSettings.of(none), none, folder, new ProcFs());
    try (ServerSocketChannel running = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      running.bind(UnixDomainSocketAddress.of(folder.resolve("k-" + CONTAINER)));

      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> keepers.open(CONTAINER)).isInstanceOf(InterruptedException.class);

      keepers.open(CONTAINER).close();
    }
  }

  @Test
  void theKeeperThatAnInterruptedThreadStartedIsWaitedFor() throws Exception {
    try (Starting starting = new Starting()) {
      Thread first = starting.thread(keepers -> keepers.open(CONTAINER));
      Awaitility.await().atMost(LIMIT).until(() -> !starting.pids().isEmpty());
      first.interrupt();
      first.join(LIMIT.toMillis());

      Thread second = starting.thread(keepers -> keepers.open(CONTAINER).close());
      starting.awaitWaiting(second);
      try (ServerSocketChannel listening = starting.listen()) {
        assertThat(listening.accept()).isNotNull();
        second.join(LIMIT.toMillis());
      }

      assertThat(starting.pids()).hasSize(1);
    }
  }

  /** It would take device memory until the next operation. */
  @Test
  void aKeeperThatDoesNotListenYetIsNotForgotten() throws Exception {
    try (Starting starting = new Starting()) {
      Thread first = starting.thread(keepers -> keepers.open(CONTAINER));
      Awaitility.await().atMost(LIMIT).until(() -> !starting.pids().isEmpty());
      first.interrupt();
      first.join(LIMIT.toMillis());

      Thread second = starting.thread(keepers -> keepers.rest(CONTAINER));
      starting.awaitWaiting(second);
      assertThat(second.isAlive()).isTrue();
      second.interrupt();
      second.join(LIMIT.toMillis());
    }
  }

  /** A keeper whose socket another one takes is never found again, with its context on the GPU. */
  @Test
  void aKeeperThatDoesNotListenInTimeEndsBeforeAnotherOneStarts() throws Exception {
    try (Starting starting = new Starting(Duration.ofSeconds(1))) {
      starting.thread(keepers -> keepers.open(CONTAINER)).join(LIMIT.toMillis());
      Awaitility.await().atMost(LIMIT).until(() -> starting.pids().size() == 1);

      starting.thread(keepers -> keepers.open(CONTAINER)).join(LIMIT.toMillis());
      Awaitility.await().atMost(LIMIT).until(() -> starting.pids().size() == 2);

      assertThat(ProcessHandle.of(Long.parseLong(starting.pids().get(0)))).isEmpty();
    }
  }

  /** Its memory would be dropped instead of given back, as that of a program that is gone. */
  @Test
  void aProcessWithMoreMappingsThanAreReadStillHasItsLibrary() throws Exception {
    ProcessId process = new ProcessId(1, 1);
    Path maps = Files.createDirectory(folder.resolve("1")).resolve("maps");
    String one = "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n";
    Path none = folder.resolve("none");
    Keepers keepers = new Keepers(KeeperSettings.of(none), none, folder, new ProcFs(folder));

    Files.writeString(maps, one);
    assertThat(keepers.active(process)).isFalse();

    Files.writeString(maps, one.repeat(100_001) + one.strip() + " /memfd:stasis-gate\n");
    assertThat(keepers.active(process)).isTrue();
  }

  /** It would be waited for, even while a workload is frozen. */
  @Test
  void aProcessOfAContainerIsNotTakenForAKeeper() throws Exception {
    Path none = folder.resolve("none");
    String socket = folder.resolve("k-" + CONTAINER).toString();
    ProcFs proc = new ProcFs();
    ProcessBuilder contained =
        new ProcessBuilder(
            "unshare", "--pid", "--fork", "sh", "-c", "exec sh -c 'read unused' serve $SOCKET");
    contained.environment().put("SOCKET", socket);
    Process process = contained.start();
    try {
      Awaitility.await()
          .atMost(LIMIT)
          .until(
              () ->
                  proc.processes().stream()
                      .anyMatch(stat -> proc.command(stat.id().pid()).contains(socket)));

      Duration atMost = LIMIT.dividedBy(2);
      assertTimeoutPreemptively(
          atMost, () -> new Keepers(KeeperSettings.of(none), none, folder, proc).rest(CONTAINER));
    } finally {
      process.getOutputStream().close();
      process.waitFor();
    }
  }

  /** Keepers that have been started and do not listen until the test does that. */
  private final class Starting implements AutoCloseable {

    private interface Action {
      void run(Keepers keepers) throws Exception;
    }

    private final Path started = folder.resolve("started");
    private final Keepers keepers;

    Starting() throws Exception {
      this(LIMIT);
    }

    Starting(Duration startLimit) throws Exception {
      Path never = folder.resolve("never");
      new ProcessBuilder("mkfifo", never.toString()).start().waitFor();
      Path program = script("program", "echo $$ >>%s; read unused <%s".formatted(started, never));
      Path runtime =
          script("runtime", "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"");
      keepers = new Keepers(KeeperSettings.of(program), runtime, folder, new ProcFs(), startLimit);
    }

    private Path script(String name, String text) throws IOException {
      Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
      return file;
    }

    Thread thread(Action action) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  action.run(keepers);
                } catch (Exception e) {
                  Thread.currentThread().interrupt();
                }
              });
      thread.start();
      return thread;
    }

    /** Until it waits for a program to listen, or needs none. */
    void awaitWaiting(Thread thread) {
      Awaitility.await()
          .atMost(LIMIT)
          .until(() -> Set.of(State.TIMED_WAITING, State.TERMINATED).contains(thread.getState()));
    }

    ServerSocketChannel listen() throws IOException {
      return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
          .bind(UnixDomainSocketAddress.of(folder.resolve("k-" + CONTAINER)));
    }

    List<String> pids() throws IOException {
      return Files.exists(started) ? Files.readAllLines(started) : List.of();
    }

    @Override
    public void close() throws IOException {
      pids()
          .forEach(
              pid ->
                  ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly));
    }
  }
}
