package dev.stasis.store.s3;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A real S3 server on this machine, with the bucket "bucket". */
final class S3Server implements AutoCloseable {
  static final S3Settings.Credentials KEY =
      new S3Settings.StaticKey("stasisaccess", "stasissecret", null);

  private final Process process;
  private final int port;
  private final String scheme;

  private S3Server(Process process, int port, String scheme) {
    this.process = process;
    this.port = port;
    this.scheme = scheme;
  }

  /**
   * Returns the path of a program: from the environment, PATH or .tools/bin; null if there is none.
   */
  static @Nullable Path find(String name, String variable) {
    String named = System.getenv(variable);
    Stream<Path> places =
        Stream.concat(
            named == null ? Stream.of() : Stream.of(Path.of(named)),
            Stream.concat(
                Stream.of(System.getenv("PATH").split(":", -1)).map(f -> Path.of(f, name)),
                Stream.of(Path.of("../.tools/bin", name))));
    return places.filter(Files::isExecutable).findFirst().orElse(null);
  }

  static S3Server rclone(Path program, Path data, @Nullable Path certificate, @Nullable Path key)
      throws IOException {
    Files.createDirectories(data.resolve("bucket"));
    int port = freePort();
    List<String> command =
        new ArrayList<>(
            List.of(
                program.toString(),
                "serve",
                "s3",
                "--addr",
                "127.0.0.1:" + port,
                "--auth-key",
                "stasisaccess,stasissecret",
                "--config",
                "/dev/null"));
    if (certificate != null && key != null) {
      command.addAll(List.of("--cert", certificate.toString(), "--key", key.toString()));
    }
    command.add(data.toString());
    return start(command, port, data, certificate == null ? "http" : "https");
  }

  static S3Server minio(Path program, Path data) throws IOException {
    int port = freePort();
    return start(
        List.of(
            program.toString(),
            "server",
            "--address",
            "127.0.0.1:" + port,
            "--console-address",
            "127.0.0.1:" + freePort(),
            data.toString()),
        port,
        data,
        "http");
  }

  private static S3Server start(List<String> command, int port, Path data, String scheme)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .putAll(Map.of("MINIO_ROOT_USER", "stasisaccess", "MINIO_ROOT_PASSWORD", "stasissecret"));
    builder.redirectOutput(data.resolveSibling(data.getFileName() + ".log").toFile());
    S3Server server = new S3Server(builder.start(), port, scheme);
    // One second is usual; MinIO prepares its disks first.
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(server::accepts);
    return server;
  }

  private boolean accepts() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  S3Settings settings(String prefix, S3Settings.Credentials credentials, @Nullable String caPem) {
    return settings("bucket", prefix, credentials, caPem);
  }

  S3Settings settings(
      String bucket, String prefix, S3Settings.Credentials credentials, @Nullable String caPem) {
    return new S3Settings(
        URI.create(scheme + "://127.0.0.1:" + port),
        "us-east-1",
        true,
        bucket,
        prefix,
        credentials,
        caPem,
        new S3Settings.BucketDefault());
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
