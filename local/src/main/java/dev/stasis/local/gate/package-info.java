/**
 * The door for people: what kubectl needs beyond objects, namely discovery, tables, logs and
 * watches by plain HTTP. Everything else is handed on to the stand-in for the API server.
 */
@NullMarked
package dev.stasis.local.gate;

import org.jspecify.annotations.NullMarked;
