package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The real file system, until a chosen call; it remembers every call that changes something. */
final class FailingFiles implements StoreFiles {
  private final LinuxStoreFiles real = new LinuxStoreFiles();
  private final List<String> calls = new ArrayList<>();
  private final int first;
  private final int last;
  private final String failure;

  private FailingFiles(int first, int last, String failure) {
    this.first = first;
    this.last = last;
    this.failure = failure;
  }

  /** The call with that number fails, counted from 1. */
  static FailingFiles at(int call, String failure) {
    return new FailingFiles(call, call, failure);
  }

  /** The call with that number fails, and every one after it. */
  static FailingFiles from(int call, String failure) {
    return new FailingFiles(call, Integer.MAX_VALUE, failure);
  }

  List<String> calls() {
    return calls;
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    step("folder", folder);
    real.createFolder(folder);
  }

  @Override
  public void write(Path file, byte[] bytes) throws IOException {
    step("write", file);
    real.write(file, bytes);
  }

  @Override
  public void sync(Path fileOrFolder) throws IOException {
    step("sync", fileOrFolder);
    real.sync(fileOrFolder);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    step("rename", to);
    real.rename(from, to);
  }

  @Override
  public void delete(Path fileOrFolder) throws IOException {
    step("delete", fileOrFolder);
    real.delete(fileOrFolder);
  }

  private void step(String what, Path path) throws IOException {
    String name = path.getFileName().toString();
    calls.add(what + " " + (name.matches("\\.staging-.*[0-9a-f]") ? "STAGING" : name));
    if (calls.size() >= first && calls.size() <= last) {
      throw new IOException(failure);
    }
  }
}
