package dev.stasis.agent.layer;

import static dev.stasis.agent.layer.OverlayRoots.listing;
import static dev.stasis.agent.layer.OverlayRoots.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is packed while the workload runs is packed once, and comes back as it is when stopped. */
@SuppressWarnings("NullAway") // made before each test
class PackAheadTest {

  private static final int MIB = 1 << 20;

  private static final List<String> MOUNTS = List.of("/", "/data");

  /** Files count as settled a second after their last change; this clock is past that. */
  private static final Clock LATER = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1));

  @TempDir private Path temp;
  private OverlayRoots roots;
  private Path source;
  private Path target;
  private Path archives;
  private LayerPacker packer;
  private Set<String> written = Set.of();
  private Set<String> open = Set.of();

  @BeforeEach
  void makeTwoContainers() throws Exception {
    roots = new OverlayRoots(temp);
    for (String folder : List.of("etc", "app/old/deep", "data")) {
      Files.createDirectories(roots.image().resolve(folder));
    }
    for (String file : List.of("etc/passwd", "app/main.py", "app/old/deep/file")) {
      Files.writeString(roots.image().resolve(file), "of the image: " + file);
    }
    source = roots.container("source");
    target = roots.container("target");
    for (Path container : List.of(source, target)) {
      // As an emptyDir of a pod.
      Path volume = Files.createDirectory(temp.resolve(container.getFileName() + "-volume"));
      roots.mount(container.resolve("data"), "--bind", volume.toString());
    }
    archives = Files.createDirectory(temp.resolve("archives"));
    packer = new LayerPacker(MOUNTS);
    try (Handle upper = Handle.ofTrusted(roots.upper("source"))) {
      assumeTrue(
          upper.keepsTimesOfChange(),
          "the folder for temporary files: expected ext4, XFS or Btrfs (-Djava.io.tmpdir)");
    }
    for (String place : List.of("", "data/")) {
      for (String name : List.of("big", "changed", "deleted", "renamed", "replaced", "in place")) {
        Files.write(
            Files.createDirectories(source.resolve(place + "cache")).resolve(name), new byte[MIB]);
      }
      Files.createDirectories(source.resolve(place + "cache/gone/deep"));
      Files.write(source.resolve(place + "cache/gone/deep/file"), new byte[MIB]);
      Files.createDirectories(source.resolve(place + "cache/again"));
      Files.write(source.resolve(place + "cache/again/old"), new byte[MIB]);
      Files.createLink(source.resolve(place + "cache/link"), source.resolve(place + "cache/big"));
      Files.createSymbolicLink(source.resolve(place + "cache/to"), Path.of("big"));
      Files.write(source.resolve(place + "cache/kept"), new byte[3 * MIB]);
    }
  }

  @AfterEach
  void unmount() throws Exception {
    packer.close();
    roots.close();
  }

  private void packAhead(Clock clock) throws IOException {
    packer.packAhead(
        roots.upper("source"),
        source,
        List.of("/data"),
        archives,
        LayerPacker.OpenFiles.of(clock.instant(), open),
        bytes -> {});
  }

  /** Returns the bytes that were packed after {@link #packAhead}. */
  private long carryOver() throws Exception {
    long before = size();
    packer.pack(roots.upper("source"), source, List.of("/data"), archives, written, bytes -> {});
    long packed = size() - before;
    unpack();
    assertThat(listing(target)).isEqualTo(listing(source));
    assertThat(listing(target.resolve("data"))).isEqualTo(listing(source.resolve("data")));
    return packed;
  }

  private void unpack() throws IOException {
    Files.createDirectories(target.resolve("data/of the target"));
    VolumeGuard guard =
        new VolumeGuard(
            List.of(), new TargetVolumes(Map.of("/data", target.resolve("data")), Set.of()));
    new LayerUnpacker(MOUNTS, guard, 2).unpack(archives, target);
  }

  private long size() throws IOException {
    long bytes = 0;
    for (String name : List.of("root.tar", "volume-1.tar")) {
      Path file = archives.resolve(name);
      bytes += Files.exists(file) ? Files.size(file) : 0;
    }
    return bytes;
  }

  @Test
  void anUnchangedFileIsPackedOnce() throws Exception {
    packAhead(LATER);

    // The files with two names are left to the stopped tree: one in the layer, one in the volume.
    assertThat(carryOver()).isBetween(2L * MIB, 2L * MIB + 200_000);
  }

  @Test
  void everyKindOfChangeIsCarriedOver() throws Exception {
    packAhead(LATER);
    for (String place : List.of("", "data/")) {
      Path cache = source.resolve(place + "cache");
      Files.writeString(cache.resolve("changed"), "shorter");
      Files.delete(cache.resolve("deleted"));
      Files.move(cache.resolve("renamed"), cache.resolve("new name"));
      Files.delete(cache.resolve("replaced"));
      Files.createDirectory(cache.resolve("replaced"));
      Files.writeString(cache.resolve("replaced/file"), "a file became a folder");
      Files.writeString(cache.resolve("other"), "x".repeat(MIB));
      Files.move(cache.resolve("other"), cache.resolve("big"), StandardCopyOption.REPLACE_EXISTING);
      run("rm", "-r", cache.resolve("gone").toString(), cache.resolve("again").toString());
      Files.writeString(cache.resolve("gone"), "a folder became a file");
      Files.createDirectory(cache.resolve("again"));
      Files.writeString(cache.resolve("again/new"), "the same name, another folder");
      run("chmod", "0400", cache.resolve("kept").toString());
      run("touch", "-d", "2001-02-03", cache.toString());
    }
    Files.delete(source.resolve("etc/passwd"));
    run("rm", "-r", source.resolve("app").toString());
    Files.createDirectory(source.resolve("app"));
    Files.writeString(source.resolve("app/old"), "nothing of the image");

    carryOver();
  }

  @Test
  void aSocketInPlaceOfAFileTakesTheFileBack() throws Exception {
    packAhead(LATER);
    for (String place : List.of("", "data/")) {
      Path path = source.resolve(place + "cache/replaced");
      Files.delete(path);
      try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        server.bind(UnixDomainSocketAddress.of(path));
      }
    }

    packer.pack(roots.upper("source"), source, List.of("/data"), archives, written, bytes -> {});
    unpack();

    assertThat(target.resolve("cache/replaced")).doesNotExist();
    assertThat(target.resolve("data/cache/replaced")).doesNotExist();
    assertThat(target.resolve("data/cache/kept")).exists();
  }

  @Test
  void aRenamedFolderOfTheImageIsPackedCompletely() throws Exception {
    packAhead(LATER);
    run("mv", source.resolve("app").toString(), source.resolve("moved").toString());

    carryOver();
  }

  /** Such a store changes no time as long as the page is dirty. */
  @ParameterizedTest
  @ValueSource(strings = {"", "data/"})
  void aStoreToMappedMemoryIsSeenThoughThePageWasDirty(String place) throws Exception {
    String program =
        """
        import mmap, sys
        file = open(sys.argv[1], "r+b")
        memory = mmap.mmap(file.fileno(), 0)
        for byte in 1, 2:
            memory[4096 + byte] = byte
            print(byte, flush=True)
            sys.stdin.readline()
        """;
    Path file = source.resolve(place + "cache/in place");
    Process child = new ProcessBuilder("python3", "-c", program, file.toString()).start();
    try (BufferedReader said = child.inputReader();
        Writer answer = child.outputWriter()) {
      assertThat(said.readLine()).isEqualTo("1");
      packAhead(LATER);
      answer.write("\n");
      answer.flush();
      assertThat(said.readLine()).isEqualTo("2");
      carryOver();
    } finally {
      child.destroyForcibly().waitFor();
    }
    assertThat(Files.readAllBytes(target.resolve(place + "cache/in place")))
        .containsSequence(0, 1, 2, 0);
  }

  @Test
  void aFileThatADeviceMayWriteIsPackedAgain() throws Exception {
    packAhead(LATER);
    written = Set.of("/any/kept");

    assertThat(carryOver()).isBetween(8L * MIB, 8L * MIB + 200_000);
  }

  /** The kernel sets the time of a write when it begins, and it may still be going on. */
  @Test
  void aFileThatIsOpenForWritingIsPackedDuringTheFreeze() throws Exception {
    open = Set.of("/any/kept");
    packAhead(LATER);

    assertThat(carryOver()).isBetween(8L * MIB, 8L * MIB + 200_000);
  }

  @Test
  void aFileThatJustChangedIsPackedDuringTheFreeze() throws Exception {
    packAhead(Clock.fixed(Instant.now(), Clock.systemUTC().getZone()));

    assertThat(carryOver()).isGreaterThan(20L * MIB);
  }

  @Test
  void theProgressListenerCanCancelThePacking() {
    assertThatThrownBy(
            () ->
                packer.packAhead(
                    roots.upper("source"),
                    source,
                    List.of(),
                    archives,
                    LayerPacker.OpenFiles.of(LATER.instant(), Set.of()),
                    bytes -> {
                      throw new IOException("cancelled");
                    }))
        .hasMessage("cancelled");
  }
}
