package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One piece of work in hand, as its journal holds it: enough for another agent, or a person without
 * one, to bring the workload back.
 *
 * @param format the journal's version
 * @param bootId the boot in which it was written; in another boot every process of it is gone
 * @param id the operation's id
 * @param owner for whom: shown to people
 * @param kind what is done
 * @param after what was asked to become of a frozen workload
 * @param phase how far it is
 * @param since when the workload was touched first
 * @param containerId whose work
 * @param init the workload's first process
 * @param cuda the processes that hold GPU state
 * @param tree the processes that were told to stop; empty while they run
 * @param stoppedBefore those of the tree that were stopped before we came
 * @param regionJournals the journals of moved regions
 * @param stage the folder that holds staged regions; null when nothing is staged
 * @param artifactStage the artifact's own staging folder; null when there is none
 * @param artifact where the artifact lies once it is published, and with it what was staged there;
 *     null when there is none
 * @param children helpers of ours that outlive us (criu, mover)
 */
public record Work(
    int format,
    String bootId,
    String id,
    String owner,
    Kind kind,
    After after,
    Phase phase,
    Instant since,
    String containerId,
    ProcessId init,
    List<CudaProcess> cuda,
    List<ProcessId> tree,
    List<ProcessId> stoppedBefore,
    List<String> regionJournals,
    @Nullable String stage,
    @Nullable String artifactStage,
    @Nullable String artifact,
    List<ProcessId> children) {

  /** The version written by this agent. */
  public static final int FORMAT = 1;

  public Work {
    cuda = List.copyOf(cuda);
    tree = List.copyOf(tree);
    stoppedBefore = List.copyOf(stoppedBefore);
    regionJournals = List.copyOf(regionJournals);
    children = List.copyOf(children);
  }

  /** What is done with the container. */
  public enum Kind {
    /** Its workload is frozen: undone by a thaw. */
    FREEZE,
    /**
     * A workload is brought back in it: undone by ending what came back, since only the artifact is
     * whole.
     */
    RESTORE
  }

  /** How far a piece of work is. */
  public enum Phase {
    /**
     * Being frozen, thawed or restored by an agent that holds the container's lock. Next: any
     * other, or the journal goes.
     */
    WORKING,
    /**
     * Thawed and running; files are still being written. A successor only removes them. Next: the
     * journal goes.
     */
    PUBLISHING,
    /** Checkpointed in memory, waiting for its resume. Next: WORKING. */
    SUSPENDED,
    /**
     * Published and kept frozen until its pod is removed or it is thawed. Next: WORKING, ENDING.
     */
    HELD,
    /**
     * The caller gave the word: the tree is being ended and nothing may thaw it. Next: the journal
     * goes.
     */
    ENDING
  }

  Work withPhase(Phase next) {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        next,
        since,
        containerId,
        init,
        cuda,
        tree,
        stoppedBefore,
        regionJournals,
        stage,
        artifactStage,
        artifact,
        children);
  }

  Work withCuda(List<CudaProcess> next) {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        next,
        tree,
        stoppedBefore,
        regionJournals,
        stage,
        artifactStage,
        artifact,
        children);
  }

  Work withTree(List<ProcessId> next, List<ProcessId> before) {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        cuda,
        next,
        before,
        regionJournals,
        stage,
        artifactStage,
        artifact,
        children);
  }

  Work withRegions(List<String> journals, @Nullable String nextStage) {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        cuda,
        tree,
        stoppedBefore,
        journals,
        nextStage,
        artifactStage,
        artifact,
        children);
  }

  Work withArtifactStage(@Nullable String next) {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        cuda,
        tree,
        stoppedBefore,
        regionJournals,
        stage,
        next,
        artifact,
        children);
  }

  Work withChild(ProcessId child) {
    List<ProcessId> next = new ArrayList<>(children);
    next.add(child);
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        cuda,
        tree,
        stoppedBefore,
        regionJournals,
        stage,
        artifactStage,
        artifact,
        next);
  }

  Work withoutChildren() {
    return new Work(
        format,
        bootId,
        id,
        owner,
        kind,
        after,
        phase,
        since,
        containerId,
        init,
        cuda,
        tree,
        stoppedBefore,
        regionJournals,
        stage,
        artifactStage,
        artifact,
        List.of());
  }
}
