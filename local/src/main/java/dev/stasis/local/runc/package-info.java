/** Containers by runc: each in a bundle of its own, with its output in a file. */
@NullMarked
package dev.stasis.local.runc;

import org.jspecify.annotations.NullMarked;
