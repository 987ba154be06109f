package dev.stasis.agent.daemon;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Settings of the agent: {@code stasis.agent.*}, or {@code STASIS_AGENT_*}. Where the command line
 * has a variable for the same thing ({@code STASIS_STATE_DIR}), that one counts too.
 */
@ConfigMapping(prefix = "stasis.agent")
public interface AgentConfig {

  /** The node, as Kubernetes names it. Default: what NODE_NAME says. */
  String nodeName();

  /** The operator's namespace, in which operations lie. Default: what POD_NAMESPACE says. */
  String namespace();

  /** The agent's pod. Default: what POD_NAME says; none where it is no pod. */
  Optional<String> pod();

  /**
   * Journals and locks. Default: /run/stasis, on a tmpfs of the host, since they have to outlive
   * the agent and must not outlive the boot.
   */
  Path stateDir();

  /**
   * Where device memory is put at first. Default: below /dev/shm, the tmpfs that every host has.
   */
  Path memoryStage();

  /**
   * A static criu. Default: the one of the agent's image, else the first in PATH; without any the
   * agent says so and can only thaw.
   */
  Optional<Path> criu();

  /**
   * Where criu is made ready for containers: on a file system of the host that runs programs.
   * Default: /var/lib/stasis/criu.
   */
  Path criuDir();

  /** The program stasis-runtime. Default: where the agent's image has it. */
  Path runtime();

  /** Where the container runtime listens. Default: the first that is there, containerd or CRI-O. */
  Optional<Path> criSocket();

  /** The kubelet's folder. Default: the kubelet's own. */
  @WithDefault("/var/lib/kubelet")
  Path kubeletDir();

  /** Where the kubelet lists devices. Default: below its folder. */
  Optional<Path> podResourcesSocket();

  /** Copying and hashing threads. Default: one for each core that the agent may use. */
  OptionalInt threads();

  /**
   * Resources that count as GPUs; a star stands for any rest. Default: those of NVIDIA's plugin.
   */
  @WithDefault("nvidia.com/gpu,nvidia.com/gpu.shared,nvidia.com/mig-*")
  Set<String> gpuResources();

  /** Drivers of claims that give GPUs. Default: NVIDIA's. */
  @WithDefault("gpu.nvidia.com,mig.nvidia.com")
  Set<String> gpuDrivers();

  /**
   * Where other agents reach this one for streams. Default: what POD_IP says, else the address of
   * this host.
   */
  Optional<String> transferAddress();

  /** The port for streams; 0 takes a free one. Default: the one that the chart's policy opens. */
  @WithDefault("8743")
  int transferPort();

  /**
   * Whether transparent huge pages are set to always for the whole machine while the driver copies
   * device memory out, and put back behind it. Default: no.
   */
  @WithDefault("false")
  boolean hugePages();

  /**
   * Whether a workload may be restored without the AppArmor profile of its container, which the
   * agent cannot apply. Default: no; such a restore is refused, and so is an eviction that would
   * need it.
   */
  @WithDefault("false")
  boolean restoreWithoutAppArmor();

  /** Collector of traces, http://HOST:4318, by OTLP over HTTP. Default: none, and no traces. */
  Optional<String> tracesEndpoint();

  /**
   * How often the agent says that it is alive. Default: a minute; after three of them the operator
   * takes it for silent.
   */
  @WithDefault("1m")
  Duration heartbeatEvery();

  /**
   * How long an artifact without an object is kept. Default: an hour, beyond any restart of the
   * operator and any clock that is a little off.
   */
  @WithDefault("1h")
  Duration sweepGrace();
}
