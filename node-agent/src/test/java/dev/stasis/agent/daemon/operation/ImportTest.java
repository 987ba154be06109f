package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.artifact.Manifest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An artifact that lies in a store already, each time a copy of the same one. */
class ImportTest {

  private static final int MIB = 16;
  private static final String NAMESPACE_UID = "0c9f5a4e-namespace";
  private static final ExpectedWorkload TRAINER =
      new ExpectedWorkload("trainer", null, NAMESPACE_UID);

  private static final List<String> COMMAND_LINE = List.of("gpu-counter", "--token=$(TOKEN)");

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ArtifactCopies copies;

  @SuppressWarnings("NullAway.Init")
  private static String sha256;

  private static final Orders MAKER = Orders.ofSomebody();

  @BeforeAll
  static void begin() throws Exception {
    lab = new AgentLab(1, 128);
    try (AgentLab.Placed source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100"),
            Map.of())) {
      source.container().awaitSteps(3);
      lab.start();
      GpuNodeOperation order =
          MAKER.checkpoint(
              source,
              how -> {
                how.setNamespaceUid(NAMESPACE_UID);
                how.setPodTemplate(
                    Map.of(
                        "metadata",
                        Map.of("name", "trainer", "namespace", "ml"),
                        "spec",
                        Map.of(
                            "containers",
                            List.of(
                                Map.of("name", "main", "image", "a", "command", COMMAND_LINE)))));
              });
      GpuNodeOperationStatus made = ended(order);
      assertThat(made.getOutcome()).as(made.getMessage()).isEqualTo(Outcome.DONE);
      sha256 = Objects.requireNonNull(Objects.requireNonNull(made.getArtifact()).getSha256());
      copies = new ArtifactCopies(lab.engine().store().resolve(MAKER.artifact(null).location()));
    }
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  @Test
  void aWholeArtifactSaysAllThatARestoreNeeds() throws Exception {
    Path copy = copies.copied();

    GpuNodeOperationStatus status =
        imported(copy, new ExpectedWorkload("trainer", "main", NAMESPACE_UID), sha256);

    assertThat(status.getPhase()).as(status.getMessage()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.DONE);
    var artifact = Objects.requireNonNull(status.getArtifact());
    assertThat(artifact.getLocation()).isEqualTo("ml/" + copy.getFileName());
    assertThat(artifact.getUid()).isEqualTo(MAKER.requester());
    assertThat(artifact.getNamespaceUid()).isEqualTo(NAMESPACE_UID);
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
    for (String name : copies.samples()) {
      Path copy = copies.copied();
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
      assertThat(ArtifactCopies.filesOf(copy)).isEqualTo(ArtifactCopies.filesOf(copies.original()));
    }
  }

  @Test
  void everyMissingFileIsSeen() throws Exception {
    for (String name : copies.samples()) {
      Path copy = copies.copied();
      Files.delete(copy.resolve(name));

      assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", name);
    }
  }

  @Test
  void aFileThatIsNotOfTheArtifactIsRefused() throws Exception {
    Path copy = copies.copied();
    Files.writeString(copy.resolve("more"), "x");

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "more: expected");
  }

  @Test
  void anArtifactOfAnotherNamespaceIsRefusedWhereverItLies() throws Exception {
    Path copy = copies.copied();
    ArtifactCopies.reseal(
        copy, manifest -> manifest.replace("\"namespace\" : \"ml\"", "\"namespace\" : \"hr\""));

    GpuNodeOperationStatus status = imported(copy, TRAINER, null);

    assertRefused(status, "OtherNamespace", "namespace of artifact ml/");
    assertThat(status.getMessage()).contains("expected ml, got hr");
  }

  @Test
  void anArtifactOfAnotherNamespaceOfThatNameIsRefusedUnlessTheStoreAllowsIt() throws Exception {
    Path other = copies.copied();
    ArtifactCopies.reseal(
        other, manifest -> manifest.replace(NAMESPACE_UID, "of-a-namespace-that-is-gone"));
    Path old = copies.copied();
    ArtifactCopies.reseal(
        old, manifest -> manifest.replace("\"namespaceUid\" : \"" + NAMESPACE_UID + "\",", ""));

    assertRefused(
        imported(other, TRAINER, null), "OtherNamespace", "got of-a-namespace-that-is-gone");
    assertRefused(imported(old, TRAINER, null), "OtherNamespace", "got none");
    assertRefused(
        imported(copies.copied(), new ExpectedWorkload("trainer", null, null), null),
        "OtherNamespace",
        "namespace uid of artifact ml/");
    assertThat(importedFrom(LabStores.ANY_UID, other).getOutcome()).isEqualTo(Outcome.DONE);
    assertThat(importedFrom(LabStores.ANY_UID, old).getOutcome()).isEqualTo(Outcome.DONE);
  }

  @Test
  void aStoreThatRequiresASignatureAcceptsThatOfItsKeyAlone() throws Exception {
    Path signed = copies.copied();
    LabStores.sign(signed);
    Path changed = copies.copied();
    LabStores.sign(changed);
    ArtifactCopies.reseal(changed, manifest -> manifest.replace("\"uid\" : ", "\"uid\" :  "));
    Path copied = copies.copied();
    Files.writeString(copied.resolve("manifest.json.sig"), "MAYCAQACAQA=");

    assertThat(importedFrom(LabStores.SIGNED, signed).getOutcome()).isEqualTo(Outcome.DONE);
    for (Path refused : List.of(copies.copied(), changed, copied)) {
      assertRefused(
          importedFrom(LabStores.SIGNED, refused),
          "ArtifactRefused",
          "manifest.json.sig: expected");
    }
    assertRefused(
        importedFrom(LabStores.BAD_KEY, signed), "ArtifactRefused", "imports.publicKeys of");
  }

  @Test
  void anotherPodOrContainerIsRefused() throws Exception {
    Path copy = copies.copied();

    GpuNodeOperationStatus pod =
        imported(copy, new ExpectedWorkload("x", null, NAMESPACE_UID), null);
    GpuNodeOperationStatus container =
        imported(copy, new ExpectedWorkload("trainer", "y", NAMESPACE_UID), null);

    assertRefused(
        pod, "ArtifactRefused", "podName: expected trainer, which is in the artifact, got x");
    assertRefused(
        container,
        "ArtifactRefused",
        "containerName: expected main, which is in the artifact, got y");
  }

  @Test
  void aNewerFormatIsRefused() throws Exception {
    Path copy = copies.copied();
    ArtifactCopies.reseal(
        copy,
        manifest ->
            manifest.replace(
                "\"formatVersion\" : 3", "\"formatVersion\" : " + (Manifest.FORMAT_VERSION + 1)));

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "format version");
  }

  @Test
  void anotherManifestThanTheOneThatIsWantedIsRefused() throws Exception {
    Path copy = copies.copied();

    GpuNodeOperationStatus status = imported(copy, TRAINER, "0".repeat(64));

    assertRefused(status, "ArtifactRefused", "artifact digest: expected 000");
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
    Path link = copies.original().resolveSibling("link-" + UUID.randomUUID());
    Files.createSymbolicLink(link, copies.original());
    Path copy = copies.copied();
    Path pod = copy.resolve("pod.json");
    Path elsewhere = Files.move(pod, copy.resolveSibling(UUID.randomUUID() + ".json"));
    Files.createSymbolicLink(pod, elsewhere);

    assertRefused(imported(link, TRAINER, null), "ArtifactRefused", "no folder");
    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "pod.json");
  }

  @Test
  void aFolderThatOthersMayChangeIsNotTrusted() throws Exception {
    Path copy = copies.copied();
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertRefused(imported(copy, TRAINER, null), "ArtifactRefused", "mode of");
  }

  @Test
  void theMarkOfADeletedObjectIsIgnored() throws Exception {
    Path copy = copies.copied();
    Path mark = copy.resolveSibling(".goes-with-its-object-" + copy.getFileName());
    Files.writeString(mark, "uid-of-the-store\n");

    assertThat(imported(copy, TRAINER, null).getOutcome()).isEqualTo(Outcome.DONE);
    assertThat(mark).doesNotExist();
  }

  @Test
  void aCancelledImportEndsAsCancelled() throws Exception {
    GpuNodeOperation order =
        Orders.ofSomebody().imported("ml/" + copies.copied().getFileName(), TRAINER, null);
    order.getSpec().setCancel(true);

    GpuNodeOperationStatus status = ended(order);

    assertThat(status.getPhase()).isEqualTo(OperationPhase.CANCELLED);
    assertThat(status.getArtifact()).isNull();
  }

  private static GpuNodeOperationStatus imported(
      Path folder, ExpectedWorkload expected, @org.jspecify.annotations.Nullable String digest) {
    return ended(Orders.ofSomebody().imported("ml/" + folder.getFileName(), expected, digest));
  }

  private static GpuNodeOperationStatus importedFrom(String store, Path folder) {
    GpuNodeOperation order =
        Orders.ofSomebody().imported("ml/" + folder.getFileName(), TRAINER, null);
    var there = Objects.requireNonNull(order.getSpec().getArtifact());
    order
        .getSpec()
        .setArtifact(
            new ArtifactReference(store, there.location(), "ml", there.uid(), there.sha256()));
    return ended(order);
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

  /** A byte that counts, from the middle on: what is zero may lie in a hole. */
  private static int written(byte[] bytes) {
    int at = bytes.length / 2;
    while (bytes[at] == 0) {
      at = (at + 1) % bytes.length;
    }
    return at;
  }
}
