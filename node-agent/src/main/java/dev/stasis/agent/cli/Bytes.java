package dev.stasis.agent.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes in human-readable form. */
record Bytes(long count) {

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,15})(B|KiB|MiB|GiB|TiB)?");
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  /** {@code 512}, {@code 16GiB}. */
  static final class Converter implements ITypeConverter<Bytes> {
    @Override
    public Bytes convert(String text) {
      Matcher matcher = TEXT.matcher(text);
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "expected bytes like 512, 600MiB or 16GiB, got \"" + text + "\"");
      }
      long count = Long.parseLong(matcher.group(1));
      for (String unit : UNITS) {
        if (matcher.group(2) == null || unit.equals(matcher.group(2))) {
          break;
        }
        count = Math.multiplyExact(count, 1024L);
      }
      return new Bytes(count);
    }
  }

  /** Returns the rate of moving these bytes in that many nanoseconds. */
  String perSecond(long nanos) {
    return nanos <= 0 ? "-" : String.format(Locale.ROOT, "%.2f GB/s", (double) count / nanos);
  }

  @Override
  public String toString() {
    double value = count;
    int unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0 ? count + " B" : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
  }
}
