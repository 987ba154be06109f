package dev.stasis.agent.daemon;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Settings of the agent: {@code stasis.agent.*}, or {@code STASIS_AGENT_*}. If the command line has
 * a variable for the same setting ({@code STASIS_STATE_DIR}), it applies too.
 */
@ConfigMapping(prefix = "stasis.agent")
public interface AgentConfig {

  /** The node's name. Default: NODE_NAME. */
  String nodeName();

  /** The operator's namespace, which contains the operations. Default: POD_NAMESPACE. */
  String namespace();

  /** The agent's pod. Default: POD_NAME; none if it does not run in a pod. */
  Optional<String> pod();

  /**
   * Folder of journals and locks. Default: /run/stasis, on a tmpfs of the host, because they must
   * outlive the agent but not the boot.
   */
  Path stateDir();

  /** First destination of device memory. Default: below /dev/shm, the tmpfs of every host. */
  Path memoryStage();

  /**
   * A static criu. Default: the one of the agent's image, else the first in PATH. Without a criu
   * the agent reports that and can only thaw.
   */
  Optional<Path> criu();

  /**
   * Folder in which criu is installed for containers: on a file system of the host that allows
   * programs. Default: /var/lib/stasis/criu.
   */
  Path criuDir();

  /** The program stasis-runtime. Default: its path in the agent's image. */
  Path runtime();

  /**
   * The program stasis-keeper. Default: its path in the agent's image; without it every workload
   * takes the driver's data path.
   */
  Path keeper();

  /**
   * How long the process that keeps the driver initialized stays after its agent has gone. Default:
   * an agent is replaced within this time. The driver cannot be unloaded before it has passed.
   */
  @WithDefault("2m")
  Duration anchorGrace();

  /** Socket of the container runtime. Default: the first existing one of containerd and CRI-O. */
  Optional<Path> criSocket();

  /** The kubelet's folder. Default: the kubelet's default. */
  @WithDefault("/var/lib/kubelet")
  Path kubeletDir();

  /** Socket of the kubelet's pod-resources API. Default: below its folder. */
  Optional<Path> podResourcesSocket();

  /** Copying and hashing threads. Default: one for each core that the agent may use. */
  OptionalInt threads();

  /**
   * Address at which other agents reach this one for streams. Default: POD_IP, else the address of
   * this host.
   */
  Optional<String> transferAddress();

  /** The port for streams; 0 selects a free one. Default: the one that the chart's policy opens. */
  @WithDefault("8743")
  int transferPort();

  /**
   * Whether transparent huge pages are set to always for the whole machine while the driver copies
   * device memory out, and restored afterwards. Default: no.
   */
  @WithDefault("false")
  boolean hugePages();

  /**
   * Whether the tmpfs of the memory stage is set to give huge pages to programs that ask for them,
   * until the next boot. Default: yes.
   */
  @WithDefault("true")
  boolean stageHugePages();

  /**
   * Whether workloads are restored without the AppArmor profile of their container. Default: no; an
   * agent that cannot apply it refuses the restore, and an eviction that would need it.
   */
  @WithDefault("false")
  boolean restoreWithoutAppArmor();

  /**
   * How fast artifacts are verified in the background, in MiB a second. Default: 50, little for a
   * disk or a network of a GPU node; 48 GiB take a quarter of an hour.
   */
  @WithDefault("50")
  int verifyMibPerSecond();

  /** Collector of traces, http://HOST:4318, by OTLP over HTTP. Default: none, and no traces. */
  Optional<String> tracesEndpoint();

  /**
   * Interval of the agent's reports. Default: a minute; after three missing ones the operator
   * treats it as silent.
   */
  @WithDefault("1m")
  Duration heartbeatEvery();

  /**
   * How long an artifact without an object is kept. Default: an hour, longer than any restart of
   * the operator and any small clock difference.
   */
  @WithDefault("1h")
  Duration sweepGrace();
}
