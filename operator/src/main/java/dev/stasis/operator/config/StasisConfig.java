package dev.stasis.operator.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Settings of the operator: {@code stasis.operator.*}, or {@code STASIS_OPERATOR_*}. */
@ConfigMapping(prefix = "stasis.operator")
public interface StasisConfig {

  /** Namespace of the operations, of the Lease and of the operator itself. */
  String namespace();

  /** Identity of this operator in the leader election; the name of its pod. */
  String identity();

  /** Name of the Lease for leader election. */
  @WithDefault("stasis-operator")
  String leaseName();

  /** Resources that count as GPUs. Default: those of NVIDIA's device plugin, whole and shared. */
  @WithDefault("nvidia.com/gpu,nvidia.com/gpu.shared")
  List<String> gpuResources();

  /**
   * How long an agent must be silent, or a node gone, before requests stop waiting for it and its
   * resources are released. Default: 15 minutes, longer than a node takes to reboot.
   */
  @WithDefault("15m")
  Duration orphanAfter();

  /** Minimum interval between two writes of progress only. Default: a second, as in the agent. */
  @WithDefault("1s")
  Duration progressEvery();

  /**
   * Polling interval for states without an event: an agent that becomes silent, a disruption budget
   * that refuses. Default: 15 seconds, short compared with such states and long compared with the
   * cost of a poll.
   */
  @WithDefault("15s")
  Duration lookAgainEvery();

  /**
   * Maximum number of GpuCheckpoints in progress on one node. Default: 8, the usual number of GPUs;
   * the agent processes those on the same GPU one after the other.
   */
  @WithDefault("8")
  int checkpointsPerNode();

  /**
   * Maximum number of unfinished GpuCheckpoints of one namespace; newer ones wait. Default: 256,
   * more than a namespace has GPUs.
   */
  @WithDefault("256")
  int checkpointsPerNamespace();

  /**
   * How long after it became Ready, and after each verification, an artifact is verified. Default:
   * a week; zero: never.
   */
  @WithDefault("168h")
  Duration verifyEvery();

  /** Collector of traces, http://HOST:4318, by OTLP over HTTP. Default: none, and no traces. */
  Optional<String> tracesEndpoint();

  /** Maximum numbers of pods that are moved at the same time. */
  Migrations migrations();

  /** Limits of migrations: a waiting one reports that, and they proceed in order. */
  interface Migrations {

    /** In the whole cluster. Default: 16. */
    @WithDefault("16")
    int perCluster();

    /**
     * In one namespace. Default: 8, half of those in the cluster, so that other namespaces can
     * migrate pods even while one has migrations with targets that are never scheduled.
     */
    @WithDefault("8")
    int perNamespace();

    /** Migrations away from one node. Default: 2, so that each has enough of its network. */
    @WithDefault("2")
    int perSourceNode();

    /** Migrations to one node. Default: 2. */
    @WithDefault("2")
    int perTargetNode();
  }

  /** The holder of a target. */
  Holder holder();

  /** Of a container that waits for a restore. */
  interface Holder {

    /** Image with stasis-runtime. The chart sets the matching one. */
    @WithDefault("stasis/runtime:0.1.0")
    String image();

    /** Copies stasis-runtime into the target's folder. */
    @WithDefault("/stasis-runtime,install,--dir,/.stasis")
    List<String> command();

    /**
     * Containers that an admission webhook adds to every pod again, so that they are not copied
     * into a target. Default: those of the usual service meshes and of Vault.
     */
    @WithDefault(
        "istio-proxy,istio-init,istio-validation,linkerd-proxy,linkerd-init,"
            + "linkerd-network-validator,vault-agent,vault-agent-init,consul-dataplane,"
            + "consul-connect-inject-init")
    Set<String> injected();
  }
}
