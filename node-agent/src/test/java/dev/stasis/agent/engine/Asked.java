package dev.stasis.agent.engine;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.Options;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request for a checkpoint as a test wants it.
 *
 * @param store null for a suspend in memory
 */
record Asked(
    String container,
    @Nullable Path store,
    After after,
    DataPathChoice path,
    StagePlace stage,
    Duration lockTimeout,
    boolean thp,
    boolean peers,
    boolean restorable,
    Set<String> packed) {

  /** A checkpoint after which the workload goes on; as the API's defaults have it. */
  static Asked of(EngineLab lab, GpuContainer container) {
    Options usual = Options.defaults();
    return new Asked(
        container.id(),
        lab.store(),
        After.RESUME,
        usual.dataPath(),
        usual.stagePlace(),
        usual.lockTimeout(),
        usual.thpAlways(),
        usual.nothingShared(),
        false,
        Set.of());
  }

  Asked to(@Nullable Path other) {
    return new Asked(
        container, other, after, path, stage, lockTimeout, thp, peers, restorable, packed);
  }

  Asked after(After other) {
    return new Asked(
        container, store, other, path, stage, lockTimeout, thp, peers, restorable, packed);
  }

  Asked by(DataPathChoice other) {
    return new Asked(
        container, store, after, other, stage, lockTimeout, thp, peers, restorable, packed);
  }

  Asked staged(StagePlace other) {
    return new Asked(
        container, store, after, path, other, lockTimeout, thp, peers, restorable, packed);
  }

  Asked lockWithin(Duration other) {
    return new Asked(container, store, after, path, stage, other, thp, peers, restorable, packed);
  }

  Asked withHugePages() {
    return new Asked(
        container, store, after, path, stage, lockTimeout, true, peers, restorable, packed);
  }

  Asked nothingShared() {
    return new Asked(
        container, store, after, path, stage, lockTimeout, thp, true, restorable, packed);
  }

  Asked requiringRestorable() {
    return new Asked(container, store, after, path, stage, lockTimeout, thp, peers, true, packed);
  }

  Asked packing(String... mounts) {
    return new Asked(
        container, store, after, path, stage, lockTimeout, thp, peers, restorable, Set.of(mounts));
  }

  CheckpointRequest request() {
    String id = UUID.randomUUID().toString();
    Options usual = Options.defaults();
    return new CheckpointRequest(
        id,
        "a-" + id.substring(0, 8),
        "test",
        null,
        null,
        container,
        store,
        after,
        new Options(
            lockTimeout,
            stage,
            path,
            usual.tcp(),
            thp,
            peers,
            usual.threads(),
            usual.heldUntilDecided(),
            restorable),
        null,
        packed,
        packed,
        null,
        Map.of());
  }
}
