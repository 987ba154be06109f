package dev.stasis.agent.cuda;

import dev.stasis.agent.process.ProcFs;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Reads the two relevant properties of each thread of a process as cheaply as possible: this
 * happens before every driver call, and a process has hundreds of threads.
 */
final class ThreadGlances {

  /**
   * One thread.
   *
   * @param state the letter: T stopped, t stopped by a tracer
   * @param tracer the pid of its tracer, 0 for none
   */
  record Glance(int tid, char state, int tracer) {}

  /** TracerPid is within the first 300 bytes of {@code status}, whatever the name is. */
  private static final int HEAD = 1024;

  private static final String STATE = "\nState:\t";
  private static final String TRACER = "\nTracerPid:\t";

  private final ProcFs proc;

  ThreadGlances(ProcFs proc) {
    this.proc = proc;
  }

  /** Leaves out threads that end meanwhile; empty for a process that is gone. */
  List<Glance> of(int pid) {
    Path task = proc.folder(pid).resolve("task");
    String[] tids = task.toFile().list();
    if (tids == null) {
      return List.of();
    }
    List<Glance> glances = new ArrayList<>(tids.length);
    byte[] head = new byte[HEAD];
    for (String tid : tids) {
      int length = read(task + "/" + tid + "/status", head);
      String text = new String(head, 0, length, StandardCharsets.ISO_8859_1);
      OptionalInt state = at(text, STATE);
      OptionalInt tracer = at(text, TRACER);
      if (state.isPresent() && tracer.isPresent()) {
        glances.add(
            new Glance(
                Integer.parseInt(tid),
                text.charAt(state.getAsInt()),
                number(text, tracer.getAsInt())));
      }
    }
    return glances;
  }

  /** The thread's name comes first and may contain anything, but its newlines are escaped. */
  private static OptionalInt at(String text, String name) {
    int found = text.indexOf(name);
    return found < 0 ? OptionalInt.empty() : OptionalInt.of(found + name.length());
  }

  private static int number(String text, int from) {
    int number = 0;
    for (int i = from; i < text.length() && Character.isDigit(text.charAt(i)); i++) {
      number = number * 10 + (text.charAt(i) - '0');
    }
    return number;
  }

  private static int read(String file, byte[] head) {
    try (FileInputStream in = new FileInputStream(file)) {
      return Math.max(0, in.read(head));
    } catch (IOException e) {
      return 0; // the thread has ended
    }
  }
}
