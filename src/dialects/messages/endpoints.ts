import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Asks, DialectEndpoint, EndpointCall, EndpointRequest } from "../endpoint.ts";
import type { Door } from "../reading/check.ts";
import type { MessagesOptions } from "./options.ts";
import { VERSION_2026 } from "./version-2026.ts";

/** The protocol's path roots at the two doors, including aliases (choices 1), and the suffix of operation ids there. */
const ROOTS: readonly [door: Door, root: string, suffix: string][] = [
  ["contract", "/api/msg/v1", ""],
  ["contract", "/api/anthropic/v1", "Alias"],
  ["dropin", "/v1", "DropIn"],
];

export const endpoints: readonly DialectEndpoint[] = ROOTS.flatMap(([door, root, suffix]): DialectEndpoint[] => {
  const documented = (operation: string, rest: string) => [{ operation, path: `${root}${rest}`, suffix }];
  const calls: DialectEndpoint[] = [
    { door, path: `${root}/messages`, asks: "generate", documented: documented("createMessage", "/messages") },
    {
      door,
      path: `${root}/messages/count_tokens`,
      asks: "count_tokens",
      documented: documented("countMessageTokens", "/messages/count_tokens"),
    },
  ];
  // At the drop-in door chat serves the shared list endpoints.
  if (door === "dropin") return calls;
  return [
    ...calls,
    { door, path: `${root}/models`, asks: "list_models", documented: documented("listMessagesModels", "/models") },
    {
      door,
      path: new RegExp(`^${root}/models/(?<id>.+)$`),
      asks: "show_model",
      documented: documented("getMessagesModel", "/models/{provider}/{model}"),
    },
  ];
});

/** Contract 5 and 9: the only version. The vendor's SDKs send it in their own header, and have a later one. */
const CONTRACT_VERSION = "2023-06-01";
const VENDOR_VERSIONS = new Set([CONTRACT_VERSION, VERSION_2026]);

export const VERSION_HEADERS = ["anthropic-version", "partner-version"] as const;

/** Contract 5: not usable at the contract door, whatever its date or spelling. */
const REFUSED_BETA = /^code-execution-/i;

export function readCall(asks: Asks, { headers, door }: EndpointRequest): EndpointCall {
  const version = readVersion(headers);
  const options: MessagesOptions = withoutAbsent({ betas: readBetas(headers, door), version });
  return asks === "count_tokens" ? { stream: false, options } : { options };
}

/** A version later than the contract's, if the client requests one. */
function readVersion(headers: Headers): string | undefined {
  const partner = headers.get("partner-version");
  const vendor = headers.get("anthropic-version");
  if (partner === null && vendor === null) {
    throw new GatewayError(
      "invalid_request",
      `The partner-version (or anthropic-version) header is missing. Send partner-version: ${CONTRACT_VERSION}.`,
      { path: "partner-version" },
    );
  }
  if (partner !== null && partner !== CONTRACT_VERSION) {
    throw wrongVersion("partner-version", partner, [CONTRACT_VERSION]);
  }
  if (vendor !== null && !VENDOR_VERSIONS.has(vendor)) {
    throw wrongVersion("anthropic-version", vendor, [...VENDOR_VERSIONS]);
  }
  return vendor === null || vendor === CONTRACT_VERSION ? undefined : vendor;
}

function wrongVersion(header: string, found: string, right: readonly string[]): GatewayError {
  const message = `The ${header} header must be ${right.join(" or ")}; it is "${found.slice(0, 40)}".`;
  return new GatewayError("invalid_request", message, { path: header });
}

const BETA = /^[\x21-\x7e]+$/;

/** Both spellings of the header, comma-separated or repeated, as one list. */
function readBetas(headers: Headers, door: Door): string[] {
  const betas = ["partner-beta", "anthropic-beta"].flatMap((header) => betasIn(header, headers.get(header) ?? ""));
  const refused = door === "contract" ? betas.find((beta) => REFUSED_BETA.test(beta)) : undefined;
  if (refused !== undefined) {
    throw new GatewayError(
      "invalid_request",
      `The beta ${refused} is not supported because the code-execution tool is not available here. Remove it from the partner-beta header.`,
      { path: "partner-beta" },
    );
  }
  return [...new Set(betas)];
}

/** The names are sent to the provider in a header, which only allows visible ASCII. */
function betasIn(header: string, value: string): string[] {
  const betas = value.split(",").flatMap((beta) => beta.trim() || []);
  if (betas.every((beta) => BETA.test(beta))) return betas;
  const message = `The ${header} header contains an invalid name. Beta names are visible ASCII characters without spaces, separated by commas.`;
  throw new GatewayError("invalid_request", message, { path: header });
}
