package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.sweep.SweepMark;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.ExpectedWorkload;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.SigningKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Map;
import java.util.Objects;

/**
 * Import: an artifact that lies in a store already. Every byte of it is checked before anything is
 * said of it, and one that is refused stays as it was.
 */
final class ImportJob implements Job {

  static final String REFUSED = "ArtifactRefused";

  private final AgentParts parts;
  private final Desk desk;

  ImportJob(AgentParts parts, Desk desk) {
    this.parts = parts;
    this.desk = desk;
  }

  @Override
  public Ending run(Assignment assignment)
      throws Refused, Stopped, IOException, InterruptedException {
    ArtifactReference reference = Objects.requireNonNull(assignment.spec().getArtifact());
    ExpectedWorkload expected = Objects.requireNonNull(assignment.spec().getExpected());
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(reference, reference.namespace());
    ImportRules rules = new ImportRules(parts.stores().of(reference.store()).imports());
    SigningKeys keys = rules.keys();
    VerifyProgress progress = new VerifyProgress(assignment, desk, parts.clock());
    try {
      new TrustedFolder(where.folder()).require();
      Artifact seen =
          require(new ArtifactReader(1, progress).inspect(where.path(), reference.sha256(), keys));
      rules.requireNamespace(reference, expected, seen.manifest().origin());
      ImportedFiles files = ImportedFiles.of(seen);
      files.require(reference, expected);
      long bytes = seen.manifest().sizes().bytes();
      desk.begin(assignment);
      desk.say(
          assignment,
          status ->
              status.setExplanation(
                  new Explanation(
                      null, null, bytes, HumanText.size(bytes), null, null, null, null)));
      // By the digest of what was looked at: it is the same artifact, whoever changes it meanwhile.
      Artifact whole =
          require(
              new ArtifactReader(threads(), progress)
                  .open(where.path(), ArtifactReader.Regions.NOW, seen.sha256()));
      return done(reference, where, whole, files);
    } catch (IOException e) {
      progress.rethrow(e);
      // What a disk does not give says nothing about the artifact, and asking again nothing more.
      return Ending.failed(
          Outcome.UNDONE, Faults.inStep("StoreFailed", "verify", String.valueOf(e.getMessage())));
    }
  }

  private Ending done(
      ArtifactReference reference, ArtifactPlace where, Artifact whole, ImportedFiles files)
      throws IOException, Refused {
    // What its last object said of it counts no more; from now on that is the one that asks.
    new SweepMark(where.path()).remove();
    if (!Files.exists(where.path().resolve(Manifest.FILE_NAME), LinkOption.NOFOLLOW_LINKS)) {
      throw new Refused(Faults.of(REFUSED, reference.location(), "an artifact", "nothing"));
    }
    ArtifactStatus artifact =
        new ArtifactWords(parts.nodeName(), where.nodeLocal())
            .of(reference, whole.manifest(), whole.sha256());
    artifact.setUid(whole.manifest().origin().id());
    artifact.setNamespaceUid(whole.manifest().origin().namespaceUid());
    Map<String, Object> pod = files.pod();
    WorkloadFacts facts = files.facts();
    return Ending.done(
            "Imported", "every byte of " + HumanText.size(whole.manifest().sizes().bytes()))
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

  private static Artifact require(Opened opened) throws Refused {
    if (opened instanceof Opened.Refused refused) {
      throw new Refused(Faults.of(REFUSED, refused.property(), refused.wanted(), refused.found()));
    }
    return ((Opened.Verified) opened).artifact();
  }

  private static int threads() {
    return Math.max(1, Runtime.getRuntime().availableProcessors());
  }
}
