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

  /** Who this operator is in the election; the name of its pod. */
  String identity();

  /** Name of the Lease by which one operator of several leads. */
  @WithDefault("stasis-operator")
  String leaseName();

  /** Resources that count as GPUs. Default: those of NVIDIA's device plugin, whole and shared. */
  @WithDefault("nvidia.com/gpu,nvidia.com/gpu.shared")
  List<String> gpuResources();

  /**
   * How long an agent has to be silent, or a node gone, before nobody waits for it any more and
   * what belongs to it is released. Default: 15 minutes, longer than a node takes to start anew.
   */
  @WithDefault("15m")
  Duration orphanAfter();

  /**
   * Shortest time between two writes that only say how far something is. Default: a second, as the
   * agent's.
   */
  @WithDefault("1s")
  Duration progressEvery();

  /**
   * How often something is looked at again that tells nobody of its end: an agent that falls
   * silent, a disruption budget that refuses. Default: 15 seconds, small beside the times that such
   * things take and large beside what a look costs.
   */
  @WithDefault("15s")
  Duration lookAgainEvery();

  /**
   * How many GpuCheckpoints may be in the making on one node at a time. Default: 8, the GPUs of the
   * usual machine; the agent lets those on one GPU wait for each other.
   */
  @WithDefault("8")
  int checkpointsPerNode();

  /**
   * How many GpuCheckpoints of one namespace may be unfinished at a time; younger ones wait.
   * Default: 256, more than a namespace has GPUs.
   */
  @WithDefault("256")
  int checkpointsPerNamespace();

  /** Collector of traces, http://HOST:4318, by OTLP over HTTP. Default: none, and no traces. */
  Optional<String> tracesEndpoint();

  /** How many pods may be on the move at once. */
  Migrations migrations();

  /** Limits of migrations: each one that waits says so, and has its turn. */
  interface Migrations {

    /** In the whole cluster. Default: 16. */
    @WithDefault("16")
    int perCluster();

    /**
     * Of one namespace. Default: 8, half of those in the cluster, so that the pods of others are
     * moved even while one namespace has migrations whose targets are never scheduled.
     */
    @WithDefault("8")
    int perNamespace();

    /** Away from one node. Default: 2, so that each has a good part of its network. */
    @WithDefault("2")
    int perSourceNode();

    /** To one node. Default: 2. */
    @WithDefault("2")
    int perTargetNode();
  }

  /** The holder of a target. */
  Holder holder();

  /** Of a container that waits until a workload is restored into it. */
  interface Holder {

    /** Image that brings stasis-runtime. The chart names the one that belongs to it. */
    @WithDefault("stasis/runtime:0.1.0")
    String image();

    /** Puts stasis-runtime into the target's folder. */
    @WithDefault("/stasis-runtime,install,--dir,/.stasis")
    List<String> command();

    /**
     * Containers that an admission webhook adds to every pod again, so that they are not taken over
     * into a target. Default: those of the usual service meshes and of Vault.
     */
    @WithDefault(
        "istio-proxy,istio-init,istio-validation,linkerd-proxy,linkerd-init,"
            + "linkerd-network-validator,vault-agent,vault-agent-init,consul-dataplane,"
            + "consul-connect-inject-init")
    Set<String> injected();
  }
}
