package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.daemon.kubelet.PodGpus;
import dev.stasis.agent.daemon.node.Quarantine;
import dev.stasis.agent.daemon.probes.ProbeAnswers;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.api.v1alpha1.node.SelfTest;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.Supplier;

/**
 * What the agent carries operations out with.
 *
 * @param nodeName the node, as Kubernetes names it
 * @param agentId uid of the agent's pod, or an id of its own
 * @param stateDir the node's state folder
 * @param engine the node's engine
 * @param operations the operations of this node
 * @param pods pods, as the API server has them
 * @param stores where stores lie
 * @param containers finds containers of pods
 * @param gpus which GPUs a container was given
 * @param exec runs commands in containers
 * @param probes answers the kubelet while a workload stands still
 * @param selfTest what the node measured of itself, where it did
 * @param quarantine GPUs that are fenced off
 * @param frozenChanged told when something is frozen or thawed
 * @param metrics counts and times
 * @param traces tells a collector of what was done
 * @param transfers streams from and to other agents
 * @param hugePages whether they are switched on for the whole machine while the driver copies out
 * @param intervals how often and for how long it retries and waits
 * @param clock for times that people read
 */
public record AgentParts(
    String nodeName,
    String agentId,
    Path stateDir,
    NodeEngine engine,
    Operations operations,
    Pods pods,
    StoreRoots stores,
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
    Intervals intervals,
    Clock clock) {}
