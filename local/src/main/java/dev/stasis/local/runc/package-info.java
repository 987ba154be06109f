/** Runs containers with runc: each in its own bundle, with its output in a file. */
@NullMarked
package dev.stasis.local.runc;

import org.jspecify.annotations.NullMarked;
