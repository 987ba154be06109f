/** Memory-backed files: writing into them at memory speed, and huge pages for them. */
@NullMarked
package dev.stasis.agent.tmpfs;

import org.jspecify.annotations.NullMarked;
