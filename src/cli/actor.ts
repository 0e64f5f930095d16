import { userInfo } from "node:os";
import type { Actor } from "../access/audit.ts";

/** Whoever may read the configuration may do anything: the audit log names the account of the machine. */
export const COMMAND_LINE: Actor = { who: `command line (${accountName()})` };

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the process may run as a number without an account.
    return "unknown account";
  }
}
