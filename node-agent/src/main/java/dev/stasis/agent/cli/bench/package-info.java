/**
 * The engine under measurement: one resident process that does what it is told a line at a time, so
 * that no start of a JVM stands in a figure.
 */
@org.jspecify.annotations.NullMarked
package dev.stasis.agent.cli.bench;
