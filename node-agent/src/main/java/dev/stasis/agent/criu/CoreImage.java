package dev.stasis.agent.criu;

import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.ProcessStatus.Ids;
import dev.stasis.agent.process.ThreadRights;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Reads the rights of a thread from {@code core-TID.img}. An instance is used for one image. */
final class CoreImage {

  static final int MAGIC = 0x55053847;

  /** The kernel's limit of supplementary groups. */
  private static final int MOST_GROUPS = 65536;

  /** Capabilities are two words of 32 bits. */
  private static final int WORDS = 2;

  private static final int DEAD = 2;

  private final int tid;
  private final String name;
  private final Map<Integer, Integer> ids = new HashMap<>();
  private final Map<Integer, List<Integer>> capabilities = new HashMap<>();
  private final List<Integer> groups = new ArrayList<>();
  private OptionalInt userNamespace = OptionalInt.empty();
  private int state;
  private int seccomp;
  private int filter;
  private boolean noNewPrivileges;
  private boolean credentials;

  CoreImage(int tid) {
    this.tid = tid;
    this.name = "core-" + tid + ".img";
  }

  CoreImage read(InputStream in) throws IOException {
    new CriuImage(name, CriuImage.COMMON, MAGIC).read(in, 1, this::core);
    return this;
  }

  /**
   * Returns whether it is the image of a zombie's main thread: criu creates a process that ends
   * immediately.
   */
  boolean isDead() {
    return state == DEAD;
  }

  /** The number of its user namespace among the images, if recorded. */
  OptionalInt userNamespace() {
    return userNamespace;
  }

  int tid() {
    return tid;
  }

  int seccomp() {
    return seccomp;
  }

  /** The index of its last filter in the image of filters. */
  OptionalInt filter() {
    return seccomp == ThreadRights.SECCOMP_FILTER ? OptionalInt.of(filter) : OptionalInt.empty();
  }

  /**
   * Returns the thread's rights.
   *
   * @param mode seccomp mode
   * @param filters the filters that it will have
   */
  ThreadRights rights(int mode, int filters) throws IOException {
    if (!credentials) {
      throw new ImageFault("criu image " + name, "the credentials of its thread", "none");
    }
    return new ThreadRights(
        tid,
        new Ids(id(1), id(3), id(5), id(7)),
        new Ids(id(2), id(4), id(6), id(8)),
        groups,
        new Capabilities(set(9), set(10), set(11), set(12), set(19)),
        noNewPrivileges,
        mode,
        filters,
        0);
  }

  private void core(ImageMessage core) throws IOException {
    while (core.next()) {
      switch (core.field()) {
        case 3 -> core.message(this::task);
        case 4 -> core.message(objects -> userNamespace = IdsImage.userNamespace(objects));
        case 5 -> core.message(this::thread);
        default -> {}
      }
    }
  }

  private void task(ImageMessage task) throws IOException {
    while (task.next()) {
      switch (task.field()) {
        case 1 -> state = task.number();
        // From criu 2.3 and before; if present, criu uses them instead of the thread's.
        case 11, 12 -> throw task.fault("a seccomp mode of each thread", "one of the process");
        default -> {}
      }
    }
  }

  private void thread(ImageMessage thread) throws IOException {
    while (thread.next()) {
      switch (thread.field()) {
        case 10 -> thread.message(this::credentials);
        case 11 -> seccomp = thread.number();
        case 12 -> filter = thread.number();
        default -> {}
      }
    }
  }

  private void credentials(ImageMessage of) throws IOException {
    credentials = true;
    while (of.next()) {
      int field = of.field();
      switch (field) {
        case 1, 2, 3, 4, 5, 6, 7, 8 -> ids.put(field, of.number());
        case 9, 10, 11, 12, 19 -> of.numbers(word -> add(of, capabilities(field), word, WORDS));
        case 14 -> of.numbers(group -> add(of, groups, group, MOST_GROUPS));
        case 18 -> noNewPrivileges = of.number() != 0;
        default -> {}
      }
    }
  }

  private List<Integer> capabilities(int field) {
    return capabilities.computeIfAbsent(field, any -> new ArrayList<>());
  }

  private static void add(ImageMessage of, List<Integer> list, int number, int most)
      throws IOException {
    if (list.size() == most) {
      throw of.fault("at most %d numbers in field %d".formatted(most, of.field()), "more");
    }
    list.add(number);
  }

  private int id(int field) throws IOException {
    Integer id = ids.get(field);
    if (id == null) {
      throw new ImageFault("criu image " + name, "field " + field + " of credentials", "none");
    }
    return id;
  }

  private long set(int field) {
    List<Integer> words = capabilities(field);
    long set = 0;
    for (int i = 0; i < words.size(); i++) {
      set |= Integer.toUnsignedLong(words.get(i)) << (32 * i);
    }
    return set;
  }
}
