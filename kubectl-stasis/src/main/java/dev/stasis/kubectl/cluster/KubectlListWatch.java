package dev.stasis.kubectl.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A watch of lists, one process each, because kubectl watches only one kind. Returns the last state
 * of a deleted object too, as kubectl prints it.
 */
final class KubectlListWatch implements Watching {

  /**
   * What a reader has seen.
   *
   * @param object the new state; null if the watch has failed
   */
  private record Seen(@Nullable Resource object, boolean isDeleted, @Nullable ClusterFailure why) {}

  private final Map<String, String> versions = new HashMap<>();
  private final List<WatchReader> readers = new ArrayList<>();
  private final BlockingQueue<Seen> changes = new LinkedBlockingQueue<>();

  /**
   * @param starts start {@code kubectl get --watch} by what it watches
   * @param known the objects that the user has seen: a watch begins with all that exist
   */
  KubectlListWatch(Map<String, Supplier<Process>> starts, JsonReader json, List<Resource> known) {
    known.forEach(one -> versions.put(one.uid(), version(one)));
    starts.forEach((what, start) -> readers.add(new WatchReader(start, json, what, new Reader())));
    readers.forEach(WatchReader::begin);
  }

  @Override
  public Optional<Resource> next(Duration atMost) throws InterruptedException {
    Seen change = changes.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    if (change == null) {
      return Optional.empty();
    }
    if (change.why() != null) {
      throw change.why();
    }
    Resource object = change.object() == null ? Resource.NONE : change.object();
    if (change.isDeleted()) {
      versions.remove(object.uid());
      return Optional.of(object);
    }
    String before = versions.put(object.uid(), version(object));
    return version(object).equals(before) ? Optional.empty() : Optional.of(object);
  }

  @Override
  public void close() {
    readers.forEach(WatchReader::close);
  }

  private static String version(Resource object) {
    return object.text("metadata.resourceVersion");
  }

  private final class Reader implements WatchReader.Listener {
    @Override
    public void event(String type, Resource object) {
      changes.add(new Seen(object, type.equals("DELETED"), null));
    }

    @Override
    public void failed(ClusterFailure why) {
      changes.add(new Seen(null, false, why));
    }
  }
}
