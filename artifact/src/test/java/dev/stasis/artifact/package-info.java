@NullMarked
package dev.stasis.artifact;

import org.jspecify.annotations.NullMarked;
