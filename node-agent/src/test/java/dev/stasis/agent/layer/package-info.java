@NullMarked
package dev.stasis.agent.layer;

import org.jspecify.annotations.NullMarked;
