/**
 * A stand-in for the API server: Fabric8's CRUD server, taught what pods and kubectl need on top of
 * it. It checks no schema, no rule and no right: it is no Kubernetes.
 */
@NullMarked
package dev.stasis.local.api;

import org.jspecify.annotations.NullMarked;
