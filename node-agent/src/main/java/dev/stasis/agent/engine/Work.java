package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.agent.process.ProcessId;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A recorded operation, as stored in the journal of its container: enough for another agent, or a
 * user without an agent, to thaw the workload, and for another agent to complete the operation.
 *
 * @param format the journal's version
 * @param bootId the boot during which it was written; in another boot every process of it is gone
 * @param id the operation's id
 * @param owner the requester, for users
 * @param kind the kind of operation
 * @param after what was requested for a frozen workload
 * @param heldUntilDecided whether a held workload may only be thawed or ended by an order or a user
 * @param phase its progress
 * @param since when the freeze began; before, when the operation began
 * @param containerId the container
 * @param init the workload's first process
 * @param cuda the processes that hold GPU state
 * @param tree the processes that were stopped; empty while they run
 * @param stoppedBefore processes of the tree that were already stopped
 * @param regionJournals the journals of moved regions
 * @param stage the folder with staged regions; null if nothing is staged
 * @param artifactStage the artifact's staging folder; null if there is none
 * @param artifact the path of the published artifact, which includes what was staged there; null if
 *     there is none
 * @param children helpers that outlive the agent (criu, mover)
 * @param offloaded processes with large allocations that the keeper took over, or may have taken
 *     over
 * @param operation the operation as its requester describes it, which the engine does not read;
 *     null if a user started it
 * @param lockUntil until when a Lock of this or an earlier agent may still lock a process; null if
 *     none was begun or all were answered
 * @param copying whether a Checkpoint or Restore of this or an earlier agent may still copy
 */
public record Work(
    int format,
    String bootId,
    String id,
    String owner,
    Kind kind,
    After after,
    boolean heldUntilDecided,
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
    List<ProcessId> children,
    @Nullable List<Offloaded> offloaded,
    @Nullable JsonNode operation,
    @Nullable Instant lockUntil,
    boolean copying) {

  /** The version that this agent writes while no memory is offloaded. */
  public static final int FORMAT = 1;

  /** The version otherwise: an agent that cannot reload memory must not thaw the workload. */
  static final int WITH_OFFLOADED_MEMORY = 2;

  /** The prefix of ids of operations that a user started: no agent knows their purpose. */
  public static final String BY_HAND = "by-hand-";

  public Work {
    // An older journal without them would be read as null.
    Stream.of(bootId, id, owner, kind, after, phase, since, containerId, init)
        .forEach(Objects::requireNonNull);
    cuda = List.copyOf(cuda);
    tree = List.copyOf(tree);
    stoppedBefore = List.copyOf(stoppedBefore);
    regionJournals = List.copyOf(regionJournals);
    children = List.copyOf(children);
    offloaded = offloaded == null ? List.of() : List.copyOf(offloaded);
    operation = operation == null || operation.isNull() ? null : operation;
  }

  /** An operation that has not touched any process. */
  Work(
      String bootId,
      String id,
      String owner,
      Kind kind,
      After after,
      boolean heldUntilDecided,
      Phase phase,
      Instant since,
      String containerId,
      ProcessId init,
      @Nullable String artifactStage,
      @Nullable String artifact) {
    this(
        FORMAT,
        bootId,
        id,
        owner,
        kind,
        after,
        heldUntilDecided,
        phase,
        since,
        containerId,
        init,
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        null,
        artifactStage,
        artifact,
        List.of(),
        null,
        null,
        null,
        false);
  }

  @Override
  public List<Offloaded> offloaded() {
    return Objects.requireNonNull(offloaded);
  }

  /**
   * Returns what is known about a container with an unreadable journal.
   *
   * @param containerId the name of the journal's folder
   * @param why the problem of the journal
   * @param since when it was last written
   */
  static Work unknown(String containerId, String why, Instant since) {
    return new Work(
        "unknown",
        containerId,
        why,
        Kind.FREEZE,
        After.RESUME,
        false,
        Phase.UNKNOWN,
        since,
        containerId,
        new ProcessId(Integer.MAX_VALUE, 0),
        null,
        null);
  }

  /** Returns whether a user wants it to be frozen: no component thaws it then. */
  public boolean isKeptByHand() {
    return id.startsWith(BY_HAND) && (phase == Phase.SUSPENDED || phase == Phase.HELD);
  }

  /**
   * Returns whether a copy of it may run elsewhere: then no component thaws it, even if something
   * happened to its operation.
   */
  public boolean mayRunElsewhere() {
    return heldUntilDecided && phase == Phase.HELD;
  }

  /** The kind of operation. */
  public enum Kind {
    /** Its workload is frozen: undone by a thaw. */
    FREEZE,
    /**
     * A workload is restored in it: undone by ending the restored processes, since only the
     * artifact is complete.
     */
    RESTORE
  }

  /** The progress of an operation. */
  public enum Phase {
    /**
     * Being frozen, thawed or restored by an agent that holds the container's lock. Next: any
     * other, or the journal is deleted.
     */
    WORKING,
    /**
     * Thawed and running; files are still being written, and a successor completes or removes them.
     * Or restored and verified: a successor leaves it running. Next: the journal is deleted.
     */
    PUBLISHING,
    /** Checkpointed in memory, waiting for its resume. Next: WORKING. */
    SUSPENDED,
    /**
     * Published and kept frozen until its pod is removed or it is thawed. Next: WORKING, ENDING.
     */
    HELD,
    /**
     * The caller has decided: the tree is being ended and must not be thawed. Next: the journal is
     * deleted.
     */
    ENDING,
    /**
     * Its journal is unreadable, or of a newer version: never written, and nothing is done with the
     * workload. Next: a user decides.
     */
    UNKNOWN
  }

  Work withOperation(JsonNode next) {
    return with(copy -> copy.operation = next);
  }

  Work withSince(Instant next) {
    return with(copy -> copy.since = next);
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

  Work withOffloaded(List<Offloaded> next, @Nullable String nextStage) {
    return with(
        copy -> {
          copy.offloaded = next;
          copy.stage = nextStage;
        });
  }

  Work withLockUntil(@Nullable Instant next) {
    return with(copy -> copy.lockUntil = next);
  }

  Work withCopying(boolean next) {
    return with(copy -> copy.copying = next);
  }

  Work withChild(ProcessId child) {
    return with(
        copy -> copy.children = Stream.concat(children.stream(), Stream.of(child)).toList());
  }

  Work withChildren(List<ProcessId> next) {
    return with(copy -> copy.children = next);
  }

  private Work with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.work();
  }

  /** The fields that change during the operation; the others keep their initial values. */
  private static final class Copy {

    private final Work of;
    private Phase phase;
    private Instant since;
    private List<CudaProcess> cuda;
    private List<ProcessId> tree;
    private List<ProcessId> stoppedBefore;
    private List<String> regionJournals;
    private @Nullable String stage;
    private List<ProcessId> children;
    private List<Offloaded> offloaded;
    private @Nullable JsonNode operation;
    private @Nullable Instant lockUntil;
    private boolean copying;

    Copy(Work of) {
      this.of = of;
      this.phase = of.phase;
      this.since = of.since;
      this.cuda = of.cuda;
      this.tree = of.tree;
      this.stoppedBefore = of.stoppedBefore;
      this.regionJournals = of.regionJournals;
      this.stage = of.stage;
      this.children = of.children;
      this.offloaded = of.offloaded();
      this.operation = of.operation;
      this.lockUntil = of.lockUntil;
      this.copying = of.copying;
    }

    Work work() {
      return new Work(
          offloaded.isEmpty() ? FORMAT : WITH_OFFLOADED_MEMORY,
          of.bootId,
          of.id,
          of.owner,
          of.kind,
          of.after,
          of.heldUntilDecided,
          phase,
          since,
          of.containerId,
          of.init,
          cuda,
          tree,
          stoppedBefore,
          regionJournals,
          stage,
          of.artifactStage,
          of.artifact,
          children,
          offloaded,
          operation,
          lockUntil,
          copying);
    }
  }
}
