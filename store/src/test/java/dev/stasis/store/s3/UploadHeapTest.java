package dev.stasis.store.s3;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.stasis.artifact.Progress;
import dev.stasis.store.ArtifactId;
import dev.stasis.store.BlobStore;
import dev.stasis.store.Compression;
import dev.stasis.store.FolderBlobs;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Reference;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that an upload takes, in a JVM with the options of the agent's image. */
class UploadHeapTest {
  /** What an agent holds besides: its classes, Kubernetes' objects, and a download. */
  private static final int LIVE_BYTES = (40 + 64) << 20;

  /** As many as an agent has. */
  private static final int THREADS = 8;

  private static final int PARTS = 8;
  private static final int MIB = 112;

  /** More than the heap. */
  private static final int LARGE_MIB = 320;

  /** Java 25 had 309 and 311 MiB, and 347 with the options of the image before 2026-11-28. */
  private static final int MOST_RESIDENT_MIB = 330;

  private static final boolean IMAGES_JAVA = Runtime.version().feature() >= 25;

  private static final ArtifactId ID = new ArtifactId("ns", "first");
  private static final StoreKeys KEYS = StoreKeys.of("a", Map.of("a", new byte[32]));

  @Test
  void anUploadToASlowServerFitsIntoTheHeapOfTheAgentsImage(@TempDir Path folder) throws Exception {
    Path data = Files.createDirectory(folder.resolve("data"));
    write(data.resolve("pages"), MIB);
    Path others = Files.createDirectory(folder.resolve("others"));
    Path log = folder.resolve("log");
    CountDownLatch arrived = new CountDownLatch(PARTS);
    CountDownLatch ended = new CountDownLatch(1);
    ExecutorService handlers = Executors.newCachedThreadPool();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(handlers);
    server.createContext("/", exchange -> answer(exchange, arrived, ended));
    server.start();
    Process upload = start(log, "http://127.0.0.1:" + server.getAddress().getPort(), data, others);
    try {
      var unused = upload.onExit().thenRun(() -> release(arrived));
      // 120 s: two seconds are usual.
      assertThat(arrived.await(120, TimeUnit.SECONDS)).as("parts at the server").isTrue();
      assertThat(upload.isAlive()).as("the upload: " + Files.readString(log)).isTrue();
    } finally {
      upload.destroyForcibly().waitFor();
      ended.countDown();
      server.stop(0);
      handlers.shutdownNow();
    }
  }

  @Tag("long")
  @Tag("jvm")
  @Test
  void anArtifactLargerThanTheHeapIsStoredAndVerified(@TempDir Path folder) throws Exception {
    Path rclone = S3Server.find("rclone", "STASIS_RCLONE");
    Assumptions.assumeTrue(rclone != null, "no rclone on PATH or in .tools/bin: run bin/setup");
    Path data = Files.createDirectory(folder.resolve("data"));
    write(data.resolve("pages"), LARGE_MIB);
    Path log = folder.resolve("log");
    try (S3Server server =
        S3Server.rclone(Objects.requireNonNull(rclone), folder.resolve("server"), null, null)) {
      S3Settings settings = server.settings("", S3Server.KEY, null);
      Process upload = start(log, String.valueOf(settings.endpoint()), data);
      try {
        // 240 s: ten seconds are usual on two quiet processors.
        assertThat(upload.waitFor(240, TimeUnit.SECONDS)).as("ended").isTrue();
        String output = Files.readString(log);
        assertThat(upload.exitValue()).as(output).isZero();
        if (IMAGES_JAVA) {
          // Libraries write warnings before it.
          String last = output.substring(output.stripTrailing().lastIndexOf('\n') + 1);
          assertThat(Integer.parseInt(last.strip()))
              .as("MiB resident at most")
              .isLessThan(MOST_RESIDENT_MIB);
        }
      } finally {
        upload.destroyForcibly().waitFor();
      }
      try (RemoteArtifacts artifacts = artifacts(S3Blobs.open(settings))) {
        assertThat(artifacts.inspect(ID).storedBytes())
            .isBetween((long) LARGE_MIB * 3 / 4 << 20, (long) LARGE_MIB * 7 / 8 << 20);
      }
    }
  }

  /** Stores a folder in a bucket, and small blobs in another folder if there is one. */
  public static void main(String[] args) throws IOException {
    byte[] live = new byte[LIVE_BYTES];
    BlobStore bucket =
        S3Blobs.open(
            new S3Settings(
                URI.create(args[0]),
                "us-east-1",
                true,
                "bucket",
                "",
                S3Server.KEY,
                null,
                new S3Settings.BucketDefault()));
    boolean whole = args.length == 2;
    try (RemoteArtifacts artifacts =
        artifacts(whole ? bucket : blobs(bucket, new FolderBlobs(Path.of(args[2]))))) {
      var unused = artifacts.store(ID, Path.of(args[1]), Progress.NONE);
      whole = artifacts.verify(ID, Progress.NONE).whole();
    }
    Reference.reachabilityFence(live);
    System.out.println(mostResidentMib());
    System.exit(whole ? 0 : 1);
  }

  private static long mostResidentMib() throws IOException {
    try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
      return status
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
          .findFirst()
          .orElseThrow();
    }
  }

  private static RemoteArtifacts artifacts(BlobStore blobs) {
    return new RemoteArtifacts(blobs, KEYS, Compression.ZSTD, Clock.systemUTC(), THREADS);
  }

  private static Process start(Path log, String endpoint, Path... folders) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The image's JVM is newer.
    command.add("-XX:+IgnoreUnrecognizedVMOptions");
    command.addAll(optionsOfTheImage());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(UploadHeapTest.class.getName(), endpoint));
    Stream.of(folders).map(Path::toString).forEach(command::add);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** Without its cache of classes, which only the image has. */
  private static List<String> optionsOfTheImage() throws IOException {
    Path config = Path.of("..", "images", "agent", "config.json");
    List<String> options = new ArrayList<>();
    for (JsonNode word : new ObjectMapper().readTree(config.toFile()).get("Entrypoint")) {
      if (word.asText().startsWith("-X")
          && !word.asText().startsWith("-XX:AOTCache")
          // Java 17 prints an error for this one.
          && (IMAGES_JAVA || !word.asText().contains("MemLimit"))) {
        options.add(word.asText());
      }
    }
    assertThat(options).anyMatch(option -> option.startsWith("-Xmx"));
    return options;
  }

  /** Half of it compresses to a half, so that memory is needed for that too. */
  private static void write(Path file, int mib) throws IOException {
    Random random = new Random(1);
    byte[] bytes = new byte[1 << 20];
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < mib; i++) {
        random.nextBytes(bytes);
        for (int at = 0; i % 4 >= 2 && at < bytes.length; at += 64) {
          System.arraycopy(bytes, 0, bytes, at, 32);
        }
        out.write(bytes);
      }
    }
  }

  /** Does not acknowledge the parts that have arrived. */
  private static void answer(HttpExchange exchange, CountDownLatch arrived, CountDownLatch ended)
      throws IOException {
    try (exchange;
        InputStream body = exchange.getRequestBody()) {
      body.transferTo(OutputStream.nullOutputStream());
      if (exchange.getRequestMethod().equals("PUT")) {
        arrived.countDown();
        ended.await();
      } else {
        byte[] begun = "<Result><UploadId>1</UploadId></Result>".getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, begun.length);
        exchange.getResponseBody().write(begun);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Large blobs are uploaded to the bucket, and all others are in the folder. */
  private static BlobStore blobs(BlobStore bucket, BlobStore folder) {
    InvocationHandler either =
        (proxy, method, args) -> {
          try {
            return method.invoke(method.getName().startsWith("upload") ? bucket : folder, args);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        };
    return (BlobStore)
        Proxy.newProxyInstance(
            UploadHeapTest.class.getClassLoader(), new Class<?>[] {BlobStore.class}, either);
  }

  private static void release(CountDownLatch latch) {
    for (int i = 0; i < PARTS; i++) {
      latch.countDown();
    }
  }
}
