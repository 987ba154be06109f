package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.store.ImportPolicy;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.SigningKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.security.GeneralSecurityException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Import: an artifact that is already in a store. Every byte of it is checked before anything is
 * reported, and a refused one is not changed.
 */
final class ImportJob implements Job {

  static final String REFUSED = "ArtifactRefused";

  private final AgentParts parts;
  private final OperationRecorder recorder;
  private final Semaphore downloads;

  /**
   * @param downloads the turn of downloads
   */
  ImportJob(AgentParts parts, OperationRecorder recorder, Semaphore downloads) {
    this.parts = parts;
    this.recorder = recorder;
    this.downloads = downloads;
  }

  @Override
  public OperationResult run(ActiveOperation operation)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference reference = operation.artifact();
    ExpectedWorkload expected = Objects.requireNonNull(operation.spec().getExpected());
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), reference);
    if (where.remote() == null) {
      return verified(operation, where, artifact -> {});
    }
    RemoteImport remote = new RemoteImport(parts, recorder, where, downloads);
    OperationResult brought = remote.bring(operation, expected);
    if (brought.phase() != OperationPhase.SUCCEEDED) {
      return brought;
    }
    @Nullable OperationResult imported = null;
    try {
      imported = verified(operation, where, remote::describe);
      return imported;
    } finally {
      remote.clearUp(imported);
    }
  }

  /**
   * @param stored adds where else the artifact is
   */
  private OperationResult verified(
      ActiveOperation operation, ArtifactPlace where, Consumer<ArtifactStatus> stored)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference reference = operation.artifact();
    ExpectedWorkload expected = Objects.requireNonNull(operation.spec().getExpected());
    ImportPolicy policy = parts.cluster().store(reference.store()).imports();
    SigningKeys keys = keys(policy);
    OperationProgress progress = new OperationProgress(operation, recorder, "verify");
    try {
      where.requireTrustedFolder();
      Artifact seen =
          ArtifactPlace.require(
              new ArtifactReader(1, progress).inspect(where.path(), reference.sha256(), keys));
      requireNamespace(policy, reference, expected, seen.manifest().origin());
      ImportedFiles files = ImportedFiles.of(seen);
      files.require(reference, expected);
      long bytes = seen.manifest().sizes().bytes();
      recorder.begin(operation);
      recorder.publish(
          operation,
          status ->
              status.setExplanation(
                  new Explanation(
                      null, null, bytes, new HumanBytes(bytes).text(), null, null, null, null)));
      // By the digest of the checked manifest: it is the same artifact, whatever is changed
      // meanwhile.
      Artifact whole =
          ArtifactPlace.require(new ArtifactReader(progress).open(where.path(), seen.sha256()));
      return done(reference, where, whole, files, stored);
    } catch (IOException e) {
      progress.rethrow(e);
      // A read error of the disk does not mean that the artifact is damaged, and a retry would not
      // help.
      return OperationResult.storeFailed("verify", e);
    }
  }

  private OperationResult done(
      ArtifactReference reference,
      ArtifactPlace where,
      Artifact whole,
      ImportedFiles files,
      Consumer<ArtifactStatus> stored)
      throws IOException, Refused {
    // The deletion mark of its former object is obsolete; from now on the importing object decides.
    new SweepMark(where.path()).remove();
    if (!Files.exists(where.path().resolve(Manifest.FILE_NAME), LinkOption.NOFOLLOW_LINKS)) {
      throw new Refused(REFUSED, reference.location(), "an artifact", "nothing");
    }
    ArtifactStatus artifact = where.status(parts.nodeName(), whole.manifest(), whole.sha256());
    artifact.setUid(whole.manifest().origin().id());
    artifact.setNamespaceUid(whole.manifest().origin().namespaceUid());
    stored.accept(artifact);
    Map<String, Object> pod = files.pod();
    WorkloadFacts facts = files.facts();
    return OperationResult.done(
            "Imported", "every byte of " + new HumanBytes(whole.manifest().sizes().bytes()).text())
        .with(
            status -> {
              status.setArtifact(artifact);
              status.setImage(artifact.getImage());
              status.setHardware(facts.hardware());
              status.setArgv(facts.argv());
              status.setContainerName(facts.containerName());
              status.setOtherContainers(facts.otherContainers());
              status.setPodTemplate(pod);
            });
  }

  /** The accepted signing keys of the manifest; null if no signature is required. */
  private static @Nullable SigningKeys keys(@Nullable ImportPolicy policy) throws Refused {
    if (policy == null || policy.publicKeys() == null) {
      return null;
    }
    try {
      return SigningKeys.ofPem(policy.publicKeys());
    } catch (GeneralSecurityException e) {
      throw new Refused(
          REFUSED,
          "options.imports.publicKeys of the store",
          "ECDSA keys on P-256 in PEM",
          String.valueOf(e.getMessage()));
    }
  }

  /**
   * It was written in the namespace of the request. A namespace can be deleted and its name reused,
   * so the name alone proves nothing.
   */
  private static void requireNamespace(
      @Nullable ImportPolicy policy,
      ArtifactReference reference,
      ExpectedWorkload expected,
      Manifest.Origin origin)
      throws Refused {
    String name = origin.namespace();
    if (!reference.namespace().equals(name)) {
      throw otherNamespace(
          "namespace of artifact " + reference.location(), reference.namespace(), name);
    }
    boolean any = policy != null && policy.allowsAnyNamespaceUid();
    String uid = expected.namespaceUid();
    if (!any && (uid == null || !uid.equals(origin.namespaceUid()))) {
      throw otherNamespace(
          "namespace uid of artifact " + reference.location(),
          Objects.requireNonNullElse(uid, "one in the order")
              + ", or options.imports.anyNamespaceUid in the store",
          origin.namespaceUid());
    }
  }

  private static Refused otherNamespace(String property, String wanted, @Nullable String found) {
    return new Refused(
        "OtherNamespace", property, wanted, Objects.requireNonNullElse(found, "none"));
  }
}
