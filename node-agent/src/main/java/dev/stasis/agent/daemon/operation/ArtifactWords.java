package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Obstacle;
import java.util.List;

/**
 * An artifact in the words of the API.
 *
 * @param nodeName this node
 * @param nodeLocal whether other nodes do not reach the store
 */
record ArtifactWords(String nodeName, boolean nodeLocal) {

  /**
   * What is said of one that is safe.
   *
   * @param sha256 the digest of its manifest
   */
  ArtifactStatus of(ArtifactReference reference, Manifest manifest, String sha256) {
    ArtifactStatus status = new ArtifactStatus();
    status.setStore(reference.store());
    status.setNode(nodeLocal ? nodeName : null);
    status.setLocation(reference.location());
    status.setBytes(manifest.sizes().bytes());
    status.setSize(HumanText.size(manifest.sizes().bytes()));
    status.setGpuBytes(manifest.sizes().gpuBytes());
    status.setSha256(sha256);
    Manifest.Image image = manifest.image();
    status.setImage(image == null ? null : image.digest());
    List<Obstacle> obstacles = manifest.notPortable();
    status.setNotPortable(
        obstacles == null
            ? null
            : obstacles.stream()
                .map(
                    it -> Faults.of(Faults.NOT_PORTABLE, it.property(), it.expected(), it.actual()))
                .toList());
    return status;
  }
}
