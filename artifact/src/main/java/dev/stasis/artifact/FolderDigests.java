package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Computes the digests of the files of a staging folder.
 *
 * @param workers read files in parallel
 */
record FolderDigests(Path folder, Workers workers) {

  /**
   * Returns size and digest of each file, by its path relative to the folder.
   *
   * @param except files without a digest of their own
   */
  Map<String, FileFacts> of(Set<Path> except, Progress progress) throws IOException {
    List<Path> hashed = new ArrayList<>(FolderScan.of(folder).files());
    hashed.removeAll(except);
    List<FileDigests.Subject> subjects = new ArrayList<>();
    long total = 0;
    for (Path file : hashed) {
      subjects.add(FileDigests.Subject.sealed(file));
      total += Files.size(file);
    }
    List<FileFacts> facts = new FileDigests(workers, new Hasher(progress, total)).of(subjects);
    Map<String, FileFacts> digests = new TreeMap<>();
    for (int i = 0; i < facts.size(); i++) {
      digests.put(folder.relativize(hashed.get(i)).toString(), facts.get(i));
    }
    return digests;
  }
}
