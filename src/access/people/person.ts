import type { Role } from "../../canon/role.ts";
import type { StoredPerson } from "../../storage/tables/operator-sessions.ts";
import type { Operator } from "./operator.ts";
import { subjectId } from "./subject-id.ts";

/** A group of the issuer, and what its members may do. */
export interface GroupRole {
  readonly group: string;
  readonly role: Role;
  /** For the role `project`. */
  readonly project?: string;
}

/** Who may log in at an issuer, as it is configured now. */
export interface PeopleRoles {
  readonly issuer: string;
  readonly roles: readonly GroupRole[];
}

/** The first role that matches one of the groups; undefined if none does, or the issuer is not that of the configuration. */
export function roleOf({ issuer, groups }: Pick<StoredPerson, "issuer" | "groups">, people: PeopleRoles | undefined) {
  if (people?.issuer !== issuer) return undefined;
  return people.roles.find(({ group }) => groups.includes(group));
}

/** The operator that a person is at this moment: a changed configuration changes what its sessions may do. */
export function operatorOfPerson(person: StoredPerson, people: PeopleRoles | undefined): Operator | undefined {
  const found = roleOf(person, people);
  if (found === undefined) return undefined;
  const { role, project } = found;
  // Names of people are chosen elsewhere, so that they could be the name of an operator.
  const operator = { id: personId(person), name: `oidc:${person.name}`, role };
  return project === undefined ? operator : { ...operator, project };
}

/** The same subject of another issuer is another person. */
export const personId = ({ issuer, subject }: Pick<StoredPerson, "issuer" | "subject">): string =>
  `oidc_${subjectId(issuer, subject).slice("sub_".length)}`;
