package dev.stasis.api.v1beta1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.generator.annotation.Required;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node on which a restore was tried and that did not fit. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExcludedNode(
    @Required @JsonPropertyDescription("The node.") String node,
    @JsonPropertyDescription("Time of the attempt.") @Nullable Instant time,
    @JsonPropertyDescription("Why the node was excluded.") @Nullable List<Fault> faults) {}
