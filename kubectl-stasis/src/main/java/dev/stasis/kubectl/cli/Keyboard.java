package dev.stasis.kubectl.cli;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Reads single keys: the terminal is in raw mode until this is closed. */
final class Keyboard implements AutoCloseable {

  /** No key was pressed. */
  static final int NONE = -1;

  /** The last part of an arrow key's sequence: ESC [ A. */
  static final int UP = 'k';

  static final int DOWN = 'j';

  private static final int ESCAPE = 27;

  /** stty answers immediately or not at all. */
  private static final long STTY_SECONDS = 5;

  private final BlockingQueue<Integer> keys = new LinkedBlockingQueue<>();
  private final String before;
  private final Thread restore;

  Keyboard() throws IOException {
    before = stty("-g");
    stty("-icanon -echo min 1");
    restore = new Thread(this::giveBack, "terminal");
    Runtime.getRuntime().addShutdownHook(restore);
    Thread reader = new Thread(this::read, "keyboard");
    reader.setDaemon(true);
    reader.start();
  }

  /** Returns the next key; {@link #NONE} if there was none within the time. */
  int next(Duration atMost) throws InterruptedException {
    Integer key = keys.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    return key == null ? NONE : key;
  }

  /** Returns rows and columns of the terminal; 24 and 80 if it does not report them. */
  int[] size() {
    try {
      String[] size = stty("size").split(" ");
      return new int[] {Integer.parseInt(size[0]), Integer.parseInt(size[1])};
    } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException unknown) {
      return new int[] {24, 80};
    }
  }

  @Override
  public void close() {
    giveBack();
    try {
      Runtime.getRuntime().removeShutdownHook(restore);
    } catch (IllegalStateException ending) {
      // The process is ending, and the hook has restored the terminal.
      return;
    }
  }

  private void giveBack() {
    try {
      stty(before);
    } catch (IOException gone) {
      // The terminal was closed, so there is nothing to restore.
      return;
    }
  }

  private void read() {
    try (InputStream tty = new FileInputStream("/dev/tty")) {
      for (int key = tty.read(); key >= 0; key = tty.read()) {
        if (key == ESCAPE && tty.available() >= 2 && tty.read() == '[') {
          int arrow = tty.read();
          keys.add(arrow == 'A' ? UP : arrow == 'B' ? DOWN : NONE);
        } else {
          keys.add(key);
        }
      }
    } catch (IOException closed) {
      keys.add((int) 'q');
    }
  }

  private static String stty(String arguments) throws IOException {
    Process process = new ProcessBuilder("sh", "-c", "stty " + arguments + " < /dev/tty").start();
    try {
      if (!process.waitFor(STTY_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IOException("stty " + arguments + ": expected a terminal, got none");
      }
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stty");
    }
  }
}
