package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Every pod of a namespace that there ever was, by a watch: what came between two looks too. */
final class PodsSeen implements Watcher<Pod>, AutoCloseable {

  private final Map<String, Pod> there = new HashMap<>();
  private final Set<String> all = new HashSet<>();
  private int most;
  private @Nullable WatcherException broken;
  private final Watch watch;

  private PodsSeen(Scenario scenario) {
    this.watch = scenario.admin().pods().inNamespace(scenario.namespace()).watch(this);
  }

  static PodsSeen from(Scenario scenario) {
    return new PodsSeen(scenario);
  }

  @Override
  public synchronized void eventReceived(Action action, Pod pod) {
    String uid = pod.getMetadata().getUid();
    all.add(uid);
    if (action == Action.DELETED) {
      there.remove(uid);
    } else {
      there.put(uid, pod);
    }
    most = Math.max(most, (int) there.values().stream().filter(PodsSeen::counts).count());
  }

  /** As a controller counts its own. */
  private static boolean counts(Pod pod) {
    String phase = pod.getStatus() == null ? "" : pod.getStatus().getPhase();
    return pod.getMetadata().getDeletionTimestamp() == null
        && !"Succeeded".equals(phase)
        && !"Failed".equals(phase)
        && pod.getMetadata().getOwnerReferences().stream()
            .map(OwnerReference::getController)
            .anyMatch(Boolean.TRUE::equals);
  }

  /** The most pods that a controller had at once. */
  synchronized int most() {
    verifyWhole();
    return most;
  }

  /** How many pods there were in all. */
  synchronized int all() {
    verifyWhole();
    return all.size();
  }

  /** Fails when the watch ended early: it may have missed a pod. */
  private void verifyWhole() {
    if (broken != null) {
      throw new AssertionError("the watch of the pods has ended", broken);
    }
  }

  @Override
  public synchronized void onClose(WatcherException cause) {
    // Thrown here it would end a thread of the client and fail no test.
    broken = cause;
  }

  @Override
  public void onClose() {
    // As it was told to.
  }

  @Override
  public void close() {
    watch.close();
  }
}
