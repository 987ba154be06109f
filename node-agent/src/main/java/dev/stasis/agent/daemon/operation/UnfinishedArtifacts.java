package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.stream.Outbound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The artifacts that this agent is making, and who waits to send one of them. */
final class UnfinishedArtifacts {

  private final Map<Path, UnfinishedArtifact> making = new HashMap<>();
  private final List<Waiting> waiting = new ArrayList<>();

  /**
   * Somebody who wants to send an artifact.
   *
   * @param owner uid of the object for which it has to be made
   */
  private record Waiting(Path artifact, String owner, Outbound outbound) {}

  /**
   * One is about to be made.
   *
   * @param artifact where it will lie
   * @param owner uid of the object that it is made for
   */
  synchronized UnfinishedArtifact begin(Path artifact, String owner) {
    UnfinishedArtifact begun = new UnfinishedArtifact(owner);
    making.put(artifact, begun);
    waiting.stream()
        .filter(one -> one.artifact().equals(artifact) && one.owner().equals(owner))
        .forEach(one -> begun.follow(one.outbound()));
    return begun;
  }

  /** It is not being made any more. */
  synchronized void end(Path artifact, UnfinishedArtifact ended) {
    making.remove(artifact, ended);
  }

  /** Sends one that is being made, or that will be. */
  synchronized void follow(Path artifact, String owner, Outbound outbound) {
    waiting.add(new Waiting(artifact, owner, outbound));
    UnfinishedArtifact now = making.get(artifact);
    if (now != null && now.owner().equals(owner)) {
      now.follow(outbound);
    }
  }

  /** Nobody sends it any more. */
  synchronized void forget(Outbound outbound) {
    waiting.removeIf(one -> Objects.equals(one.outbound(), outbound));
  }
}
