package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.store.ImportPolicy;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The agent's requests to the API server: operations of this node, pods, and stores. */
public interface ClusterApi {

  /** Returns the operations of this node, in any order. */
  List<GpuNodeOperation> operations() throws ApiUnreachable;

  /** Returns the operation of that name, of any node. */
  Optional<GpuNodeOperation> operation(String name) throws ApiUnreachable;

  /**
   * Replaces the status of an operation.
   *
   * @param operation with the resourceVersion on which the status is based
   */
  Written writeStatus(GpuNodeOperation operation);

  /** Reports every existing, created, changed or deleted operation of this node. */
  AutoCloseable watch(Watcher watcher);

  /** Reads the pod from the API server; a cache may be late. */
  Optional<Pod> pod(String namespace, String name) throws ApiUnreachable;

  /**
   * Returns the location of a GpuCheckpointStore on this node.
   *
   * @throws Refused if there is no such store, or this node cannot access it
   */
  StoreRoot store(String name) throws ApiUnreachable, Refused;

  /** Receives changes. Must not block. */
  interface Watcher {

    /** It exists, or has changed. */
    void changed(GpuNodeOperation operation);

    /** It was deleted. */
    void gone(String name, String uid);
  }

  /** The outcome of a write. */
  sealed interface Written {
    /** It was written; this is the stored version. */
    record Done(GpuNodeOperation operation) implements Written {}

    /** Another client wrote in between: read it again. */
    record Conflict() implements Written {}

    /** The object no longer exists. */
    record Gone() implements Written {}

    /** The API server did not accept it; the write can be retried. */
    record Failed(String why) implements Written {}
  }

  /**
   * A store on this node.
   *
   * @param nodeLocal whether other nodes do not reach it
   * @param imports which of its artifacts may be imported; null: the defaults
   * @param remote where its artifacts are uploaded to; null: they are not
   */
  record StoreRoot(
      Path folder,
      boolean nodeLocal,
      @Nullable ImportPolicy imports,
      @Nullable RemotePlace remote) {}

  /**
   * The remote part of a store.
   *
   * @param storeUid of the store's object
   * @param promises where an artifact has to be before its workload may go
   * @param keys tries out its keys
   * @param refusal why nothing may be uploaded; null: it may
   */
  record RemotePlace(
      String storeUid,
      StoreDurability promises,
      Opener opener,
      KeyTest keys,
      @Nullable String refusal) {}

  /** Fails if nothing can be encrypted for a remote store at present. */
  interface KeyTest {
    void require() throws StoreException;
  }

  /** Opens a remote store; whoever opens it closes it. */
  interface Opener {
    RemoteArtifacts open() throws StoreException;
  }
}
