package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.engine.ChildJvm;
import dev.stasis.agent.engine.EngineLab;
import dev.stasis.agent.engine.MortalEngine;
import dev.stasis.agent.testing.SimGpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import io.fabric8.kubernetes.api.model.Pod;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * An agent in a process of its own that dies as by kill -KILL at one moment: of a step of the
 * engine (BEFORE, AFTER, BEFORE_UNDO), of its capture (CAPTURED), or of a write to the API server
 * (BEFORE_WRITE, AFTER_WRITE of a phase).
 */
final class DaemonChild {

  private DaemonChild() {}

  /** Runs one until it is dead. */
  static void dies(AgentLab lab, String moment, String step) throws Exception {
    EngineLab engine = lab.engine();
    Path log = engine.folder().resolve("daemon-child.log");
    Process process =
        new ChildJvm(DaemonChild.class)
            .start(
                log,
                engine.state().toString(),
                engine.memoryStage().toString(),
                engine.folder().toString(),
                engine.gpus().folder().toString(),
                moment,
                step);
    try {
      if (!process.waitFor(FileCluster.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError(
            "an agent did not come to %s %s: %s".formatted(moment, step, Files.readString(log)));
      }
      if (process.exitValue() != MortalEngine.KILLED) {
        throw new AssertionError(
            "exit code of an agent that dies at %s %s: expected %d, got %d: %s"
                .formatted(
                    moment, step, MortalEngine.KILLED, process.exitValue(), Files.readString(log)));
      }
    } finally {
      process.destroyForcibly().onExit().join();
    }
  }

  public static void main(String[] args) throws Exception {
    Path state = Path.of(args[0]);
    Path folder = Path.of(args[2]);
    DriverWorker worker = EngineLab.worker(SimGpuNode.at(Path.of(args[3])), state);
    FileCluster cluster = new FileCluster(folder.resolve("cluster"), folder.resolve("store"));
    AgentParts parts =
        AgentLab.parts(
            cluster,
            new LabNode(folder.resolve("node")),
            state,
            new MortalEngine(args[4], args[5])
                .make(
                    EngineLab.settings(
                        SimGpuNode.at(Path.of(args[3])), state, Path.of(args[1]), folder),
                    worker,
                    Clock.systemUTC()),
            AgentLab.transfers(),
            false,
            AgentLab.BRIEF,
            new SimpleMeterRegistry());
    OperationAgent agent =
        new OperationAgent(
            new AgentParts(
                parts.nodeName(),
                parts.agentId(),
                parts.engine(),
                new MortalOperations(cluster, args[4], args[5]),
                parts.containers(),
                parts.gpus(),
                parts.exec(),
                parts.probes(),
                parts.selfTest(),
                parts.quarantine(),
                parts.frozenChanged(),
                parts.metrics(),
                parts.traces(),
                parts.transfers(),
                parts.hugePages(),
                parts.verifyMibPerSecond(),
                parts.intervals(),
                parts.clock()));
    agent.start();
    while (true) {
      LockSupport.parkNanos(Duration.ofMinutes(1).toNanos());
    }
  }

  /** Writes, and dies before or after one of the writes. */
  private record MortalOperations(FileCluster cluster, String moment, String phase)
      implements ClusterApi {

    @Override
    public List<GpuNodeOperation> operations() throws ApiUnreachable {
      return cluster.operations();
    }

    @Override
    public Optional<GpuNodeOperation> operation(String name) throws ApiUnreachable {
      return cluster.operation(name);
    }

    @Override
    public Written writeStatus(GpuNodeOperation operation) {
      boolean mine = phase.equals(String.valueOf(operation.getStatus().getPhase()));
      if (mine && moment.equals("BEFORE_WRITE")) {
        Runtime.getRuntime().halt(MortalEngine.KILLED);
      }
      Written written = cluster.writeStatus(operation);
      if (mine && moment.equals("AFTER_WRITE")) {
        Runtime.getRuntime().halt(MortalEngine.KILLED);
      }
      return written;
    }

    @Override
    public Optional<Pod> pod(String namespace, String name) throws ApiUnreachable {
      return cluster.pod(namespace, name);
    }

    @Override
    public StoreRoot store(String name) throws ApiUnreachable {
      return cluster.store(name);
    }

    @Override
    public AutoCloseable watch(Watcher watcher) {
      return cluster.watch(watcher);
    }
  }
}
