package dev.stasis.local.image;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An image.
 *
 * @param name the name that pods use
 * @param id {@code sha256:...} of its files and settings
 * @param rootfs the folder with its files
 * @param settings the settings of its process
 * @param bytes size of its files
 */
public record LocalImage(String name, String id, Path rootfs, Settings settings, long bytes) {

  /** As in an OCI image's configuration. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Settings(
      @JsonProperty("Entrypoint") List<String> entrypoint,
      @JsonProperty("Cmd") List<String> cmd,
      @JsonProperty("Env") List<String> env,
      @JsonProperty("User") String user,
      @JsonProperty("WorkingDir") String workingDir) {

    public Settings(
        @Nullable List<String> entrypoint,
        @Nullable List<String> cmd,
        @Nullable List<String> env,
        @Nullable String user,
        @Nullable String workingDir) {
      this.entrypoint = List.copyOf(Objects.requireNonNullElse(entrypoint, List.of()));
      this.cmd = List.copyOf(Objects.requireNonNullElse(cmd, List.of()));
      this.env = List.copyOf(Objects.requireNonNullElse(env, List.of()));
      this.user = Objects.requireNonNullElse(user, "");
      this.workingDir = workingDir == null || workingDir.isEmpty() ? "/" : workingDir;
    }

    /** Creates an image that runs this command as this user. */
    public static Settings command(List<String> cmd, List<String> env, String user) {
      return new Settings(null, cmd, env, user, null);
    }

    /** The first part of {@code User} if it is a number; root if there is none. */
    public long uid() {
      return part(0);
    }

    /** The second part of {@code User} if it is a number; root if there is none. */
    public long gid() {
      return part(1);
    }

    private long part(int index) {
      String[] parts = user.split(":", 2);
      return parts.length > index && parts[index].matches("[0-9]{1,9}")
          ? Long.parseLong(parts[index])
          : 0;
    }
  }
}
