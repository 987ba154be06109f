package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StringDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Reads equal texts as one string. Most texts of an object in a cache are those of others, too:
 * names of nodes and stores, types, reasons and messages of conditions, models of GPUs. So is the
 * longest one, the fingerprint of 2 kB of a node, or of a workload in its GpuCheckpoint.
 */
final class SharedStrings extends SimpleModule {

  private static final long serialVersionUID = 1;

  SharedStrings() {
    addDeserializer(String.class, new Reader());
  }

  private static final class Reader extends StringDeserializer {

    private static final long serialVersionUID = 1;

    /** Places for strings; a string takes that of another one with the same hash. */
    private static final int PLACES = 16_384;

    /** Places for longer strings: few are equal, and 2 MB of them may be kept. */
    private static final int LONGER_PLACES = 256;

    /** In characters. */
    private static final int SHORT = 128;

    /** In characters. The longest messages have 1,024, and a fingerprint may have several kB. */
    private static final int LONGEST = 8_192;

    private final transient AtomicReferenceArray<String> recent =
        new AtomicReferenceArray<>(PLACES);
    private final transient AtomicReferenceArray<String> longer =
        new AtomicReferenceArray<>(LONGER_PLACES);

    @Override
    public String deserialize(JsonParser json, DeserializationContext context) throws IOException {
      String text = super.deserialize(json, context);
      if (text == null || text.length() > LONGEST) {
        return text;
      }
      return shared(text, text.length() > SHORT ? longer : recent);
    }

    private static String shared(String text, AtomicReferenceArray<String> places) {
      int hash = text.hashCode();
      int place = (hash ^ hash >>> 16) & (places.length() - 1);
      String known = places.get(place);
      if (text.equals(known)) {
        return known;
      }
      places.set(place, text);
      return text;
    }
  }
}
