package dev.stasis.api.v1alpha1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Fault;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node on which a restore was tried and did not fit. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExcludedNode(
    @Required @JsonPropertyDescription("The node.") String node,
    @JsonPropertyDescription("When it was tried.") @Nullable Instant time,
    @JsonPropertyDescription("What did not fit.") @Nullable List<Fault> faults) {}
