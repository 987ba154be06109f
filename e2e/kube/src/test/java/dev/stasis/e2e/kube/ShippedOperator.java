package dev.stasis.e2e.kube;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The JVM's options of the operator's image, and the memory that the chart gives its container. */
record ShippedOperator(Checkout checkout) {

  /** What a JVM in the container would go by: its memory is said, as no container limits it. */
  List<String> options() throws IOException {
    List<String> options = new ArrayList<>(List.of("-XX:MaxRAM=" + limit()));
    for (JsonNode word :
        new ObjectMapper()
            .readTree(checkout.built("images/operator/config.json", "git checkout").toFile())
            .path("Entrypoint")) {
      // The cache of classes is made for the jars of the image; it changes the start only.
      if (word.asText().startsWith("-XX:") && !word.asText().startsWith("-XX:AOTCache")) {
        options.add(word.asText());
      }
    }
    return options;
  }

  /** In bytes. */
  private long limit() throws IOException {
    String text =
        new YAMLMapper()
            .readTree(checkout.built("helm/stasis/values.yaml", "git checkout").toFile())
            .at("/operator/resources/limits/memory")
            .asText();
    return Quantity.getAmountInBytes(Quantity.parse(text)).longValueExact();
  }
}
