package dev.stasis.agent.process;

import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The standard streams of a program that is being started: files, or pipes to this program. The new
 * process opens all of them by name: a pipe is in the folder of this program's descriptors.
 */
final class ChildStreams implements AutoCloseable {

  private static final String SAME_AS_OUTPUT = "=";

  private final String ownDescriptors = "/proc/" + ProcessHandle.current().pid() + "/fd/";
  private final List<String> opened = new ArrayList<>();
  private final List<Integer> ends = new ArrayList<>();
  private OutputStream stdin = OutputStream.nullOutputStream();
  private InputStream stdout = InputStream.nullInputStream();
  private InputStream stderr = InputStream.nullInputStream();

  /**
   * Creates the pipes.
   *
   * @throws IOException if there are too many descriptors
   */
  ChildStreams(ProcessBuilder builder) throws IOException {
    try {
      if (builder.redirectInput().type() == Redirect.Type.PIPE) {
        stdin = new FileOutputStream(ownDescriptors + pipe(0, 'r'));
      } else {
        opened.add(file(builder.redirectInput()));
      }
      stdout = output(builder.redirectOutput());
      if (builder.redirectErrorStream()) {
        opened.add(SAME_AS_OUTPUT);
      } else {
        stderr = output(builder.redirectError());
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private InputStream output(Redirect redirect) throws IOException {
    if (redirect.type() != Redirect.Type.PIPE) {
      opened.add(file(redirect));
      return InputStream.nullInputStream();
    }
    return new BufferedInputStream(new FileInputStream(ownDescriptors + pipe(1, 'p')));
  }

  /** Creates a pipe with one end for the program; returns the other end. */
  private int pipe(int end, char mode) throws IOException {
    int[] pipe = new int[2];
    if (LibC.INSTANCE.pipe2(pipe, LibC.O_CLOEXEC) != 0) {
      throw new IOException("cannot create a pipe for a program: too many open files");
    }
    ends.add(pipe[0]);
    ends.add(pipe[1]);
    opened.add(mode + ownDescriptors + pipe[end]);
    return pipe[1 - end];
  }

  private static String file(Redirect redirect) {
    char mode =
        switch (redirect.type()) {
          case READ -> 'r';
          case WRITE -> 'w';
          case APPEND -> 'a';
          case PIPE, INHERIT ->
              throw new IllegalArgumentException(
                  "stream of a program: expected a file or a pipe, got " + redirect);
        };
    return mode + Objects.requireNonNull(redirect.file()).toString();
  }

  /** Returns how the new process opens its three streams, for {@code stasis-runtime spawn}. */
  List<String> opened() {
    return opened;
  }

  /** Returns what writes to the program's standard input. */
  OutputStream stdin() {
    return stdin;
  }

  /** Returns what reads the program's standard output. */
  InputStream stdout() {
    return stdout;
  }

  /** Returns what reads the program's standard error. */
  InputStream stderr() {
    return stderr;
  }

  /** Closes our streams too, because the program was not started. */
  void discard() throws IOException {
    stdin.close();
    stdout.close();
    stderr.close();
  }

  /** Closes the ends of the pipes; by now the program and our streams have opened them. */
  @Override
  public void close() {
    ends.forEach(LibC.INSTANCE::close);
  }
}
