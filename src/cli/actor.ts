import { userInfo } from "node:os";
import type { Actor } from "../access/audit.ts";

/** Anyone who can read the configuration has full access; the audit log records the machine's user account. */
export const COMMAND_LINE: Actor = { who: `command line (${accountName()})` };

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the process may run as a number without an account.
    return "unknown account";
  }
}
