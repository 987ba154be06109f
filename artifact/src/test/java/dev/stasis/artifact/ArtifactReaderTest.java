package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Opened.Kind;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArtifactReaderTest {
  @TempDir Path temp = Path.of("/");
  private final Samples samples = new Samples();
  private Path artifact = temp;

  @BeforeEach
  void sealOne() throws IOException {
    Path folder = Files.createDirectory(temp.resolve("store"));
    ArtifactStore store = new ArtifactStore(folder, Clock.systemUTC());
    artifact = samples.sealed(store, "a", temp).path();
  }

  /** One way to damage an artifact, and the refusal that it must meet. */
  record Damage(String name, Kind kind, String sentence, Doing doing) {
    @Override
    public String toString() {
      return name;
    }
  }

  @FunctionalInterface
  interface Doing {
    void to(Path artifact) throws Exception;
  }

  static Stream<Damage> damages() {
    return Stream.of(
        new Damage(
            "a flipped bit in an image",
            Kind.DAMAGED,
            "sha256 of criu/pages-1.img",
            a -> flip(a.resolve("criu/pages-1.img"), 2500)),
        new Damage(
            "a flipped bit in the layer",
            Kind.DAMAGED,
            "sha256 of layer/root.tar",
            a -> flip(a.resolve("layer/root.tar"), 0)),
        new Damage(
            "a flipped bit in a region",
            Kind.DAMAGED,
            "sha256 of chunk 4 of regions/1.data",
            a -> flip(a.resolve("regions/1.data"), 4 * 4096 + 1)),
        new Damage(
            "a flipped bit in a chunk table",
            Kind.DAMAGED,
            "sha256 of regions/1.chunks",
            a -> flip(a.resolve("regions/1.chunks"), 40)),
        new Damage(
            "a flipped bit in the manifest",
            Kind.DAMAGED,
            "sha256 of manifest.json: expected",
            a -> {
              String text = Files.readString(a.resolve("manifest.json"));
              flip(a.resolve("manifest.json"), text.indexOf("gpu-17") + 4);
            }),
        new Damage(
            "a truncated image",
            Kind.DAMAGED,
            "size of criu/pages-1.img: expected 5000 bytes, got 4999 bytes",
            a -> truncate(a.resolve("criu/pages-1.img"), 4999)),
        new Damage(
            "a longer image",
            Kind.DAMAGED,
            "size of criu/pages-1.img: expected 5000 bytes, got 5001 bytes",
            a -> truncate(a.resolve("criu/pages-1.img"), 5001)),
        new Damage(
            "a truncated region",
            Kind.DAMAGED,
            "size of regions/1.data",
            a -> truncate(a.resolve("regions/1.data"), 4096)),
        new Damage(
            "an empty manifest",
            Kind.DAMAGED,
            "sha256 of manifest.json",
            a -> truncate(a.resolve("manifest.json"), 0)),
        new Damage(
            "a truncated manifest",
            Kind.DAMAGED,
            "manifest.json: expected JSON",
            a -> truncate(a.resolve("manifest.json"), 300)),
        new Damage(
            "a manifest without its digest",
            Kind.DAMAGED,
            "manifest.json.sha256: expected the manifest's digest, got no such file",
            a -> Files.delete(a.resolve("manifest.json.sha256"))),
        new Damage(
            "a missing image",
            Kind.DAMAGED,
            "criu/inventory.img: expected a file, got no such file",
            a -> Files.delete(a.resolve("criu/inventory.img"))),
        new Damage(
            "a missing region",
            Kind.DAMAGED,
            "regions/1.data: expected a file, got no such file",
            a -> Files.delete(a.resolve("regions/1.data"))),
        new Damage(
            "an image too many",
            Kind.DAMAGED,
            "criu/core-9.img: expected no such file in the artifact, got a file",
            a -> Files.writeString(a.resolve("criu/core-9.img"), "core")),
        new Damage(
            "an image that is a link",
            Kind.DAMAGED,
            "criu/pages-1.img: expected a file or a folder, got a symbolic link",
            a -> {
              Path copy = a.resolveSibling("copy");
              Files.move(a.resolve("criu/pages-1.img"), copy);
              Files.createSymbolicLink(a.resolve("criu/pages-1.img"), copy);
            }),
        new Damage(
            "a folder that is a link",
            Kind.DAMAGED,
            "criu: expected a file or a folder, got a symbolic link",
            a -> {
              Files.move(a.resolve("criu"), a.resolveSibling("elsewhere"));
              Files.createSymbolicLink(a.resolve("criu"), a.resolveSibling("elsewhere"));
            }),
        new Damage(
            "a manifest that is a link",
            Kind.DAMAGED,
            "manifest.json: expected a file, got something else",
            a -> {
              Files.move(a.resolve("manifest.json"), a.resolveSibling("m"));
              Files.createSymbolicLink(a.resolve("manifest.json"), a.resolveSibling("m"));
            }),
        new Damage(
            "a fifo among the images",
            Kind.DAMAGED,
            "criu/fifo: expected a file or a folder, got a special file",
            a -> run("mkfifo", a.resolve("criu/fifo").toString())),
        new Damage(
            "a folder that others may enter",
            Kind.FOREIGN,
            "expected 0700, got 0750",
            a -> Files.setPosixFilePermissions(a, PosixFilePermissions.fromString("rwxr-x---"))),
        new Damage(
            "an image that others may write",
            Kind.FOREIGN,
            "mode of criu/pages-1.img",
            a ->
                Files.setPosixFilePermissions(
                    a.resolve("criu/pages-1.img"), PosixFilePermissions.fromString("rw-rw-r--"))),
        new Damage(
            "a folder of another user",
            Kind.FOREIGN,
            "expected uid 0, got uid 1000",
            a -> Files.setAttribute(a, "unix:uid", 1000)),
        new Damage(
            "an image of another user",
            Kind.FOREIGN,
            "owner of criu/inventory.img: expected uid 0, got uid 1000",
            a -> Files.setAttribute(a.resolve("criu/inventory.img"), "unix:uid", 1000)),
        new Damage(
            "a newer format",
            Kind.NEWER,
            "format version: expected at most 4, got 5",
            a -> {
              Path manifest = a.resolve("manifest.json");
              Files.writeString(
                  manifest,
                  Files.readString(manifest)
                      .replace(
                          "\"formatVersion\" : " + Manifest.WITHOUT_DEVICE_MEMORY,
                          "\"formatVersion\" : " + (Manifest.FORMAT_VERSION + 1)));
            }),
        new Damage(
            "a folder without a manifest",
            Kind.NOT_AN_ARTIFACT,
            "expected a folder with manifest.json, got a folder without one",
            a -> Files.delete(a.resolve("manifest.json"))),
        new Damage(
            "a file in the artifact's place",
            Kind.NOT_AN_ARTIFACT,
            "expected a folder with manifest.json, got no folder",
            a -> {
              Files.move(a, a.resolveSibling("moved"));
              Files.writeString(a, "");
            }),
        new Damage(
            "a link in the artifact's place",
            Kind.NOT_AN_ARTIFACT,
            "got no folder",
            a -> {
              Files.move(a, a.resolveSibling("moved"));
              Files.createSymbolicLink(a, a.resolveSibling("moved"));
            }),
        new Damage(
            "nothing",
            Kind.MISSING,
            "expected an artifact, got nothing",
            a -> Files.move(a, a.resolveSibling("moved"))));
  }

  @ParameterizedTest
  @MethodSource("damages")
  void damageIsRefusedByName(Damage damage) throws Exception {
    damage.doing().to(artifact);

    Opened opened = open(null);

    assertThat(opened).isInstanceOf(Opened.Refused.class);
    Opened.Refused refused = (Opened.Refused) opened;
    assertThat(refused.message()).contains(damage.sentence());
    assertThat(refused.kind()).isEqualTo(damage.kind());
  }

  @Test
  void theManifestOfAnotherArtifactIsRefused() throws Exception {
    ArtifactStore store = new ArtifactStore(artifact.resolveSibling("."), Clock.systemUTC());
    Path other;
    try (ArtifactStage stage = store.stage("b")) {
      Files.writeString(stage.criu().resolve("inventory.img"), "INVENTORY");
      Files.writeString(stage.criu().resolve("pages-1.img"), "pages".repeat(1000));
      Files.writeString(stage.layer().resolve("root.tar"), "a layer");
      Path data = temp.resolve("b.stage");
      stage.addRegions(1, data, samples.stage(data, 10, 4096), List.of(), 1, Progress.NONE);
      other = stage.seal(samples.draft(), 1, Progress.NONE).path();
    }
    for (String file : new String[] {"manifest.json", "manifest.json.sha256"}) {
      Files.copy(other.resolve(file), artifact.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }

    assertThat(message(open(null))).startsWith("sha256 of criu/inventory.img");
  }

  @Test
  void anArtifactWithAnUnexpectedDigestIsForeign() throws Exception {
    Opened opened = open("0".repeat(64));

    assertThat(opened)
        .isInstanceOfSatisfying(
            Opened.Refused.class, refused -> assertThat(refused.kind()).isEqualTo(Kind.FOREIGN));
    assertThat(message(opened)).startsWith("artifact digest: expected 000");
  }

  @Test
  void anArtifactOfFormat1IsReadAndItsDamageFound() throws Exception {
    Path old = Files.createDirectory(temp.resolve("old"));
    artifact =
        new Samples().sealedAsFormat1(new ArtifactStore(old, Clock.systemUTC()), "a", old).path();

    assertThat(open(null))
        .isInstanceOfSatisfying(
            Opened.Verified.class,
            opened -> assertThat(opened.artifact().manifest().formatVersion()).isEqualTo(1));

    flip(artifact.resolve("regions/1.data"), 4 * 4096 + 1);
    assertThat(message(open(null))).startsWith("sha256 of chunk 4 of regions/1.data");
  }

  @Test
  void showReadsOnlyTheManifest() throws Exception {
    flip(artifact.resolve("criu/pages-1.img"), 1);

    assertThat(new ArtifactReader(1, Progress.NONE).inspect(artifact))
        .isInstanceOf(Opened.Verified.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../../outside", "/etc/passwd", "criu/../../outside"})
  void aManifestThatNamesAFileOutsideIsRefused(String name) throws Exception {
    Files.writeString(temp.resolve("outside"), "outside");
    Path manifest = artifact.resolve("manifest.json");
    Files.writeString(
        manifest, Files.readString(manifest).replace("\"criu/inventory.img\"", "\"" + name + "\""));
    Files.writeString(
        artifact.resolve("manifest.json.sha256"),
        Hasher.sha256(Files.readAllBytes(manifest)) + "  manifest.json\n");

    assertThat(message(open(null))).contains("no such file");
  }

  @Test
  void anUnknownPropertyIsNotReportedAsDamage() throws Exception {
    ManifestCodec codec = new ManifestCodec();
    String text = new String(codec.bytes(samples.draft()));

    Manifest read = codec.manifest(text.replaceFirst("\\{", "{\"later\" : 7,").getBytes());

    assertThat(read).isEqualTo(samples.draft());
  }

  private Opened open(@Nullable String digest) throws IOException {
    return new ArtifactReader(2, Progress.NONE).open(artifact, digest);
  }

  private static String message(Opened opened) {
    return opened instanceof Opened.Refused refused ? refused.message() : "verified";
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int old = bytes.read();
      bytes.seek(at);
      bytes.write(old ^ 1);
    }
  }

  private static void truncate(Path file, long size) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.setLength(size);
    }
  }

  private static void run(String... command) throws Exception {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }
}
