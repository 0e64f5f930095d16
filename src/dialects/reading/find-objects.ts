import { isObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { ObjectKind } from "../../canon/ownership.ts";
import { pathTo } from "./explain-mismatch.ts";
import type { ObjectField, ObjectFields } from "./object-fields.ts";

/** Where a request names an object that a provider may store. */
export interface ObjectReference {
  path: string;
  id: string;
  what: string;
  /** The kind of gateway object that it can refer to. */
  kind: ObjectKind | undefined;
}

/** What vendors declare about the objects in their accounts. */
export interface VendorObjects {
  /** The owners of objects that every account can use. */
  readonly publicOwners: ReadonlySet<unknown>;
  /** Match the names of hosts that store uploaded files. */
  readonly filesHosts: readonly RegExp[];
}

/** No legitimate request names more. */
const MAX_REFERENCES = 1_000;

/**
 * Every place where a request names an object, in order, except objects that belong to one of the `publicOwners`. The nesting of
 * the request is limited by the check of the body.
 */
export function findObjects(body: object, fields: ObjectFields, vendors: VendorObjects): ObjectReference[] {
  const walk = new Walk(fields, vendors);
  walk.object(body as Readonly<Record<string, unknown>>, "", undefined);
  return walk.found;
}

class Walk {
  readonly found: ObjectReference[] = [];
  readonly #fields: ObjectFields;
  readonly #vendors: VendorObjects;

  constructor(fields: ObjectFields, vendors: VendorObjects) {
    this.#fields = fields;
    this.#vendors = vendors;
  }

  object(
    record: Readonly<Record<string, unknown>>,
    path: string,
    members: ReadonlyMap<string, ObjectField> | undefined,
  ): void {
    const { fields, opaque, repeated, bare } = this.#fields;
    const type = record["type"];
    if (typeof type === "string") {
      if (repeated.has(type)) return;
      const item = bare.get(type);
      if (item !== undefined && !item.isWhole(record)) this.#name(record[item.field], item, pathTo(path, item.field));
    }
    for (const key in record) {
      const value = record[key];
      if (value === null || value === undefined || opaque.has(key)) continue;
      const field = members?.get(key) ?? fields.get(key);
      if (field !== undefined && !this.#isPublic(field, record)) this.#name(value, field, pathTo(path, key));
      if (typeof value === "object") this.#inside(value, pathTo(path, key), this.#fields.members.get(key));
    }
  }

  #isPublic({ owner }: ObjectField, record: Readonly<Record<string, unknown>>): boolean {
    return owner !== undefined && this.#vendors.publicOwners.has(record[owner]);
  }

  #inside(value: object, path: string, members: ReadonlyMap<string, ObjectField> | undefined): void {
    if (isObject(value)) {
      this.object(value, path, members);
      return;
    }
    if (!Array.isArray(value)) return;
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null) this.#inside(item, `${path}[${index}]`, members);
    }
  }

  /** A string, or an array of strings. */
  #name(value: unknown, field: Pick<ObjectField, "what" | "like" | "kind">, path: string): void {
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries())
        if (typeof one === "string") this.#name(one, field, `${path}[${index}]`);
      return;
    }
    if (typeof value !== "string" || value === "" || field.like?.(value, this.#vendors.filesHosts) === false) return;
    if (this.found.length === MAX_REFERENCES) {
      const message = `The request refers to more than ${MAX_REFERENCES} stored objects, which is the limit. Refer to fewer.`;
      throw new GatewayError("invalid_request", message, { path });
    }
    this.found.push({ path, id: value, what: field.what, kind: field.kind });
  }
}
