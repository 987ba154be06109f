package dev.stasis.operator.cluster;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StringDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Reads equal texts as one string. Most texts of an object in a cache are those of others, too:
 * names of nodes and stores, types, reasons and messages of conditions, models of GPUs.
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

    /** In characters. Longer texts are seldom equal. */
    private static final int LONGEST = 128;

    private final transient AtomicReferenceArray<String> recent =
        new AtomicReferenceArray<>(PLACES);

    @Override
    public String deserialize(JsonParser json, DeserializationContext context) throws IOException {
      String text = super.deserialize(json, context);
      if (text == null || text.length() > LONGEST) {
        return text;
      }
      int hash = text.hashCode();
      int place = (hash ^ hash >>> 16) & (PLACES - 1);
      String known = recent.get(place);
      if (text.equals(known)) {
        return known;
      }
      recent.set(place, text);
      return text;
    }
  }
}
