package dev.stasis.agent.engine;

import dev.stasis.agent.layer.TargetVolumes;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request for a restore.
 *
 * @param id the operation's id
 * @param owner the requester, for users
 * @param namespace the requesting namespace; an artifact of another one is refused
 * @param artifact the artifact's folder
 * @param digest the artifact's required digest; null for any
 * @param target the waiting container: its id, a unique prefix of it, or a pid
 * @param options further options
 * @param volumes the volumes of the target; only the pod's own ones are replaced
 */
public record RestoreRequest(
    String id,
    String owner,
    @Nullable String namespace,
    Path artifact,
    @Nullable String digest,
    String target,
    Options options,
    TargetVolumes volumes) {

  /** A restore outside Kubernetes, where a container has no emptyDirs. */
  public RestoreRequest(
      String id,
      String owner,
      @Nullable String namespace,
      Path artifact,
      @Nullable String digest,
      String target,
      Options options) {
    this(id, owner, namespace, artifact, digest, target, options, TargetVolumes.none());
  }

  /**
   * Options of a restore.
   *
   * @param tcp handling of the TCP connections in the image
   * @param memoryWait how long to wait until the device memory is free, and before that the host
   *     memory
   * @param threads copying and hashing threads
   */
  public record Options(CheckpointRequest.Tcp tcp, Duration memoryWait, int threads) {

    /**
     * TCP connections closed, since another container has another address; five minutes for memory.
     */
    public static Options defaults() {
      return new Options(
          CheckpointRequest.Tcp.CLOSE,
          Duration.ofMinutes(5),
          Math.max(1, Runtime.getRuntime().availableProcessors()));
    }
  }
}
