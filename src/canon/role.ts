/**
 * What an operator may do with the Admin API: `admin` everything, `viewer` read what is no secret, `project` see and change the
 * keys of one project and see its usage.
 */
export const ROLES = ["admin", "viewer", "project"] as const;

export type Role = (typeof ROLES)[number];
