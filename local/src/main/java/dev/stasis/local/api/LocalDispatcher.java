package dev.stasis.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.mockwebserver.dsl.HttpMethod;
import io.fabric8.mockwebserver.http.Buffer;
import io.fabric8.mockwebserver.http.Dispatcher;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Handles requests for which Fabric8's CRUD server differs from an API server. */
final class LocalDispatcher extends Dispatcher {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int UNAUTHORIZED = 401;
  private static final int CONFLICT = 409;

  private final Dispatcher crud;
  private final KnownKinds kinds;
  private final String authorization;
  private final PodRules pods = new PodRules();
  private final StrategicMerge merge = new StrategicMerge();

  LocalDispatcher(Dispatcher crud, KnownKinds kinds, String token) {
    this.crud = crud;
    this.kinds = kinds;
    this.authorization = "Bearer " + token;
  }

  @Override
  public MockResponse dispatch(RecordedRequest request) {
    if (!authorization.equals(request.getHeader("Authorization"))) {
      return status(
          UNAUTHORIZED,
          "Unauthorized",
          "token: expected the token of the server, got a different one");
    }
    Optional<ObjectPath> path = ObjectPath.of(request.getPath());
    if (path.isEmpty()) {
      return crud.dispatch(request);
    }
    try {
      return switch (request.method()) {
        case POST -> post(request, path.get());
        case DELETE -> delete(request, path.get());
        case PUT, PATCH -> change(request, path.get());
        default -> crud.dispatch(request);
      };
    } catch (JsonProcessingException e) {
      return status(400, "BadRequest", "body: expected JSON, got " + e.getOriginalMessage());
    }
  }

  private MockResponse post(RecordedRequest request, ObjectPath path)
      throws JsonProcessingException {
    if (path.subresource().equals("eviction")) {
      return evict(request, path);
    }
    JsonNode body = JSON.readTree(request.getUtf8Body());
    if (body instanceof ObjectNode object && path.subresource().isEmpty()) {
      if (path.isPod()) {
        pods.complete(object);
      }
      kinds.fillDefaults(path.plural(), object);
    }
    if (path.hasQuery("dryRun=All")) {
      return new MockResponse().setResponseCode(201).setBody(body.toString());
    }
    return crud.dispatch(with(request, HttpMethod.POST, path.object(), body.toString()));
  }

  /** There are no budgets here: an eviction is a deletion. */
  private MockResponse evict(RecordedRequest request, ObjectPath path)
      throws JsonProcessingException {
    JsonNode options = JSON.readTree(request.getUtf8Body()).path("deleteOptions");
    boolean dry =
        path.hasQuery("dryRun=All") || options.path("dryRun").path(0).asText().equals("All");
    MockResponse there = crud.dispatch(with(request, HttpMethod.GET, path.object(), ""));
    if (there.code() != 200 || dry) {
      return there.code() == 200 ? status(201, "", "") : there;
    }
    MockResponse gone = delete(request, path, options);
    return gone.code() == 200 ? status(201, "", "") : gone;
  }

  private MockResponse delete(RecordedRequest request, ObjectPath path)
      throws JsonProcessingException {
    String body = request.getUtf8Body();
    JsonNode options = body.isBlank() ? JSON.createObjectNode() : JSON.readTree(body);
    if (path.hasQuery("dryRun=All") || options.path("dryRun").path(0).asText().equals("All")) {
      return crud.dispatch(with(request, HttpMethod.GET, path.object(), ""));
    }
    return path.name().isEmpty() ? crud.dispatch(request) : delete(request, path, options);
  }

  private MockResponse delete(RecordedRequest request, ObjectPath path, JsonNode options)
      throws JsonProcessingException {
    MockResponse there = crud.dispatch(with(request, HttpMethod.GET, path.object(), ""));
    if (there.code() != 200) {
      return there;
    }
    JsonNode metadata = JSON.readTree(there.getBody().readUtf8()).path("metadata");
    String wanted = options.path("preconditions").path("uid").asText();
    String found = metadata.path("uid").asText();
    if (!wanted.isEmpty() && !wanted.equals(found)) {
      return status(
          CONFLICT,
          "Conflict",
          "the UID in the precondition (%s) does not match the UID in record (%s)"
              .formatted(wanted, found));
    }
    if (path.isPod() && options.has("gracePeriodSeconds")) {
      // The kubelet reads it there.
      String grace =
          "{\"metadata\":{\"deletionGracePeriodSeconds\":%d}}"
              .formatted(options.path("gracePeriodSeconds").asLong());
      crud.dispatch(with(request, HttpMethod.PATCH, path.object(), grace));
    }
    return crud.dispatch(with(request, HttpMethod.DELETE, path.object(), ""));
  }

  private MockResponse change(RecordedRequest request, ObjectPath path)
      throws JsonProcessingException {
    if (path.hasQuery("dryRun=All")) {
      return crud.dispatch(with(request, HttpMethod.GET, path.object(), ""));
    }
    // The server behind it recognizes a status by the end of the path; a resize is a change of the
    // object.
    String target = path.object() + (path.subresource().equals("status") ? "/status" : "");
    String type = String.valueOf(request.getHeader("Content-Type"));
    if (type.contains("strategic-merge-patch")) {
      return strategic(request, path, target);
    }
    return crud.dispatch(
        new RecordedRequest(
            request.getHttpVersion(),
            request.method(),
            target,
            request.getHeaders(),
            request.getBody()));
  }

  private MockResponse strategic(RecordedRequest request, ObjectPath path, String target)
      throws JsonProcessingException {
    MockResponse there = crud.dispatch(with(request, HttpMethod.GET, path.object(), ""));
    if (there.code() != 200
        || !(JSON.readTree(there.getBody().readUtf8()) instanceof ObjectNode object)) {
      return there;
    }
    JsonNode patch = JSON.readTree(request.getUtf8Body());
    String wanted = patch.path("metadata").path("uid").asText();
    String found = object.path("metadata").path("uid").asText();
    if (!wanted.isEmpty() && !wanted.equals(found)) {
      return status(CONFLICT, "Conflict", "uid: expected %s, got %s".formatted(wanted, found));
    }
    merge.apply(object, patch);
    return crud.dispatch(with(request, HttpMethod.PUT, target, object.toString()));
  }

  private static RecordedRequest with(
      RecordedRequest request, HttpMethod method, String path, String body) {
    return new RecordedRequest(
        request.getHttpVersion(),
        method,
        path,
        request
            .getHeaders()
            .newBuilder()
            .set("Content-Type", "application/merge-patch+json")
            .build(),
        new Buffer(body.getBytes(StandardCharsets.UTF_8)));
  }

  private static MockResponse status(int code, String reason, String message) {
    ObjectNode status = JSON.createObjectNode();
    status.put("kind", "Status").put("apiVersion", "v1").put("code", code);
    status.put("status", code < 400 ? "Success" : "Failure");
    status.put("reason", reason).put("message", message);
    return new MockResponse()
        .setResponseCode(code)
        .setHeader("Content-Type", "application/json")
        .setBody(status.toString());
  }

  @Override
  public void shutdown() {
    crud.shutdown();
  }
}
