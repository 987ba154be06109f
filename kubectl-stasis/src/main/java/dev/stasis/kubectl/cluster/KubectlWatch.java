package dev.stasis.kubectl.cluster;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A watch of one object, which ends when the object is deleted. */
final class KubectlWatch implements Watching {

  /**
   * kubectl watches one object from "now", after it has read it: a deletion in between is no event.
   */
  static final Duration LOOK_AFTER = Duration.ofSeconds(10);

  private sealed interface Word {
    record Seen(Resource object) implements Word {}

    record Failed(ClusterFailure why) implements Word {}
  }

  private final String what;
  private final Supplier<Optional<Resource>> look;
  private final Duration lookAfter;
  private final WatchReader reader;
  private final BlockingQueue<Word> words = new LinkedBlockingQueue<>();
  private Duration silent = Duration.ZERO;

  /**
   * @param start starts {@code kubectl get --watch}
   * @param look reads the object; empty if it does not exist
   * @param lookAfter how long no event may come before the object is read
   */
  KubectlWatch(
      Supplier<Process> start,
      JsonReader json,
      String what,
      Supplier<Optional<Resource>> look,
      Duration lookAfter) {
    this.what = what;
    this.look = look;
    this.lookAfter = lookAfter;
    this.reader = new WatchReader(start, json, what, new Reader());
    reader.begin();
  }

  @Override
  public Optional<Resource> next(Duration atMost) throws InterruptedException {
    Word word = words.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (word instanceof Word.Failed failed) {
      throw failed.why();
    }
    silent = word == null ? silent.plus(atMost) : Duration.ZERO;
    if (silent.compareTo(lookAfter) >= 0) {
      silent = Duration.ZERO;
      return Optional.of(look.get().orElseThrow(this::deleted));
    }
    return word instanceof Word.Seen seen ? Optional.of(seen.object()) : Optional.empty();
  }

  @Override
  public void close() {
    reader.close();
  }

  private ClusterFailure deleted() {
    return new ClusterFailure(
        ClusterFailure.Why.NOT_FOUND, what + " was deleted in the meantime", "");
  }

  private final class Reader implements WatchReader.Listener {
    @Override
    public void event(String type, Resource object) {
      words.add(type.equals("DELETED") ? new Word.Failed(deleted()) : new Word.Seen(object));
    }

    @Override
    public void failed(ClusterFailure why) {
      // The object existed when the wait began.
      boolean gone = why.why() == ClusterFailure.Why.NOT_FOUND;
      words.add(new Word.Failed(gone ? deleted() : why));
    }
  }
}
