package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The operations of one stage. After a failed sync, it is neither synced nor renamed any more. */
final class SyncCheckedFiles implements StoreFiles {
  private final StoreFiles files;
  private @Nullable FailedSyncException failure;

  SyncCheckedFiles(StoreFiles files) {
    this.files = files;
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    files.createFolder(folder);
  }

  @Override
  public void write(Path file, byte[] bytes) throws IOException {
    files.write(file, bytes);
  }

  @Override
  public void sync(Path fileOrFolder) throws IOException {
    requireAllSynced();
    try {
      files.sync(fileOrFolder);
    } catch (IOException e) {
      failure = new FailedSyncException(fileOrFolder, e);
      throw failure;
    }
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    requireAllSynced();
    files.rename(from, to);
  }

  @Override
  public void delete(Path fileOrFolder) throws IOException {
    files.delete(fileOrFolder);
  }

  private void requireAllSynced() throws FailedSyncException {
    if (failure != null) {
      throw failure;
    }
  }
}
