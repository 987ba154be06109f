package dev.stasis.agent.layer;

import static dev.stasis.agent.layer.OverlayRoots.listing;
import static dev.stasis.agent.layer.OverlayRoots.run;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayerRoundTripTest {
  private static final VolumeGuard GUARD = new VolumeGuard(List.of(), TargetVolumes.none());

  /** Of a user with the id 1000, with the rest as mode 0640 has it. */
  private static final byte[] ACL =
      HexFormat.of()
          .parseHex(
              "02000000"
                  + "01000600ffffffff"
                  + "02000400e8030000"
                  + "04000400ffffffff"
                  + "10000400ffffffff"
                  + "20000000ffffffff");

  @TempDir Path temp = Path.of("/");
  private @Nullable OverlayRoots mounts;
  private Path source = temp;
  private Path target = temp;
  private Path archives = temp;

  @BeforeEach
  void makeAnImageAndTwoContainers() throws Exception {
    OverlayRoots roots = new OverlayRoots(temp);
    mounts = roots;
    Path image = roots.image();
    for (String folder : List.of("etc", "app/cache", "app/old/deep", "tmp", "dev/shm", "data")) {
      Files.createDirectories(image.resolve(folder));
    }
    for (String file : List.of("etc/passwd", "app/main.py", "app/cache/a", "app/old/deep/file")) {
      Files.writeString(image.resolve(file), "of the image: " + file);
    }
    Files.createSymbolicLink(image.resolve("bin"), Path.of("app"));
    source = roots.container("source");
    target = roots.container("target");
    archives = Files.createDirectory(temp.resolve("archives"));
  }

  @AfterEach
  void unmount() throws Exception {
    roots().close();
  }

  private OverlayRoots roots() {
    return Objects.requireNonNull(mounts);
  }

  private VolumeGuard emptyDirs(String... paths) {
    return new VolumeGuard(
        List.of(),
        new TargetVolumes(
            Stream.of(paths).collect(Collectors.toMap(path -> "/" + path, target::resolve)),
            Set.of()));
  }

  private LayerPacker packer() throws IOException {
    return new LayerPacker(List.of("/"));
  }

  private LayerIndex.Part carryOver() throws IOException {
    LayerIndex index =
        packer().pack(roots().upper("source"), source, List.of(), archives, Set.of(), bytes -> {});
    new LayerUnpacker(List.of("/"), GUARD, 2).unpack(archives, target);
    return index.parts().get(0);
  }

  @Test
  void changedNewAndDeletedFilesComeOverWithOwnerModeAndTime() throws Exception {
    Files.writeString(source.resolve("etc/passwd"), "changed by the program");
    Files.delete(source.resolve("app/main.py"));
    run("rm", "-r", source.resolve("app/old").toString());
    Path made = Files.writeString(source.resolve("tmp/of user"), "x".repeat(100_000));
    run("chown", "1000:1001", made.toString());
    run("chmod", "6741", made.toString());
    run("touch", "-d", "2001-02-03 04:05:06.123456789", made.toString());
    run("touch", "-d", "1960-01-01", source.resolve("etc/passwd").toString());
    Files.createDirectories(source.resolve("tmp/a/b"));
    run("chmod", "0500", source.resolve("tmp/a").toString());
    run("mkfifo", "-m", "640", source.resolve("tmp/fifo").toString());
    Files.createSymbolicLink(source.resolve("tmp/link"), Path.of("/nowhere/at all"));
    Files.createFile(source.resolve("tmp/empty"));
    Files.writeString(source.resolve("tmp/" + "long".repeat(50)), "a long name");

    LayerIndex.Part part = carryOver();

    assertThat(listing(target)).isEqualTo(listing(source));
    assertThat(part.deleted()).containsExactly("app/main.py", "app/old");
    assertThat(part.leftOut()).isEmpty();
  }

  @Test
  void aRecreatedFolderHidesTheContentOfTheImage() throws Exception {
    run("rm", "-r", source.resolve("app").toString());
    Files.createDirectory(source.resolve("app"));
    Files.writeString(source.resolve("app/new"), "new");
    Files.writeString(target.resolve("app/cache/from-the-target"), "must go");

    carryOver();

    assertThat(listing(target)).isEqualTo(listing(source));
  }

  @Test
  void kindsMayChange() throws Exception {
    run("rm", "-r", source.resolve("app/old").toString(), source.resolve("bin").toString());
    Files.writeString(source.resolve("app/old"), "a folder became a file");
    Files.createDirectory(source.resolve("bin"));
    Files.writeString(source.resolve("bin/tool"), "a link became a folder");
    Files.delete(source.resolve("etc/passwd"));
    Files.createSymbolicLink(source.resolve("etc/passwd"), Path.of("shadow"));

    carryOver();

    assertThat(listing(target)).isEqualTo(listing(source));
    assertThat(target.resolve("app/tool")).doesNotExist();
  }

  @Test
  void hardLinksStayOneFile() throws Exception {
    Path first = Files.writeString(source.resolve("tmp/one"), "one");
    Files.createLink(source.resolve("tmp/two"), first);
    Files.createDirectory(source.resolve("a"));
    Files.createLink(source.resolve("a/link_remap.7"), first);

    carryOver();

    assertThat(listing(target)).isEqualTo(listing(source));
    Object inode = Files.getAttribute(target.resolve("tmp/one"), "unix:ino");
    assertThat(Files.getAttribute(target.resolve("a/link_remap.7"), "unix:ino")).isEqualTo(inode);
  }

  @Test
  void aSparseFileOfOneGibibyteStaysSparse() throws Exception {
    try (RandomAccessFile file =
        new RandomAccessFile(source.resolve("tmp/sparse").toFile(), "rw")) {
      file.setLength(1L << 30);
      for (long at : new long[] {8192, 300L << 20, (1L << 30) - 5}) {
        file.seek(at);
        file.write("data".getBytes(StandardCharsets.US_ASCII));
      }
    }
    try (RandomAccessFile file = new RandomAccessFile(source.resolve("tmp/hole").toFile(), "rw")) {
      file.setLength(123_456);
    }

    LayerIndex.Part part = carryOver();

    assertThat(part.bytes()).isLessThan(1 << 20);
    assertThat(listing(target)).isEqualTo(listing(source));
    run("cmp", source.resolve("tmp/sparse").toString(), target.resolve("tmp/sparse").toString());
    String kilobytes = run("du", "-k", target.resolve("tmp/sparse").toString()).split("\t")[0];
    assertThat(Long.parseLong(kilobytes)).isLessThan(1024);
    assertThat(Files.size(target.resolve("tmp/hole"))).isEqualTo(123_456);
  }

  @Test
  void attributesComeOverAsBytes() throws Exception {
    byte[] value = {0, 1, (byte) 0xff, '\n', '='};
    byte[] netRaw = {1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    Files.writeString(source.resolve("app/program"), "ELF");
    try (Handle root = Handle.ofTrusted(source);
        Handle inode = root.at("app/program")) {
      inode.setAttribute("security.capability", netRaw);
      inode.setAttribute("user.origin", value);
      inode.setAttribute("system.posix_acl_access", ACL);
    }

    carryOver();

    try (Handle root = Handle.ofTrusted(target);
        Handle inode = root.at("app/program")) {
      assertThat(inode.attributes().get("security.capability")).isEqualTo(netRaw);
      assertThat(inode.attributes().get("user.origin")).isEqualTo(value);
      assertThat(inode.attributes().get("system.posix_acl_access")).isEqualTo(ACL);
    }
  }

  @Test
  void aFileGetsNoAclFromTheDefaultOfItsFolder() throws Exception {
    Files.writeString(source.resolve("app/plain"), "older than the default");
    run("mkfifo", source.resolve("app/fifo").toString());
    try (Handle root = Handle.ofTrusted(source);
        Handle folder = root.at("app")) {
      folder.setAttribute("system.posix_acl_default", ACL);
    }

    carryOver();

    try (Handle root = Handle.ofTrusted(target);
        Handle folder = root.at("app");
        Handle file = root.at("app/plain");
        Handle fifo = root.at("app/fifo")) {
      assertThat(folder.attributes().get("system.posix_acl_default")).isEqualTo(ACL);
      assertThat(file.attributes()).doesNotContainKey("system.posix_acl_access");
      assertThat(fifo.attributes()).doesNotContainKey("system.posix_acl_access");
    }
    assertThat(listing(target)).isEqualTo(listing(source));
  }

  @Test
  void namesThatAreNoTextComeOver() throws Exception {
    run("sh", "-c", "echo x > \"$0/tmp/$(printf 'n\\377\\nl\\303\\251')\"", source.toString());

    carryOver();

    assertThat(listing(target)).isEqualTo(listing(source));
  }

  @Test
  void aRenamedFolderAndAFileWithNewMetadataAloneComeOverWhole() throws Exception {
    Path lazy = roots().container("lazy", "redirect_dir=on,metacopy=on");
    Files.move(lazy.resolve("app"), lazy.resolve("moved"));
    run("chmod", "0604", lazy.resolve("etc/passwd").toString());

    packer().pack(roots().upper("lazy"), lazy, List.of(), archives, Set.of(), bytes -> {});
    new LayerUnpacker(List.of("/"), GUARD, 2).unpack(archives, target);

    assertThat(listing(target)).isEqualTo(listing(lazy));
    assertThat(target.resolve("etc/passwd")).hasContent("of the image: etc/passwd");
  }

  @Test
  void volumesBecomeThoseOfTheSource() throws Exception {
    for (Path root : List.of(source, target)) {
      roots().mount(root.resolve("dev/shm"), "-t", "tmpfs", "-o", "mode=1777", "shm");
      roots().mount(root.resolve("data"), "-t", "tmpfs", "tmpfs");
    }
    Files.writeString(source.resolve("dev/shm/sem.x"), "semaphore");
    Files.writeString(source.resolve("data/kept"), "kept");
    Files.writeString(target.resolve("data/of-an-init-container"), "older");
    List<String> points = List.of("/", "/dev/shm", "/data");

    LayerIndex index =
        new LayerPacker(points)
            .pack(
                roots().upper("source"),
                source,
                List.of("/dev/shm", "/data"),
                archives,
                Set.of(),
                bytes -> {});
    new LayerUnpacker(points, emptyDirs("dev/shm", "data"), 2).unpack(archives, target);

    assertThat(index.parts()).extracting(LayerIndex.Part::target).contains("/dev/shm", "/data");
    assertThat(LayerIndex.read(archives)).isEqualTo(index);
    for (String volume : List.of("dev/shm", "data")) {
      assertThat(listing(target.resolve(volume))).isEqualTo(listing(source.resolve(volume)));
    }
  }

  @Test
  void ofARootThatIsNoOverlayOnlyTheVolumesArePacked() throws Exception {
    Files.writeString(source.resolve("data/kept"), "kept");

    LayerIndex index =
        packer().pack(null, source, List.of("/data"), archives, Set.of(), bytes -> {});
    new LayerUnpacker(List.of("/"), emptyDirs("data"), 2).unpack(archives, target);

    assertThat(index.parts()).extracting(LayerIndex.Part::target).containsExactly("/data");
    assertThat(listing(target.resolve("data"))).isEqualTo(listing(source.resolve("data")));
  }

  @Test
  void gnuTarReadsAllOfIt() throws Exception {
    Files.writeString(source.resolve("etc/passwd"), "changed");
    Files.writeString(source.resolve("tmp/" + "long".repeat(50)), "a long name");
    run("chown", "3000000:1000", source.resolve("etc/passwd").toString());
    try (RandomAccessFile file =
        new RandomAccessFile(source.resolve("tmp/sparse").toFile(), "rw")) {
      file.setLength(64 << 20);
      file.seek(1 << 20);
      file.write(7);
    }
    Path out = Files.createDirectory(temp.resolve("out"));

    packer().pack(roots().upper("source"), source, List.of(), archives, Set.of(), bytes -> {});
    run(
        "tar",
        "--xattrs",
        "--xattrs-include=user.*",
        "--numeric-owner",
        "-xpf",
        archives.resolve("root.tar").toString(),
        "-C",
        out.toString());

    assertThat(listing(out)).isEqualTo(listing(roots().upper("source")));
    assertThat(Files.size(out.resolve("tmp/sparse"))).isEqualTo(64 << 20);
  }

  @Test
  void aSocketIsLeftOutAndSaidSo() throws Exception {
    try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(source.resolve("tmp/s")));

      assertThat(carryOver().leftOut())
          .containsExactly("tmp/s: a socket, which its program creates");
    }
  }
}
