package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.daemon.kubelet.PodGpus;
import dev.stasis.agent.daemon.node.Quarantine;
import dev.stasis.agent.daemon.probes.ProbeAnswers;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.node.SelfTest;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The dependencies of the operations.
 *
 * @param nodeName the node's name in Kubernetes
 * @param agentId uid of the agent's pod, or a generated id
 * @param cluster the API server
 * @param gpus finds the GPUs of a container
 * @param exec runs commands in containers
 * @param probes answers the kubelet's probes during a freeze
 * @param selfTest the node's measurements, if there are any
 * @param quarantine the fenced GPUs
 * @param frozenChanged called when a workload is frozen or thawed
 * @param metrics counters and timers
 * @param transfers streams from and to other agents
 * @param hugePages whether they are enabled for the whole machine while the driver copies out
 * @param verifyMibPerSecond how fast artifacts are verified, in MiB a second
 * @param intervals intervals of retries and waits
 * @param clock for times shown to users
 */
public record AgentParts(
    String nodeName,
    String agentId,
    NodeEngine engine,
    ClusterApi cluster,
    PodContainers containers,
    PodGpus gpus,
    ContainerExec exec,
    ProbeAnswers probes,
    Supplier<SelfTest> selfTest,
    Quarantine quarantine,
    Runnable frozenChanged,
    OperationMetrics metrics,
    OperationTraces traces,
    Transfers transfers,
    boolean hugePages,
    int verifyMibPerSecond,
    Intervals intervals,
    Clock clock) {

  /** Returns the engine's record of an operation. */
  Optional<Work> work(String uid) {
    return engine.thaw().inHand().stream().filter(one -> one.id().equals(uid)).findFirst();
  }
}
