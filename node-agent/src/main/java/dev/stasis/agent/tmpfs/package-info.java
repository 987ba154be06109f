/** Writing into files of memory as fast as memory is. */
@NullMarked
package dev.stasis.agent.tmpfs;

import org.jspecify.annotations.NullMarked;
