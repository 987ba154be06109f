package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Why the source went on. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RolledBack(
    @Required @JsonPropertyDescription("Why, in one word of a closed list, in CamelCase.")
        String reason,
    @JsonPropertyDescription("Why, in one sentence, with the values that count.")
        @Nullable String message,
    @JsonPropertyDescription("The phase in which it failed.") @Nullable MigrationPhase phase,
    @JsonPropertyDescription("When the source was running again.") @Nullable Instant time) {}
