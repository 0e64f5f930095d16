import type { Role } from "../../canon/role.ts";

/** A user of the Admin API. */
export interface Operator {
  id: string;
  name: string;
  role: Role;
  /** The only project that an operator with the role `project` can access. */
  project?: string;
}
