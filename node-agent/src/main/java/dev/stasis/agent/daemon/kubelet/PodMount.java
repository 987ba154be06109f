package dev.stasis.agent.daemon.kubelet;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A mount that the kubelet asked for.
 *
 * @param hostPath the folder or file on the host
 * @param containerPath where the container sees it
 * @param readOnly whether it may only be read there
 * @param emptyDir the name of the pod's emptyDir that it is; empty for everything else
 */
public record PodMount(
    Path hostPath, String containerPath, boolean readOnly, Optional<String> emptyDir) {}
