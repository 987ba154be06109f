/**
 * The endpoint for kubectl: discovery, tables, logs and watches over plain HTTP. All other requests
 * are forwarded to the replacement of the API server.
 */
@NullMarked
package dev.stasis.local.gate;

import org.jspecify.annotations.NullMarked;
