/**
 * The engine for benchmarks: one resident process that executes one request per line, so that no
 * figure includes the start of a JVM.
 */
@org.jspecify.annotations.NullMarked
package dev.stasis.e2e.bench;
