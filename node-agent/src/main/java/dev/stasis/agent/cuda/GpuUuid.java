package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A GPU's UUID in the format of NVML and nvidia-smi.
 *
 * @param text {@code GPU-} and 16 bytes in hexadecimal, in reading order, lower case
 */
public record GpuUuid(@JsonValue String text) implements Comparable<GpuUuid> {

  private static final Pattern FORM =
      Pattern.compile("GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  public GpuUuid {
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "gpu uuid: expected GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx in hex, got \""
              + text
              + "\"");
    }
  }

  /** Accepts upper case too. */
  @JsonCreator
  public static GpuUuid parse(String text) {
    return text.startsWith("GPU-")
        ? new GpuUuid("GPU-" + text.substring(4).toLowerCase(Locale.ROOT))
        : new GpuUuid(text);
  }

  /** The 16 bytes in reading order, the layout of {@code CUuuid}. */
  public byte[] bytes() {
    return HexFormat.of().parseHex(text.substring(4).replace("-", ""));
  }

  @Override
  public int compareTo(GpuUuid other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
