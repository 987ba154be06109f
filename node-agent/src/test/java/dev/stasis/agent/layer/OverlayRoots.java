package dev.stasis.agent.layer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Roots of containers as real overlays over one image; unmounts everything at the end. */
final class OverlayRoots implements AutoCloseable {
  private final Path folder;
  private final Deque<Path> mounted = new ArrayDeque<>();

  OverlayRoots(Path folder) throws IOException {
    this.folder = folder;
    Files.createDirectory(image());
  }

  Path image() {
    return folder.resolve("image");
  }

  Path upper(String name) {
    return folder.resolve(name + "-upper");
  }

  /** A container's root with a writable layer of its own. */
  Path container(String name, String... options) throws Exception {
    Path root = Files.createDirectory(folder.resolve(name));
    Path work = Files.createDirectory(folder.resolve(name + "-work"));
    Files.createDirectory(upper(name));
    String layers =
        "lowerdir=%s,upperdir=%s,workdir=%s".formatted(image(), upper(name), work)
            + (options.length == 0 ? "" : "," + String.join(",", options));
    mount(root, "-t", "overlay", "-o", layers, "overlay");
    return root;
  }

  void mount(Path target, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("mount"));
    command.addAll(List.of(arguments));
    command.add(target.toString());
    run(command.toArray(String[]::new));
    mounted.push(target);
  }

  /** Everything that can be told of the files below a folder, a line each. */
  static String listing(Path root) throws Exception {
    // How many links a folder has is the overlay's own affair.
    String files =
        run(
            "find",
            root.toString(),
            "-xdev",
            "-type",
            "d",
            "-printf",
            "%P %y %m %U %G %T@\\n",
            "-o",
            "-printf",
            "%P %y %m %U %G %n %T@ %l\\n");
    String sums =
        run(
            "find",
            root.toString(),
            "-xdev",
            "-type",
            "f",
            "-size",
            "-64M",
            "-exec",
            "sha256sum",
            "{}",
            "+");
    String sorted = files.lines().sorted().reduce("", (a, b) -> a + b + "\n");
    return sorted
        + sums.lines().sorted().reduce("", (a, b) -> a + b + "\n").replace(root.toString(), "");
  }

  static String run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    assertThat(process.waitFor()).as(String.join(" ", command) + ": " + output).isZero();
    return output;
  }

  @Override
  public void close() throws Exception {
    while (!mounted.isEmpty()) {
      run("umount", mounted.pop().toString());
    }
  }
}
