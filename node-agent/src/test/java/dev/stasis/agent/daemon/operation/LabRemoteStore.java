package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.store.Compression;
import dev.stasis.store.FolderBlobs;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import dev.stasis.store.StoreKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;

/**
 * A remote store in a folder, which may be away.
 *
 * @param folder created with this
 */
record LabRemoteStore(Path folder) {

  /** Of the store's object. */
  static final String UID = "store-uid";

  LabRemoteStore {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ClusterApi.RemotePlace place() {
    return new ClusterApi.RemotePlace(
        UID, StoreDurability.REMOTE, this::open, this::requireKeys, null);
  }

  /** It does not answer, until it is back. */
  void away(boolean away) {
    mark(mark(), away);
  }

  private static void mark(Path mark, boolean set) {
    try {
      if (set) {
        Files.writeString(mark, "");
      } else {
        Files.delete(mark);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its KMS plugin does not answer, until it is back. */
  void withoutKms(boolean gone) {
    mark(kms(), gone);
  }

  private void requireKeys() throws StoreException {
    if (Files.exists(kms())) {
      throw new StoreException.KmsUnreachable("no socket", null);
    }
  }

  private Path kms() {
    return folder.resolveSibling(folder.getFileName() + "-without-kms");
  }

  private RemoteArtifacts open() throws StoreException {
    if (Files.exists(mark())) {
      throw new StoreException.Unreachable("connection refused", null);
    }
    return new RemoteArtifacts(
        new FolderBlobs(folder), StoreKeys.none(), Compression.LZ4, Clock.systemUTC(), 2);
  }

  private Path mark() {
    return folder.resolveSibling(folder.getFileName() + "-away");
  }
}
