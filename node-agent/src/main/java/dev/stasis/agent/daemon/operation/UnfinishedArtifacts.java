package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StageListener;
import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.SendQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The artifacts that this agent is writing, and the operations that send one of them. */
final class UnfinishedArtifacts {

  private final Map<Path, Unfinished> making = new HashMap<>();
  private final List<Waiting> waiting = new ArrayList<>();

  /**
   * An operation that is to send an artifact.
   *
   * @param owner uid of the object to which the artifact must belong
   */
  private record Waiting(Path artifact, String owner, SendQueue outbound) {}

  /**
   * An artifact is about to be written.
   *
   * @param artifact its future path
   * @param owner uid of its object
   */
  synchronized Unfinished begin(Path artifact, String owner) {
    Unfinished begun = new Unfinished(owner);
    making.put(artifact, begun);
    waiting.stream()
        .filter(one -> one.artifact().equals(artifact) && one.owner().equals(owner))
        .forEach(one -> begun.follow(one.outbound()));
    return begun;
  }

  /** The artifact is no longer being written. */
  synchronized void end(Path artifact, Unfinished ended) {
    making.remove(artifact, ended);
  }

  /** Sends an artifact that is being written, or will be. */
  synchronized void follow(Path artifact, String owner, SendQueue outbound) {
    waiting.add(new Waiting(artifact, owner, outbound));
    Unfinished now = making.get(artifact);
    if (now != null && now.owner().equals(owner)) {
      now.follow(outbound);
    }
  }

  /** It is no longer sent. */
  synchronized void forget(SendQueue outbound) {
    waiting.removeIf(one -> Objects.equals(one.outbound(), outbound));
  }

  /**
   * An artifact that is being written. Its senders receive the final parts, including those from
   * before they subscribed. A failing sender does not end the freeze.
   */
  static final class Unfinished implements StageListener {

    private final String owner;
    private final List<Follower> followers = new CopyOnWriteArrayList<>();
    private final Map<Path, Long> grown = new LinkedHashMap<>();
    private final List<Path> finished = new ArrayList<>();
    private @Nullable Path folder;

    private record Follower(SendQueue outbound, ArtifactFeed feed) {}

    /** An event for a feed. */
    private interface Event {
      void to(ArtifactFeed feed) throws IOException;
    }

    /**
     * An artifact without any file yet.
     *
     * @param owner uid of its object
     */
    Unfinished(String owner) {
      this.owner = owner;
    }

    String owner() {
      return owner;
    }

    /** Sends it, from its beginning to its end or failure. */
    synchronized void follow(SendQueue outbound) {
      Follower follower = new Follower(outbound, new ArtifactFeed(outbound));
      followers.add(follower);
      Path known = folder;
      if (known != null) {
        tell(follower, feed -> feed.begins(known));
      }
      grown.forEach((file, bytes) -> tell(follower, feed -> feed.grew(file, bytes)));
      finished.forEach(sub -> tell(follower, feed -> feed.finished(sub)));
    }

    @Override
    public synchronized void begins(Path staging) {
      folder = staging;
      tellAll(feed -> feed.begins(staging));
    }

    @Override
    public synchronized void grew(Path file, long bytes) {
      grown.put(file, bytes);
      tellAll(feed -> feed.grew(file, bytes));
    }

    @Override
    public synchronized void finished(Path sub) {
      finished.add(sub);
      tellAll(feed -> feed.finished(sub));
    }

    synchronized void published(Path artifact) {
      tellAll(feed -> feed.whole(artifact));
      followers.clear();
    }

    /**
     * It will not be published. Does not wait for an event that is being reported: that reads the
     * store, which may not respond, and the workload is frozen.
     */
    void abandoned(String why) {
      for (Follower follower : followers) {
        follower.outbound().fail(why);
        followers.remove(follower);
      }
    }

    private void tellAll(Event event) {
      followers.forEach(follower -> tell(follower, event));
    }

    private static void tell(Follower follower, Event event) {
      try {
        event.to(follower.feed());
      } catch (IOException | RuntimeException e) {
        follower.outbound().fail("the unfinished artifact: " + e);
      }
    }
  }
}
