package dev.stasis.agent.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Library;
import com.sun.jna.Native;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A file system (FUSE) in which every name is an empty file, and whose server does not answer a
 * chosen call. Who makes this call waits in the kernel, where SIGKILL does not end it, as with a
 * hard NFS mount without its server.
 */
public final class HungFiles implements AutoCloseable {

  /** The calls that can hang. */
  public enum Call {
    OPEN(14),
    /** Made by close, as NFS writes back what is left. */
    FLUSH(25);

    private final int opcode;

    Call(int opcode) {
      this.opcode = opcode;
    }
  }

  private static final int LOOKUP = 1;
  private static final int GETATTR = 3;
  private static final int RELEASE = 18;
  private static final int INIT = 26;

  /** Forgotten inodes and interrupted calls: without an answer. */
  private static final Set<Integer> SILENT = Set.of(2, 36, 42);

  private static final int NOT_IMPLEMENTED = -38;
  private static final int HEADER = 16;
  private static final int ATTRIBUTES = 88;
  private static final int FOLDER = 040755;
  private static final int FILE = 0100644;
  private static final int LARGEST_REQUEST = 1 << 17;

  private final Path folder;
  private final Call hung;
  private final RandomAccessFile device;
  private final List<ByteBuffer> waiting = new ArrayList<>();
  private boolean hangs = true;

  /** The C library. */
  interface Mounts extends Library {
    int mount(String source, String target, String type, long flags, String options);

    int umount2(String target, int flags);
  }

  private static final int FORCE_AND_DETACH = 3;

  private final Mounts mounts = Native.load("c", Mounts.class);

  private HungFiles(Call hung) throws IOException {
    this.hung = hung;
    folder = Files.createTempDirectory("stasis-hung");
    Set<Integer> before = devices();
    device = new RandomAccessFile("/dev/fuse", "rw");
    Set<Integer> opened = devices();
    opened.removeAll(before);
    String options =
        "fd=" + opened.iterator().next() + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    if (mounts.mount("hung", folder.toString(), "fuse", 0, options) != 0) {
      throw new IOException("cannot mount FUSE: errno " + Native.getLastError());
    }
    Thread server = new Thread(this::serve, "hung-files");
    server.setDaemon(true);
    server.start();
  }

  /** Mounts one; skips the test if this machine cannot. */
  public static HungFiles at(Call hung) {
    assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs FUSE: load the kernel module fuse");
    try {
      return new HungFiles(hung);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Set<Integer> devices() {
    return new ProcFs()
        .openFiles((int) ProcessHandle.current().pid()).stream()
            .filter(file -> file.target().equals("/dev/fuse"))
            .map(OpenFile::fd)
            .collect(Collectors.toSet());
  }

  /** A file of it. */
  public Path file() {
    return folder.resolve("file");
  }

  /** Whether a process waits for that call. */
  public synchronized boolean holds() {
    return !waiting.isEmpty();
  }

  /** Answers from now on, and what waits. */
  public synchronized void respond() {
    hangs = false;
    waiting.forEach(this::answer);
    waiting.clear();
  }

  private void serve() {
    byte[] request = new byte[LARGEST_REQUEST];
    try {
      for (int n = device.read(request); n > 0; n = device.read(request)) {
        ByteBuffer call = ByteBuffer.wrap(request.clone(), 0, n).order(ByteOrder.nativeOrder());
        take(call);
      }
    } catch (IOException e) {
      // It was unmounted.
      System.getLogger(HungFiles.class.getName()).log(System.Logger.Level.DEBUG, "FUSE", e);
    }
  }

  private synchronized void take(ByteBuffer call) {
    int opcode = call.getInt(4);
    if (SILENT.contains(opcode)) {
      return;
    }
    if (hangs && opcode == hung.opcode) {
      waiting.add(call);
    } else {
      answer(call);
    }
  }

  private void answer(ByteBuffer call) {
    int opcode = call.getInt(4);
    ByteBuffer answer = ByteBuffer.allocate(256).order(ByteOrder.nativeOrder());
    answer.position(HEADER);
    int error = 0;
    if (opcode == INIT) {
      answer.putInt(7).putInt(31).putInt(0).putInt(0).putInt(0).putInt(4096).putInt(1);
      answer.position(HEADER + 64);
    } else if (opcode == LOOKUP) {
      answer.putLong(2).putLong(0).putLong(0).putLong(0).putInt(0).putInt(0);
      attributes(answer, 2, FILE);
    } else if (opcode == GETATTR) {
      long node = call.getLong(16);
      answer.putLong(0).putInt(0).putInt(0);
      attributes(answer, node, node == 1 ? FOLDER : FILE);
    } else if (opcode == Call.OPEN.opcode) {
      answer.putLong(0).putLong(0);
    } else if (opcode != Call.FLUSH.opcode && opcode != RELEASE) {
      error = NOT_IMPLEMENTED;
    }
    int length = answer.position();
    answer.putInt(0, length).putInt(4, error).putLong(8, call.getLong(8));
    try {
      device.write(answer.array(), 0, length);
    } catch (IOException e) {
      // The caller was killed, or it was unmounted.
      System.getLogger(HungFiles.class.getName()).log(System.Logger.Level.DEBUG, "FUSE", e);
    }
  }

  private static void attributes(ByteBuffer answer, long node, int mode) {
    int begin = answer.position();
    answer.putLong(node).putInt(begin + 60, mode).putInt(begin + 64, 1);
    answer.position(begin + ATTRIBUTES);
  }

  /** Unmounts it; what waits fails. */
  @Override
  public void close() throws IOException {
    respond();
    mounts.umount2(folder.toString(), FORCE_AND_DETACH);
    device.close();
    Files.delete(folder);
  }
}
