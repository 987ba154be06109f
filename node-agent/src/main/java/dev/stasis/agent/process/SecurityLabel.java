package dev.stasis.agent.process;

import java.util.regex.Pattern;

/**
 * The label by which AppArmor or SELinux confines a thread.
 *
 * @param apparmor true for an AppArmor profile, false for a SELinux label
 * @param text the label in the kernel's format
 */
public record SecurityLabel(boolean apparmor, String text) {

  /** The kernel appends this to the name of a profile. */
  private static final Pattern MODE = Pattern.compile(" \\([a-z]+\\)$");

  /** Returns whether AppArmor is enabled and the thread is unconfined. */
  public boolean isUnconfined() {
    return apparmor && text.equals("unconfined");
  }

  /** The name of the profile, or of all stacked profiles, without the mode. */
  public String profile() {
    return MODE.matcher(text).replaceFirst("");
  }

  /** The property's name in messages. */
  public String property() {
    return apparmor ? "AppArmor profile" : "SELinux label";
  }
}
