package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * A store in a bucket of an S3 server of this machine, encrypted. Agents read its Secrets by the
 * rights that the chart would give them.
 *
 * @param folder with the bucket, and the folder of the store on the nodes
 */
record EncryptedBucket(Scenario scenario, String name, Path folder, Process server)
    implements AutoCloseable {

  private static final String BUCKET = "bucket";

  /** The keys are those of a Secret. */
  static EncryptedBucket make(Scenario scenario) {
    return make(scenario, "{secretName: " + scenario.namespace() + "-keys, key: key-1}");
  }

  /** The keys are wrapped by that plugin. */
  static EncryptedBucket make(Scenario scenario, KmsProcess kms) {
    return make(scenario, "{kms: {endpoint: \"unix://" + kms.socket() + "\", keyId: key-1}}");
  }

  private static EncryptedBucket make(Scenario scenario, String encryption) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: the S3 server is one of this machine, and so have to be the agents");
    Path rclone = Checkout.ofThisBuild().root().resolve(".tools/bin/rclone");
    Assumptions.assumeTrue(
        Files.isExecutable(rclone), "skipped: no S3 server: expected .tools/bin/rclone; bin/setup");
    try {
      Path folder = Files.createTempDirectory(Path.of("/var/tmp"), "stasis-e2e-s3");
      Files.createDirectories(folder.resolve("data").resolve(BUCKET));
      int port = freePort();
      Process server =
          new ProcessBuilder(
                  rclone.toString(),
                  "serve",
                  "s3",
                  "--addr",
                  "127.0.0.1:" + port,
                  "--auth-key",
                  "access,secret",
                  "--config",
                  "/dev/null",
                  folder.resolve("data").toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      EncryptedBucket bucket = new EncryptedBucket(scenario, scenario.namespace(), folder, server);
      scenario.until("an S3 server that answers", () -> answers(port));
      bucket.apply(port, encryption);
      new StoreReach(scenario).untilReached(bucket.name());
      return bucket;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void apply(int port, String encryption) {
    String objects =
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: %1$s, namespace: %2$s}
        stringData:
          AWS_ACCESS_KEY_ID: access
          AWS_SECRET_ACCESS_KEY: secret
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: %1$s, namespace: %2$s}
        rules:
        - {apiGroups: [""], resources: [secrets], resourceNames: [%1$s, %1$s-keys], verbs: [get]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: %1$s, namespace: %2$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %1$s}
        subjects:
        - {kind: ServiceAccount, name: stasis-agent, namespace: %2$s}
        ---
        apiVersion: v1
        kind: Secret
        metadata: {name: %1$s-keys, namespace: %2$s}
        stringData:
          key-1: %3$s
        ---
        apiVersion: stasis.dev/v1beta1
        kind: GpuCheckpointStore
        metadata: {name: %1$s}
        spec:
          location:
            s3:
              endpoint: http://127.0.0.1:%5$d
              bucket: %6$s
              prefix: cluster-1
              pathStyle: true
              credentialsSecretName: %1$s
          allowedNamespaces: {names: [%1$s]}
          encryption: %7$s
          options: {localPath: %4$s, durability: Remote, minFree: 0}
        """
            .formatted(
                name,
                scenario.installation().namespace(),
                "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=",
                local(),
                port,
                BUCKET,
                encryption);
    // In two namespaces, which kubectl takes only without an option for one.
    Shell.Result result = new Shell().feed(objects, "kubectl", "apply", "-f", "-");
    if (!result.ok()) {
      throw new AssertionError("kubectl apply: " + result.output());
    }
  }

  /** Where nodes have artifacts before the upload and after the download. */
  Path local() {
    return folder.resolve("local");
  }

  /** The objects in the bucket. */
  List<Path> objects() throws IOException {
    return files(folder.resolve("data"));
  }

  /** The files of artifacts on the nodes. */
  List<Path> copies() throws IOException {
    return files(local());
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() throws InterruptedException {
    scenario.admin().resources(GpuCheckpointStore.class).withName(name).delete();
    String system = scenario.installation().namespace();
    new Shell()
        .run(
            "kubectl",
            "--namespace",
            system,
            "delete",
            "--ignore-not-found",
            "rolebinding/" + name,
            "role/" + name,
            "secret/" + name,
            "secret/" + name + "-keys");
    server.destroy();
    if (!server.waitFor(10, TimeUnit.SECONDS)) {
      server.destroyForcibly();
    }
    new Shell().run("rm", "-rf", folder.toString());
  }
}
