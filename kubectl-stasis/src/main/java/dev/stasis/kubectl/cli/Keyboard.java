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

/** Keys as they are pressed: the terminal hands them over one by one until this is closed. */
final class Keyboard implements AutoCloseable {

  /** None was pressed. */
  static final int NONE = -1;

  /** Of what the terminal sends for an arrow: ESC [ A. */
  static final int UP = 'k';

  static final int DOWN = 'j';

  private static final int ESCAPE = 27;

  /** stty answers at once or not at all. */
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

  /** The next key; {@link #NONE} when there was none within a time. */
  int next(Duration atMost) throws InterruptedException {
    Integer key = keys.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
    return key == null ? NONE : key;
  }

  /** Rows and columns of the terminal; 24 and 80 when it does not say. */
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
      // The process ends, and the hook has done it.
      return;
    }
  }

  private void giveBack() {
    try {
      stty(before);
    } catch (IOException gone) {
      // The terminal was closed: nobody is left who would see it.
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
        throw new IOException("stty " + arguments + ": wanted a terminal, found none");
      }
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stty");
    }
  }
}
