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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A request for a checkpoint as a test wants it.
 *
 * @param store null for a suspend in memory
 * @param packed mounts whose files are packed
 * @param mounts those of its pod, each with its subPath
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
    Set<String> packed,
    Map<String, String> mounts) {

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
        Set.of(),
        container.volumes().stream().collect(Collectors.toMap(path -> path, path -> "")));
  }

  Asked to(@Nullable Path other) {
    return new Asked(
        container, other, after, path, stage, lockTimeout, thp, peers, restorable, packed, mounts);
  }

  Asked after(After other) {
    return new Asked(
        container, store, other, path, stage, lockTimeout, thp, peers, restorable, packed, mounts);
  }

  Asked by(DataPathChoice other) {
    return new Asked(
        container, store, after, other, stage, lockTimeout, thp, peers, restorable, packed, mounts);
  }

  Asked staged(StagePlace other) {
    return new Asked(
        container, store, after, path, other, lockTimeout, thp, peers, restorable, packed, mounts);
  }

  Asked lockWithin(Duration other) {
    return new Asked(
        container, store, after, path, stage, other, thp, peers, restorable, packed, mounts);
  }

  Asked withHugePages() {
    return new Asked(
        container, store, after, path, stage, lockTimeout, true, peers, restorable, packed, mounts);
  }

  Asked nothingShared() {
    return new Asked(
        container, store, after, path, stage, lockTimeout, thp, true, restorable, packed, mounts);
  }

  Asked requiringRestorable() {
    return new Asked(
        container, store, after, path, stage, lockTimeout, thp, peers, true, packed, mounts);
  }

  Asked packing(String... paths) {
    return new Asked(
        container,
        store,
        after,
        path,
        stage,
        lockTimeout,
        thp,
        peers,
        restorable,
        Set.of(paths),
        mounts);
  }

  /** The mounts of its pod, each with its subPath: any other is the runtime's. */
  Asked mounting(Map<String, String> all) {
    return new Asked(
        container, store, after, path, stage, lockTimeout, thp, peers, restorable, packed, all);
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
        mounts,
        null,
        Map.of());
  }
}
