package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.FileFacts;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * An artifact's description of its pod and workload.
 *
 * @param pod the pod at the freeze
 * @param facts facts of its workload
 */
record ImportedFiles(Map<String, Object> pod, WorkloadFacts facts) {

  /** Far above every pod's size: an object in Kubernetes has at most 1.5 MiB. */
  private static final long LONGEST = 4L << 20;

  /**
   * Reads them, and checks their digests against the manifest.
   *
   * @throws Refused if one is missing, or differs
   */
  static ImportedFiles of(Artifact artifact) throws Refused, IOException {
    OperationJson json = new OperationJson();
    byte[] pod = bytes(artifact, FreezeRequests.POD_FILE);
    byte[] facts = bytes(artifact, WorkloadFacts.FILE);
    try {
      @SuppressWarnings("unchecked") // a JSON object becomes a map
      Map<String, Object> read = json.read(pod, Map.class);
      WorkloadFacts workload = json.read(facts, WorkloadFacts.class);
      CommandLine line =
          CommandLine.of(json.read(pod, Pod.class).getSpec(), workload.containerName());
      return new ImportedFiles(read, workload.with(line));
    } catch (IOException | RuntimeException e) {
      throw refused("pod.json and workload.json", "what can be read", firstLine(e));
    }
  }

  /** Checks that pod, container and namespace are the expected ones, with all required fields. */
  void require(ArtifactReference reference, ExpectedWorkload expected) throws Refused {
    JsonNode metadata = new OperationJson().tree(pod).path("metadata");
    String namespace = metadata.path("namespace").asText("none");
    if (!namespace.equals(reference.namespace())) {
      throw new Refused("OtherNamespace", "namespace of the pod", reference.namespace(), namespace);
    }
    String name = metadata.path("name").asText("none");
    if (!name.equals(expected.podName())) {
      throw refused("podName", name + ", which is in the artifact", expected.podName());
    }
    String container = expected.containerName();
    if (container != null && !container.equals(facts.containerName())) {
      throw refused(
          "containerName", facts.containerName() + ", which is in the artifact", container);
    }
    boolean hasIt = false;
    for (JsonNode one : new OperationJson().tree(pod).path("spec").path("containers")) {
      hasIt |= one.path("name").asText().equals(facts.containerName());
    }
    if (!hasIt) {
      throw refused("container of the pod", facts.containerName(), "no such container");
    }
    if (facts.argv().isEmpty()) {
      throw refused("argv in workload.json", "a command line", "none");
    }
    if (facts.hardware() == null || facts.hardware().fingerprint() == null) {
      throw refused("hardware in workload.json", "a fingerprint", "none");
    }
  }

  private static byte[] bytes(Artifact artifact, String name) throws Refused, IOException {
    FileFacts wanted = artifact.manifest().files().get(name);
    if (wanted == null) {
      throw refused(name, "a file of the artifact", "none: written by an older agent");
    }
    Path file = artifact.path().resolve(name);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw refused(name, "a file", "none, or a link");
    }
    long size = Files.size(file);
    if (size != wanted.size() || size > LONGEST) {
      throw refused("size of " + name, wanted.size() + " bytes", size + " bytes");
    }
    byte[] bytes = Files.readAllBytes(file);
    String found = sha256(bytes);
    if (!found.equals(wanted.sha256())) {
      throw refused("sha256 of " + name, wanted.sha256(), found);
    }
    return bytes;
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }

  private static String firstLine(Exception e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("nothing");
  }

  private static Refused refused(String property, String wanted, String found) {
    return new Refused("ArtifactRefused", property, wanted, found);
  }
}
