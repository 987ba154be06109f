package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.store.ImportPolicy;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where the stores of this cluster lie on this node. */
public interface StoreRoots {

  /**
   * The root folder of a GpuCheckpointStore.
   *
   * @throws Refused when there is no such store, or it cannot be reached from this node
   */
  Root of(String store) throws ApiUnreachable, Refused;

  /**
   * A root.
   *
   * @param folder on this node
   * @param nodeLocal whether other nodes do not reach it
   * @param imports which of its artifacts may be imported
   */
  record Root(Path folder, boolean nodeLocal, @Nullable ImportPolicy imports) {
    /** A root with what holds where nothing else is said. */
    public Root(Path folder, boolean nodeLocal) {
      this(folder, nodeLocal, null);
    }
  }
}
