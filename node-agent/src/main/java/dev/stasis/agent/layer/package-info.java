/**
 * Archives of the files that a workload wrote: the container's writable layer, /dev/shm and
 * emptyDirs.
 *
 * <p>Names and attribute values are bytes to Linux. Inside this package a name is a string with one
 * character for each byte (ISO 8859-1), so that none is lost; messages show them as UTF-8.
 */
@NullMarked
package dev.stasis.agent.layer;

import org.jspecify.annotations.NullMarked;
