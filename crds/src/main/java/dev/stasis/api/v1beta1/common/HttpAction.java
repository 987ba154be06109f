package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Sends an HTTP request to the pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record HttpAction(
    @Required
        @Pattern("^/.*$")
        @Size(min = 1, max = 1024)
        @JsonPropertyDescription("Path of the request, starting with a slash.")
        String path,
    @Required @Min(1) @Max(65535) @JsonPropertyDescription("Port of the pod.") Integer port,
    @JsonPropertyDescription("Method of the request. Default: POST.")
        @Nullable HttpMethod method) {}
