package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StageListener;
import dev.stasis.agent.stream.ArtifactFeed;
import dev.stasis.agent.stream.Outbound;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An artifact in the making. Whoever sends it hears what of it is final, also what was so before he
 * asked. A sender that fails is no matter of the freeze.
 */
final class UnfinishedArtifact implements StageListener {

  private final String owner;
  private final List<Follower> followers = new ArrayList<>();
  private final Map<Path, Long> grown = new LinkedHashMap<>();
  private final List<Path> finished = new ArrayList<>();
  private @Nullable Path folder;

  private record Follower(Outbound outbound, ArtifactFeed feed) {}

  /** Something that is told to a feed. */
  private interface Word {
    void to(ArtifactFeed feed) throws IOException;
  }

  /**
   * One of which nothing is there yet.
   *
   * @param owner uid of the object that it is made for
   */
  UnfinishedArtifact(String owner) {
    this.owner = owner;
  }

  String owner() {
    return owner;
  }

  /** Sends it on, from its beginning to whatever becomes of it. */
  synchronized void follow(Outbound outbound) {
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

  /** It is published there. */
  synchronized void published(Path artifact) {
    tellAll(feed -> feed.whole(artifact));
    followers.clear();
  }

  /** It will not be published, or not in time for anybody. */
  synchronized void abandoned(String why) {
    followers.forEach(follower -> follower.outbound().fail(why));
    followers.clear();
  }

  private void tellAll(Word word) {
    followers.forEach(follower -> tell(follower, word));
  }

  private static void tell(Follower follower, Word word) {
    try {
      word.to(follower.feed());
    } catch (IOException | RuntimeException e) {
      follower.outbound().fail("the artifact that is being made: " + e);
    }
  }
}
