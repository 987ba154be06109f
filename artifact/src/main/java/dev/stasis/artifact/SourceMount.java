package dev.stasis.artifact;

import java.util.Objects;

/**
 * One line of the source's mountinfo.
 *
 * @param id the mount's id
 * @param parent its parent's id
 * @param device major:minor
 * @param root the mounted folder of the file system
 * @param target its path in the container
 * @param options options of this mount
 * @param type the file system's type
 * @param source the kernel's name of its source
 * @param superOptions options of the file system
 */
public record SourceMount(
    int id,
    int parent,
    String device,
    String root,
    String target,
    String options,
    String type,
    String source,
    String superOptions) {
  public SourceMount {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(root, "root");
    Objects.requireNonNull(target, "target");
    Objects.requireNonNull(options, "options");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(superOptions, "superOptions");
  }
}
