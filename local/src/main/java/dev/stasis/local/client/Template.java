package dev.stasis.local.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.local.gate.JsonPath;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** As much of kubectl's templates as the demo uses: paths and quoted texts in braces, and words. */
record Template(String text) {

  private static final Pattern PART = Pattern.compile("\\{\"([^\"]*)\"}|\\{([^}]*)}|([^{]+)");

  String of(JsonNode object) {
    StringBuilder filled = new StringBuilder();
    Matcher part = PART.matcher(text);
    while (part.find()) {
      if (part.group(1) != null) {
        filled.append(part.group(1).replace("\\n", "\n").replace("\\t", "\t"));
      } else if (part.group(2) != null) {
        filled.append(new JsonPath(part.group(2)).of(object));
      } else {
        filled.append(part.group(3));
      }
    }
    return filled.toString();
  }
}
