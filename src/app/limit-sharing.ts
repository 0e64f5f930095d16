import type { Sources } from "../base/sources.ts";
import type { Config } from "../config/config.ts";
import type { LeaseSource } from "../leases/lease-source.ts";
import { RedisSource } from "../leases/redis-source.ts";

/** Prefix of all keys in Redis. */
const PREFIX = "trivium:";

/** How this process shares limits with others. */
export interface LimitSharing {
  /** Processes with the same name share them. */
  name: string;
  source: LeaseSource;
}

/** Undefined if this process does not share limits. */
export function limitSharing({ redis }: Config, sources: Sources, leaseMs: number): LimitSharing | undefined {
  if (redis === undefined) return undefined;
  const url = redis.reveal().replace(/^valkey/, "redis");
  return { name: "redis", source: new RedisSource({ url, prefix: PREFIX, leaseMs, ...sources }) };
}
