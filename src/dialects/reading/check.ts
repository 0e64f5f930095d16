import type { Static, TSchema } from "typebox";
import { isObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { explainMismatch, type Mismatch } from "./explain-mismatch.ts";
import { type ReadNames, readNamesOf, refuseMiscasedKeys } from "./key-case.ts";
import { listedOnly } from "./listed-only.ts";
import { MAX_NESTING, nestsDeeperThan } from "./nesting.ts";
import type { SchemaNode } from "./schema-node.ts";
import { withoutNulls } from "./without-nulls.ts";

/**
 * `contract`: exactly the contract. `dropin`: for clients that can only be configured with a host; requests are adapted where
 * possible.
 */
export type Door = "contract" | "dropin";

export interface CheckContext {
  door: Door;
  model: { id: string; reasoning: boolean };
  /** The gateway's public URL; absent if messages do not mention it. */
  publicUrl?: () => string;
  /** The nesting depth of the body, if it was determined when the body was read. */
  levels?: number | undefined;
}

/** Throws a GatewayError for the first problem. Returns the body without nulls that only mean "not given". */
export interface RequestCheck<T> {
  (body: unknown, context: CheckContext): T;
  withoutNulls(body: unknown): unknown;
}

/** Rules that a schema cannot express: relations between fields, and what depends on the door or the model. */
export interface CheckRules<T> {
  /** Names that are read although the schema does not have them. */
  alsoRead?: readonly string[];
  /** Runs before the schema, on an object of any content. */
  gate?: (body: Readonly<Record<string, unknown>>, context: CheckContext) => void;
  /** Runs after the schema. */
  relations: (body: T, context: CheckContext) => void;
}

export function refuse(path: string, problem: string): never {
  throw new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}

/** For a valid body, a single call of compiled code. The walk that explains a failure runs only after one. */
export function defineCheck<S extends TSchema>(schema: S, rules: CheckRules<Static<S>>): RequestCheck<Static<S>> {
  const forms: Partial<Record<Door, CompiledForm>> = {};
  // Compiling takes tens of milliseconds, and few processes use every protocol at both doors.
  const formAt = (door: Door): CompiledForm => {
    const form = forms[door] ?? compiled(door === "contract" ? listedOnly(schema) : schema);
    forms[door] = form;
    return form;
  };
  let names: ReadNames | undefined;
  const clean = (body: unknown) => withoutNulls(schema as SchemaNode, body);
  const check = (body: unknown, context: CheckContext): Static<S> => {
    if (context.levels === undefined ? nestsDeeperThan(body, MAX_NESTING) : context.levels > MAX_NESTING) {
      const problem = `The request body is nested deeper than ${MAX_NESTING} levels`;
      throw new GatewayError("invalid_request", `${problem}. Send a flatter one.`);
    }
    names ??= readNamesOf(schema as SchemaNode, rules.alsoRead);
    refuseMiscasedKeys(body, names);
    if (rules.gate !== undefined && isObject(body)) rules.gate(body, context);
    const form = formAt(context.door);
    const taken = form.check(body) ? body : repaired(body, form);
    rules.relations(taken as Static<S>, context);
    return taken as Static<S>;
  };
  return Object.assign(check, { withoutNulls: clean });
}

/** A schema for one of the doors. */
interface CompiledForm {
  schema: SchemaNode;
  check: (body: unknown) => boolean;
}

function compiled(schema: TSchema): CompiledForm {
  // Loaded with the first client request: an idle gateway does not need it (docs/decisions/0071).
  const { Compile } = require("typebox/schema") as typeof import("typebox/schema");
  const validator = Compile(schema);
  return { schema: schema as SchemaNode, check: (body) => validator.Check(body) };
}

/** The body without nulls if nothing else is wrong with it; otherwise throws. */
function repaired(body: unknown, { schema, check }: CompiledForm): unknown {
  const mismatch = explainMismatch(schema, body);
  if (mismatch?.isNull !== true) throw errorOf(mismatch);
  const clean = withoutNulls(schema, body);
  if (!check(clean)) throw errorOf(explainMismatch(schema, clean));
  return clean;
}

function errorOf(mismatch: Mismatch | undefined): GatewayError {
  if (mismatch === undefined) return new GatewayError("invalid_request", "The request body is not valid.");
  const { path, problem } = mismatch;
  if (path === "") return new GatewayError("invalid_request", `The request body ${problem}.`);
  return new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}
