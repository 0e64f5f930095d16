import { isPlainLine } from "../base/is-plain-line.ts";
import type { Random, Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { ROLES, type Role } from "../canon/role.ts";
import type { Storage } from "../storage/storage.ts";
import {
  insertOperator,
  markOperatorRevoked,
  type StoredOperator,
  selectOperators,
  selectOperatorsByIdOrName,
} from "../storage/tables/operators.ts";
import { type Actor, recordAct } from "./audit.ts";
import { hashKey, hintOf } from "./key-hash.ts";
import { findProject } from "./projects.ts";

const SECRET_PREFIX = "trv-op-";
const SECRET_BYTES = 32;
const SECRET_PATTERN = /^trv-op-[A-Za-z0-9_-]{43}$/;
const MAX_NAME_LENGTH = 100;

/** Whether the text can be an operator's secret; if not, the storage is not queried. */
export const isOperatorSecret = (text: string): boolean => SECRET_PATTERN.test(text);

interface OperatorRequest {
  name: string;
  role: string;
  project?: string;
}

/** An operator without the digest, for display. */
export interface OperatorView {
  id: string;
  name: string;
  role: Role;
  project: string | null;
  hint: string;
  created_at: string;
  revoked_at: string | null;
}

/** Creates an operator. The secret is shown only here. */
export async function createOperator(
  storage: Storage,
  request: OperatorRequest,
  sources: Sources,
  actor: Actor,
): Promise<OperatorView & { secret: string }> {
  const { clock, random } = sources;
  const role = checkRole(request.role);
  const project = await checkProject(storage, role, request.project);
  const secret = newSecret(random);
  const operator: StoredOperator = {
    id: `op_${random.bytes(12).toHex()}`,
    name: checkName(request.name),
    role,
    ...withoutAbsent({ project }),
    hash: hashKey(secret),
    hint: hintOf(secret),
    createdAtMs: Math.round(clock.wallMs()),
  };
  await storage.transaction(async (queries) => {
    const namesakes = await selectOperatorsByIdOrName(queries, operator.name);
    if (namesakes.some(({ revokedAtMs }) => revokedAtMs === undefined)) {
      throw new GatewayError("invalid_request", `An operator named ${operator.name} already exists.`, {
        path: "name",
      });
    }
    await insertOperator(queries, operator);
    const act = { ...actor, act: "operator.create", target: operator.id, after: operatorView(operator) };
    await recordAct(queries, project === undefined ? act : { ...act, project }, sources);
  });
  return { ...operatorView(operator), secret };
}

export async function listOperators(storage: Storage): Promise<OperatorView[]> {
  return (await selectOperators(storage)).map(operatorView);
}

/** Revokes the operator of that id, or the valid one of that name; its sessions end at once. */
export async function revokeOperator(
  storage: Storage,
  idOrName: string,
  sources: Sources,
  actor: Actor,
): Promise<OperatorView> {
  const found = await selectOperatorsByIdOrName(storage, idOrName);
  const operator =
    found.find(({ id }) => id === idOrName) ??
    found.find(({ revokedAtMs }) => revokedAtMs === undefined) ??
    found.at(-1);
  if (operator === undefined) {
    const message = `No operator has the id or name ${JSON.stringify(idOrName.slice(0, 100))}.`;
    throw new GatewayError("not_found", message, { code: "operator_not_found" });
  }
  if (operator.revokedAtMs !== undefined) return operatorView(operator);
  const revokedAtMs = Math.round(sources.clock.wallMs());
  const { revoked_at, ...view } = operatorView({ ...operator, revokedAtMs });
  await storage.transaction(async (queries) => {
    await markOperatorRevoked(queries, operator.id, revokedAtMs);
    const about = { act: "operator.revoke", target: operator.id, before: { name: view.name }, after: { revoked_at } };
    await recordAct(queries, { ...actor, ...about }, sources);
  });
  return { ...view, revoked_at };
}

const newSecret = ({ bytes }: Pick<Random, "bytes">): string =>
  SECRET_PREFIX + bytes(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });

function operatorView({ id, name, role, project, hint, createdAtMs, revokedAtMs }: StoredOperator): OperatorView {
  return {
    id,
    name,
    role,
    project: project ?? null,
    hint,
    created_at: new Date(createdAtMs).toISOString(),
    revoked_at: revokedAtMs === undefined ? null : new Date(revokedAtMs).toISOString(),
  };
}

function checkRole(role: string): Role {
  const known = ROLES.find((one) => one === role);
  if (known !== undefined) return known;
  throw new GatewayError("invalid_request", `\`role\` must be one of ${ROLES.join(", ")}.`, { path: "role" });
}

function checkName(name: string): string {
  if (name.trim() !== "" && name.length <= MAX_NAME_LENGTH && isPlainLine(name)) return name;
  const message = `\`name\` must have 1 to ${MAX_NAME_LENGTH} characters and no control characters.`;
  throw new GatewayError("invalid_request", message, { path: "name" });
}

async function checkProject(storage: Storage, role: Role, project: string | undefined): Promise<string | undefined> {
  if (role !== "project") {
    if (project === undefined) return undefined;
    const message = `\`project\` can only be set for the role project; the role ${role} can access every project.`;
    throw new GatewayError("invalid_request", message, { path: "project" });
  }
  if (project === undefined) {
    throw new GatewayError("invalid_request", "The role project requires `project`.", { path: "project" });
  }
  return (await findProject(storage, project)).id;
}
