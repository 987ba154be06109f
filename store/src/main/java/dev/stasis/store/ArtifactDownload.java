package dev.stasis.store;

import dev.stasis.artifact.Progress;
import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One download of an artifact into an empty folder. Bytes are written once they are verified. */
final class ArtifactDownload {
  /** Zeros are left out in pieces of this size, so that files are as sparse as they were. */
  private static final int HOLE = 64 << 10;

  /** Each thread has a file of its own. */
  private static final long UNWRITTEN = WriteBehind.USUAL / ChunkWorkers.MOST;

  private static final FileAttribute<?> FOLDER_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final ArtifactId id;
  private final RemoteManifest manifest;
  private final ChunkReader reader;
  private final int threads;
  private final Path folder;
  private final Progress progress;
  private final TreeChunks chunks;
  private final int[] order;
  private final AtomicLong done = new AtomicLong();

  ArtifactDownload(
      ArtifactId id,
      RemoteManifest manifest,
      ChunkReader reader,
      int threads,
      Path folder,
      Progress progress) {
    this.id = id;
    this.manifest = manifest;
    this.reader = reader;
    this.threads = threads;
    this.folder = folder;
    this.progress = progress;
    this.chunks = new TreeChunks(manifest.tree());
    this.order = chunks.spreadOverFiles();
  }

  void run() throws IOException {
    requireEmpty();
    for (String name : manifest.tree().folders()) {
      Files.createDirectory(folder.resolve(name), FOLDER_MODE);
    }
    for (FileTree.Entry file : manifest.tree().files()) {
      create(folder.resolve(file.path()), file.size());
    }
    new ChunkWorkers(threads).run(chunks.count(), Writer::new);
  }

  private void requireEmpty() throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      if (entries.findAny().isPresent()) {
        throw new IOException("%s: expected an empty folder, got files in it".formatted(folder));
      }
    }
  }

  private static void create(Path file, long size) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            FolderBlobs.FILE_MODE)) {
      if (size > 0) {
        channel.write(ByteBuffer.allocate(1), size - 1);
      }
    }
  }

  /** Fetches chunks and writes them to their files. */
  private final class Writer implements ChunkWorkers.Worker {
    private final ChunkReader.Buffers buffers = reader.buffers();
    private int openFile = -1;
    private @Nullable FileChannel channel;
    private @Nullable WriteBehind behind;

    @Override
    public void run(int position) throws IOException {
      int number = order[position];
      ChunkRecord record = manifest.chunks().get(number);
      if (record.name() != null && record.place() != null) {
        byte[] plain;
        try {
          plain = reader.read(record.name(), record.place(), record.plain(), buffers);
        } catch (StoreException.Damaged | StoreException.NotFound e) {
          throw new StoreException.Damaged(
              "artifact %s, chunk %d of %s: %s"
                  .formatted(id, chunks.numberInFile(number), chunks.path(number), e.getMessage()),
              e);
        }
        write(file(chunks.file(number)), chunks.offset(number), plain, record.plain());
      }
      progress.at(done.addAndGet(record.plain()), chunks.bytes());
    }

    private void write(WriteBehind to, long offset, byte[] plain, int count) throws IOException {
      int from = 0;
      for (int at = 0; at < count; ) {
        int next = Math.min(count, at + HOLE);
        boolean hole = ChunkCodec.zeros(plain, at, next - at);
        int end = hole ? at : next;
        if (hole || end == count || end - from >= FolderBlobs.SLICE) {
          to.write(ByteBuffer.wrap(plain, from, end - from), offset + from);
          from = next;
        }
        at = next;
      }
    }

    private WriteBehind file(int file) throws IOException {
      WriteBehind open = behind;
      if (open == null || openFile != file) {
        closeFile();
        channel =
            FileChannel.open(
                folder.resolve(manifest.tree().files().get(file).path()),
                Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        open = new WriteBehind(channel, UNWRITTEN);
        behind = open;
        openFile = file;
      }
      return open;
    }

    private void closeFile() throws IOException {
      if (channel != null) {
        channel.close();
      }
    }

    @Override
    public void close() throws IOException {
      buffers.release();
      closeFile();
    }
  }
}
