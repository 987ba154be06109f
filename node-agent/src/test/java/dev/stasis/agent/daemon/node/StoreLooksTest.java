package dev.stasis.agent.daemon.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.SmallTmpfs;
import dev.stasis.agent.tmpfs.StoreInMemory;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreLooksTest {

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private NodeStore look(Path kubelet) throws InterruptedException {
    return look(folder, kubelet, OptionalLong.empty());
  }

  private static NodeStore look(Path folder, Path kubelet, OptionalLong limit)
      throws InterruptedException {
    GpuCheckpointStore store = new GpuCheckpointStore();
    store.getMetadata().setName("local");
    store.setSpec(new GpuCheckpointStoreSpec());
    store
        .getSpec()
        .setLocation(StoreLocation.of(new NodeLocal(folder.resolve("store").toString())));
    try (StoreLooks looks =
        new StoreLooks(Clock.systemUTC(), kubelet, it -> null, new StoreInMemory(limit))) {
      return looks.look(List.of(store)).get(0);
    }
  }

  @Test
  void aStoreSaysWhetherAShortageThereEvictsPods() throws Exception {
    assertThat(look(folder).sharesNodefs()).isTrue();
    assertThat(look(Path.of("/proc")).sharesNodefs()).isFalse();
    assertThat(look(folder.resolve("none")).sharesNodefs()).isNull();
  }

  @Test
  void aStoreInMemoryThatWouldEndTheAgentIsNotWritable() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(48)) {
      Path kubelet = folder.resolve("none");
      NodeStore refused = look(tmpfs.file("."), kubelet, OptionalLong.of(128L << 20));
      assertThat(refused.writable()).isFalse();
      assertThat(refused.message())
          .contains("expected a folder on a disk", "agent.resources")
          .endsWith("on tmpfs, which counts towards the agent's memory limit of 128.0Mi");
      assertThat(look(tmpfs.file("."), kubelet, OptionalLong.empty()).writable()).isTrue();
    }
  }
}
