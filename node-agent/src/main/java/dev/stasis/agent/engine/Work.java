package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
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

  /** What ids of operations begin with that a person began: no agent knows what they are for. */
  public static final String BY_HAND = "by-hand-";

  public Work {
    // A journal without them would be read as null.
    Stream.of(bootId, id, owner, kind, after, phase, since, containerId, init)
        .forEach(Objects::requireNonNull);
    cuda = List.copyOf(cuda);
    tree = List.copyOf(tree);
    stoppedBefore = List.copyOf(stoppedBefore);
    regionJournals = List.copyOf(regionJournals);
    children = List.copyOf(children);
  }

  /**
   * Returns what is known about a container whose journal cannot be read.
   *
   * @param containerId the name of the journal's folder
   * @param why what is wrong with the journal
   * @param since when it was written last
   */
  static Work unknown(String containerId, String why, Instant since) {
    return new Work(
        FORMAT,
        "unknown",
        containerId,
        why,
        Kind.FREEZE,
        After.RESUME,
        Phase.UNKNOWN,
        since,
        containerId,
        new ProcessId(Integer.MAX_VALUE, 0),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        null,
        null,
        null,
        List.of());
  }

  /** Whether a person means it to stand still: nobody else brings it back. */
  public boolean isKeptByHand() {
    return id.startsWith(BY_HAND) && (phase == Phase.SUSPENDED || phase == Phase.HELD);
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
     * Thawed and running; files are still being written, and a successor only removes them. Or
     * restored and proven: a successor lets it be. Next: the journal goes.
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
    ENDING,
    /**
     * Its journal cannot be read, or is of a newer version: never written, and nothing is done with
     * the workload. Next: a person decides.
     */
    UNKNOWN
  }

  Work withPhase(Phase next) {
    return with(copy -> copy.phase = next);
  }

  Work withCuda(List<CudaProcess> next) {
    return with(copy -> copy.cuda = next);
  }

  Work withTree(List<ProcessId> next, List<ProcessId> before) {
    return with(
        copy -> {
          copy.tree = next;
          copy.stoppedBefore = before;
        });
  }

  Work withRegions(List<String> journals, @Nullable String nextStage) {
    return with(
        copy -> {
          copy.regionJournals = journals;
          copy.stage = nextStage;
        });
  }

  Work withArtifactStage(@Nullable String next) {
    return with(copy -> copy.artifactStage = next);
  }

  Work withChild(ProcessId child) {
    return with(
        copy -> copy.children = Stream.concat(children.stream(), Stream.of(child)).toList());
  }

  Work withoutChildren() {
    return with(copy -> copy.children = List.of());
  }

  private Work with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.work();
  }

  /** What changes while the work goes on; the rest stays as it was begun. */
  private static final class Copy {

    private final Work of;
    private Phase phase;
    private List<CudaProcess> cuda;
    private List<ProcessId> tree;
    private List<ProcessId> stoppedBefore;
    private List<String> regionJournals;
    private @Nullable String stage;
    private @Nullable String artifactStage;
    private List<ProcessId> children;

    Copy(Work of) {
      this.of = of;
      this.phase = of.phase;
      this.cuda = of.cuda;
      this.tree = of.tree;
      this.stoppedBefore = of.stoppedBefore;
      this.regionJournals = of.regionJournals;
      this.stage = of.stage;
      this.artifactStage = of.artifactStage;
      this.children = of.children;
    }

    Work work() {
      return new Work(
          of.format,
          of.bootId,
          of.id,
          of.owner,
          of.kind,
          of.after,
          phase,
          of.since,
          of.containerId,
          of.init,
          cuda,
          tree,
          stoppedBefore,
          regionJournals,
          stage,
          artifactStage,
          of.artifact,
          children);
    }
  }
}
