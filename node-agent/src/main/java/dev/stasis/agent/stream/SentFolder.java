package dev.stasis.agent.stream;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The folder of the artifact that is sent. It is held open, because publication renames it, and
 * files in transit must still be found in it.
 */
final class SentFolder implements Closeable {

  private final SecureDirectoryStream<Path> folder;

  SentFolder(Path path) throws IOException {
    DirectoryStream<Path> opened = Files.newDirectoryStream(path);
    if (!(opened instanceof SecureDirectoryStream<Path> secure)) {
      opened.close();
      throw new IOException(
          "folder " + path + ": expected a file system that supports openat, got another");
    }
    this.folder = secure;
  }

  FileChannel open(String name) throws IOException {
    var channel =
        folder.newByteChannel(
            Path.of(name), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
    if (channel instanceof FileChannel file) {
      return file;
    }
    channel.close();
    throw new IOException("file " + name + ": expected a regular file, got " + channel);
  }

  @Override
  public void close() throws IOException {
    folder.close();
  }
}
