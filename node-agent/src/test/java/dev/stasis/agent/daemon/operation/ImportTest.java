package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.operation.ExpectedWorkload;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact that lies in a store already, each time a copy of the same one. */
class ImportTest {

  private static final int MIB = 16;
  private static final ExpectedWorkload TRAINER = new ExpectedWorkload("trainer", null);

  private static final List<String> COMMAND_LINE = List.of("gpu-counter", "--token=$(TOKEN)");

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static Path original;

  @SuppressWarnings("NullAway.Init")
  private static String sha256;

  private static final Orders MAKER = Orders.ofSomebody();

  @BeforeAll
  static void begin() throws Exception {
    lab = new AgentLab(1, 128);
    try (AgentLab.Placed source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "20"),
            Map.of())) {
      source.container().awaitSteps(3);
      lab.start();
      GpuNodeOperation order =
          MAKER.checkpoint(
              source,
              how ->
                  how.setPodTemplate(
                      Map.of(
                          "metadata",
                          Map.of("name", "trainer", "namespace", "ml"),
                          "spec",
                          Map.of(
                              "containers",
                              List.of(
                                  Map.of(
                                      "name", "main", "image", "a", "command", COMMAND_LINE))))));
      GpuNodeOperationStatus made = ended(order);
      assertThat(made.getOutcome()).as(made.getMessage()).isEqualTo(Outcome.DONE);
      sha256 = Objects.requireNonNull(Objects.requireNonNull(made.getArtifact()).getSha256());
      original = lab.engine().store().resolve(MAKER.artifact(null).location());
    }
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  @Test
  void aWholeArtifactSaysAllThatARestoreNeeds() throws Exception {
    Path copy = copied();

    GpuNodeOperationStatus status = imported(copy, new ExpectedWorkload("trainer", "main"), sha256);

    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.DONE);
    var artifact = Objects.requireNonNull(status.getArtifact());
    assertThat(artifact.getLocation()).isEqualTo("ml/" + copy.getFileName());
    assertThat(artifact.getUid()).isEqualTo(MAKER.requester());
    assertThat(artifact.getSha256()).isEqualTo(sha256);
    assertThat(artifact.getImage()).isEqualTo("sha256:c0");
    assertThat(artifact.getNode()).isEqualTo(AgentLab.NODE);
    assertThat(artifact.getGpuBytes()).isGreaterThanOrEqualTo((long) MIB << 20);
    // workload.json has another one, as an older agent wrote it: as the runtime started it.
    assertThat(status.getArgv()).isEqualTo(COMMAND_LINE);
    assertThat(status.getContainerName()).isEqualTo("main");
    assertThat(Objects.requireNonNull(status.getPodTemplate())).containsKeys("metadata", "spec");
    assertThat(Objects.requireNonNull(status.getHardware()).fingerprint()).contains("gpu.count=1");
    assertThat(Objects.requireNonNull(status.getExplanation()).expectedBytes())
        .isEqualTo(artifact.getBytes());
  }

  @Test
  void everyFlippedByteIsSeenAndTheArtifactStaysAsItIs() throws Exception {
    for (String name : samples()) {
      Path copy = copied();
      Path file = copy.resolve(name);
      byte[] bytes = Files.readAllBytes(file);
      if (bytes.length == 0) {
        continue;
      }
      bytes[written(bytes)] ^= 1;
      Files.write(file, bytes);

      GpuNodeOperationStatus status = imported(copy, TRAINER, null);

      String named = name.equals(Manifest.DIGEST_FILE_NAME) ? Manifest.FILE_NAME : name;
      assertRefused(status, "ArtifactRefused", named);
      assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
      assertThat(filesOf(copy)).isEqualTo(filesOf(original));
    }
  }

  @Test
  void everyMissingFileIsSeen() throws Exception {
    for (String name : samples()) {
      Path copy = copied();
      Files.delete(copy.resolve(name));

      assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", name);
    }
  }

  @Test
  void aFileThatIsNotOfTheArtifactIsRefused() throws Exception {
    Path copy = copied();
    Files.writeString(copy.resolve("more"), "x");

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "more: wanted");
  }

  @Test
  void anArtifactOfAnotherNamespaceIsRefusedWhereverItLies() throws Exception {
    Path copy = copied();
    reseal(copy, manifest -> manifest.replace("\"namespace\" : \"ml\"", "\"namespace\" : \"hr\""));

    GpuNodeOperationStatus status = imported(copy, TRAINER, null);

    assertRefused(status, "OtherNamespace", "namespace of artifact ml/");
    assertThat(status.getMessage()).contains("wanted ml, found hr");
  }

  @Test
  void anotherPodOrContainerIsRefused() throws Exception {
    Path copy = copied();

    GpuNodeOperationStatus pod = imported(copy, new ExpectedWorkload("x", null), null);
    GpuNodeOperationStatus container = imported(copy, new ExpectedWorkload("trainer", "y"), null);

    assertRefused(
        pod, "ArtifactRefused", "podName: wanted trainer, which is in the artifact, found x");
    assertRefused(
        container,
        "ArtifactRefused",
        "containerName: wanted main, which is in the artifact, found y");
  }

  @Test
  void aNewerFormatIsRefused() throws Exception {
    Path copy = copied();
    reseal(
        copy,
        manifest ->
            manifest.replace(
                "\"formatVersion\" : " + Manifest.FORMAT_VERSION,
                "\"formatVersion\" : " + (Manifest.FORMAT_VERSION + 1)));

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "format version");
  }

  @Test
  void anotherManifestThanTheOneThatIsWantedIsRefused() throws Exception {
    Path copy = copied();

    GpuNodeOperationStatus status = imported(copy, TRAINER, "0".repeat(64));

    assertRefused(status, "ArtifactRefused", "artifact digest: wanted 000");
  }

  @Test
  void nothingOutsideOfTheNamespacesFolderIsRead() throws Exception {
    for (String location :
        List.of("../x", "ml/../x", "/etc/passwd", "hr/x", "ml/", "ml/..", "ml", "ml/a/b")) {
      GpuNodeOperationStatus status = ended(Orders.ofSomebody().imported(location, TRAINER, null));

      assertRefused(status, "OtherNamespace", "artifact.location");
    }
  }

  @Test
  void aLinkIsNoArtifactWhereverItIs() throws Exception {
    Path link = original.resolveSibling("link-" + UUID.randomUUID());
    Files.createSymbolicLink(link, original);
    Path copy = copied();
    Path pod = copy.resolve("pod.json");
    Path elsewhere = Files.move(pod, copy.resolveSibling(UUID.randomUUID() + ".json"));
    Files.createSymbolicLink(pod, elsewhere);

    assertRefused(imported(link, TRAINER, null), "ArtifactRefused", "no folder");
    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "pod.json");
  }

  @Test
  void aFolderThatOthersMayChangeIsNotTrusted() throws Exception {
    Path copy = copied();
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "mode of");
  }

  @Test
  void theMarkOfAnObjectThatIsGoneCountsNoMore() throws Exception {
    Path copy = copied();
    Path mark = copy.resolveSibling(".goes-with-its-object-" + copy.getFileName());
    Files.writeString(mark, "uid-of-the-store\n");

    assertThat(imported(copy, TRAINER, null).getOutcome()).isEqualTo(Outcome.DONE);
    assertThat(mark).doesNotExist();
  }

  @Test
  void anImportThatIsCancelledEndsSo() throws Exception {
    GpuNodeOperation order =
        Orders.ofSomebody().imported("ml/" + copied().getFileName(), TRAINER, null);
    order.getSpec().setCancel(true);

    GpuNodeOperationStatus status = ended(order);

    assertThat(status.getPhase()).isEqualTo(OperationPhase.CANCELLED);
    assertThat(status.getArtifact()).isNull();
  }

  private static GpuNodeOperationStatus imported(
      Path folder, ExpectedWorkload expected, @org.jspecify.annotations.Nullable String digest) {
    return ended(Orders.ofSomebody().imported("ml/" + folder.getFileName(), expected, digest));
  }

  private static GpuNodeOperationStatus ended(GpuNodeOperation operation) {
    return lab.cluster().awaitEnd(lab.cluster().create(operation).getMetadata().getName());
  }

  private static void assertRefused(
      GpuNodeOperationStatus status, String reason, String inItsMessage) {
    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(status.getReason()).as(status.getMessage()).isEqualTo(reason);
    assertThat(status.getMessage()).contains(inItsMessage);
    assertThat(status.getArtifact()).isNull();
    assertThat(status.getPodTemplate()).isNull();
  }

  private static Path copied() throws IOException {
    Path copy = original.resolveSibling("copy-" + UUID.randomUUID());
    try (Stream<Path> all = Files.walk(original)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Files.copy(
            path,
            copy.resolve(original.relativize(path).toString()),
            java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return copy;
  }

  /** A byte that counts, from the middle on: what is zero may lie in a hole. */
  private static int written(byte[] bytes) {
    int at = bytes.length / 2;
    while (bytes[at] == 0) {
      at = (at + 1) % bytes.length;
    }
    return at;
  }

  /** Those at the top, and of each folder the first and the last. */
  private static List<String> samples() throws IOException {
    List<String> all = filesOf(original);
    TreeMap<String, TreeSet<String>> byFolder = new TreeMap<>();
    TreeSet<String> samples = new TreeSet<>();
    for (String name : all) {
      int slash = name.lastIndexOf('/');
      if (slash < 0) {
        samples.add(name);
      } else {
        byFolder.computeIfAbsent(name.substring(0, slash), folder -> new TreeSet<>()).add(name);
      }
    }
    byFolder.values().forEach(names -> samples.addAll(List.of(names.first(), names.last())));
    assertThat(samples).contains("manifest.json", "pod.json", "workload.json");
    return List.copyOf(samples);
  }

  private static List<String> filesOf(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
          .map(path -> folder.relativize(path).toString())
          .sorted()
          .toList();
    }
  }

  /** With a digest that is right for what it says now, as whoever forges one would write it. */
  private static void reseal(Path copy, java.util.function.UnaryOperator<String> change)
      throws Exception {
    Path manifest = copy.resolve(Manifest.FILE_NAME);
    String before = Files.readString(manifest);
    String after = change.apply(before);
    assertThat(after).isNotEqualTo(before);
    Files.writeString(manifest, after);
    byte[] digest =
        MessageDigest.getInstance("SHA-256").digest(after.getBytes(StandardCharsets.UTF_8));
    Files.writeString(
        copy.resolve(Manifest.DIGEST_FILE_NAME),
        HexFormat.of().formatHex(digest) + "  " + Manifest.FILE_NAME + "\n");
  }
}
