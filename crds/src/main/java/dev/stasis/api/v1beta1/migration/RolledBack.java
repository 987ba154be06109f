package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Why a migration was rolled back. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RolledBack(
    @Required @JsonPropertyDescription("Machine-readable reason, in CamelCase.") String reason,
    @JsonPropertyDescription("Human-readable explanation, with the relevant values.")
        @Nullable String message,
    @JsonPropertyDescription("Phase in which the migration failed.") @Nullable MigrationPhase phase,
    @JsonPropertyDescription("Time at which the source was running again.")
        @Nullable Instant time) {}
