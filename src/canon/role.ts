/**
 * What an operator can do in the Admin API. `admin`: everything. `viewer`: read everything except secrets. `project`: read and change the
 * keys of one project, and read its usage.
 */
export const ROLES = ["admin", "viewer", "project"] as const;

export type Role = (typeof ROLES)[number];
