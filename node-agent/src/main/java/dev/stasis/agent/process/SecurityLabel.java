package dev.stasis.agent.process;

/**
 * The label by which AppArmor or SELinux confines a thread.
 *
 * @param apparmor whether it is a profile of AppArmor; otherwise a label of SELinux
 * @param text as the kernel shows it
 */
public record SecurityLabel(boolean apparmor, String text) {

  /** The property's name in messages. */
  public String property() {
    return apparmor ? "AppArmor profile" : "SELinux label";
  }
}
