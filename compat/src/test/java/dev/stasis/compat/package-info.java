@NullMarked
package dev.stasis.compat;

import org.jspecify.annotations.NullMarked;
