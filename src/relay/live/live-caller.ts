import type { Principal } from "../../access/principal.ts";
import type { LiveDialectName } from "../../canon/dialect-name.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { LiveTarget } from "../../routing/target.ts";
import type { IncomingRequest } from "../call.ts";

/** The client of a live connection: what all of its turns share. */
export interface LiveCaller {
  /** The principal now. Throws if it may not call any more, unless only what was refused is recorded. */
  principal(isRefused?: boolean): Principal;
  /** The handshake, as the request that every turn continues. */
  readonly incoming: Omit<IncomingRequest, "credential" | "principal">;
  readonly dialect: LiveDialectName;
  /** It speaks an older form of its protocol, so that hosts of the same protocol are translated to as well. */
  readonly isOlder: boolean;
  /** The model that the session is open for. */
  readonly resolved: Resolved;
}

/** Whether frames pass between client and host as they are. */
export const laneOf = ({ dialect, isOlder }: LiveCaller, { via }: LiveTarget): "native" | "translated" =>
  via === dialect && !isOlder ? "native" : "translated";
