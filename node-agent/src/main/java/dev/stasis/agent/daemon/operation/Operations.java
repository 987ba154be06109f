package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import java.util.List;
import java.util.Optional;

/** The operations of this node, as the API server has them. */
public interface Operations {

  /** All of them, in no order. */
  List<GpuNodeOperation> all() throws ApiUnreachable;

  /** The one of that name, whichever node it is for. */
  Optional<GpuNodeOperation> find(String name) throws ApiUnreachable;

  /**
   * Writes a status over the one that was read.
   *
   * @param operation with the resourceVersion on which the status is based
   */
  Written writeStatus(GpuNodeOperation operation);

  /** Hears of every operation that is there, that comes, changes or goes, until it is closed. */
  AutoCloseable watch(Watcher watcher);

  /** Hears of changes. Must not block. */
  interface Watcher {
    /** It is there, or is not what it was. */
    void changed(GpuNodeOperation operation);

    /** It is gone. */
    void gone(String name, String uid);
  }

  /** What came of a write. */
  sealed interface Written {
    /** It is written; this is how the API server has it now. */
    record Done(GpuNodeOperation operation) implements Written {}

    /** Somebody else wrote it meanwhile: read it again. */
    record Conflict() implements Written {}

    /** There is no such object any more. */
    record Gone() implements Written {}

    /** The API server did not take it; worth another try. */
    record Failed(String why) implements Written {}
  }
}
