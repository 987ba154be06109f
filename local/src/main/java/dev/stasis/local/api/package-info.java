/**
 * A replacement of the API server: Fabric8's CRUD server, extended by what pods and kubectl need.
 * It validates no schema, applies no policy and checks no rights.
 */
@NullMarked
package dev.stasis.local.api;

import org.jspecify.annotations.NullMarked;
