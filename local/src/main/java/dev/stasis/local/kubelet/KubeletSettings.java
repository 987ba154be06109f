package dev.stasis.local.kubelet;

import dev.stasis.local.gpu.GpuSupply;
import dev.stasis.local.image.LocalImages;
import java.nio.file.Path;

/**
 * @param nodeName name of the node
 * @param folder folder of the pods; not on an overlay, since their root file systems are overlays
 * @param cgroup name of the cgroup that holds all pods
 * @param images the images that pods can run
 * @param gpus the GPUs that pods can have
 */
public record KubeletSettings(
    String nodeName, Path folder, String cgroup, LocalImages images, GpuSupply gpus) {}
