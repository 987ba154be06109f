package dev.stasis.artifact;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Computes digests of whole files. A file of more than one piece has the SHA-256 of the
 * concatenated SHA-256s of its pieces, so that several threads can read a large file. Files of one
 * piece, and all files of formats 1 and 2, have their plain SHA-256.
 */
record FileDigests(Workers workers, Hasher hasher) {
  /** The prefix of a digest of pieces. */
  static final String PREFIX = "8m";

  /** Bytes of a piece; the last piece of a file may be shorter. */
  static final long PIECE = 8L << 20;

  /** A file, and whether its digest is computed from pieces. */
  record Subject(Path file, boolean inPieces) {
    /** A file of a new artifact. */
    static Subject sealed(Path file) throws IOException {
      return new Subject(file, Files.size(file) > PIECE);
    }

    /** A file with a known digest, to compute one of the same kind. */
    static Subject having(Path file, String sha256) {
      return new Subject(file, sha256.startsWith(PREFIX));
    }
  }

  private record Piece(int subject, Path file, long offset, long length) {}

  /** Returns size and digest of each file, in the given order. */
  List<FileFacts> of(List<Subject> subjects) throws IOException {
    List<Long> sizes = new ArrayList<>();
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < subjects.size(); i++) {
      Subject subject = subjects.get(i);
      long size = Files.size(subject.file());
      sizes.add(size);
      long most = subject.inPieces() ? PIECE : Long.MAX_VALUE;
      long at = 0;
      do {
        pieces.add(new Piece(i, subject.file(), at, Math.min(most, size - at)));
        at += most;
      } while (at > 0 && at < size);
    }
    // The largest file first, because one thread needs the most time for it.
    List<Piece> order = new ArrayList<>(pieces);
    order.sort(Comparator.comparingLong(Piece::length).reversed());
    List<Callable<byte[]>> work = new ArrayList<>(order.size());
    order.forEach(piece -> work.add(() -> digest(piece)));
    List<byte[]> found = workers.all(work);
    return combined(subjects, sizes, order, found);
  }

  private byte[] digest(Piece piece) throws IOException {
    try (FileChannel channel = Hasher.openForReading(piece.file())) {
      return hasher.plain(channel, piece.offset(), piece.length());
    }
  }

  private static List<FileFacts> combined(
      List<Subject> subjects, List<Long> sizes, List<Piece> order, List<byte[]> found) {
    List<@Nullable MessageDigest> sums = new ArrayList<>();
    List<String> digests = new ArrayList<>();
    for (Subject subject : subjects) {
      sums.add(subject.inPieces() ? Hasher.sha256Digest() : null);
      digests.add("");
    }
    // A stable sort keeps the pieces of one file in order, with the shorter last one last.
    for (int i = 0; i < order.size(); i++) {
      int subject = order.get(i).subject();
      MessageDigest sum = sums.get(subject);
      if (sum == null) {
        digests.set(subject, HexFormat.of().formatHex(found.get(i)));
      } else {
        sum.update(found.get(i));
      }
    }
    List<FileFacts> facts = new ArrayList<>();
    for (int i = 0; i < subjects.size(); i++) {
      MessageDigest sum = sums.get(i);
      String digest =
          sum == null ? digests.get(i) : PREFIX + HexFormat.of().formatHex(sum.digest());
      facts.add(new FileFacts(sizes.get(i), digest));
    }
    return facts;
  }
}
