package dev.stasis.api.v1beta1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import dev.stasis.api.v1beta1.node.GpuNodeSpec;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * A node with GPUs and the capabilities of its agent. Named after the node and written by its
 * agent.
 */
@Group(Api.GROUP)
@Version(Api.VERSION)
@Plural("gpunodes")
@ShortNames("gnode")
@Categories(Api.SYSTEM_CATEGORY)
@JsonClassDescription(
    "The GPUs of a node, and the capabilities of its agent. Has the name of the "
        + "node, and is written by its agent.")
@ValidationRule(
    value = "size(self.metadata.name) <= 63",
    message =
        "metadata.name: must have at most 63 characters, because the name of the node becomes "
            + "the value of a label")
@AdditionalPrinterColumn(
    name = "Model",
    jsonPath = ".status.gpuModel",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "GPUs",
    jsonPath = ".status.gpuCount",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Driver",
    jsonPath = ".status.host.driver",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Frozen",
    jsonPath = ".status.frozenPods",
    type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
    name = "Age",
    jsonPath = ".metadata.creationTimestamp",
    type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
    name = "Reason",
    jsonPath = ".status.reason",
    type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
    name = "Criu",
    jsonPath = ".status.host.criu",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Kernel",
    jsonPath = ".status.host.kernel",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Agent",
    jsonPath = ".status.agent.version",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Seen",
    jsonPath = ".status.agent.heartbeatTime",
    type = AdditionalPrinterColumn.Type.DATE,
    priority = 1)
@AdditionalPrinterColumn(
    name = "Message",
    jsonPath = ".status.message",
    type = AdditionalPrinterColumn.Type.STRING,
    priority = 1)
public class GpuNode extends CustomResource<GpuNodeSpec, GpuNodeStatus> {}
