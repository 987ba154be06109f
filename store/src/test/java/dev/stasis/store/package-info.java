@NullMarked
package dev.stasis.store;

import org.jspecify.annotations.NullMarked;
