import { asGatewayError } from "../canon/error.ts";
import type { Provider } from "../providers/provider.ts";

/** The result of a live check of a provider's credential. */
export interface LiveResult {
  provider: string;
  /** The label of the credential, if the provider has several. */
  credential?: string;
  host: string;
  /** `unchecked`: the provider has no free request, or its response was inconclusive. */
  state: "ok" | "rejected" | "unreachable" | "unchecked";
  detail: string;
}

const TIMEOUT_MS = 10_000;
const REJECTIONS: readonly number[] = [401, 402, 403];

/** Sends a free request, such as for the list of models. Nothing of the response is shown. */
export async function tryProvider(provider: Provider): Promise<LiveResult> {
  const { name, credential, credentialField, host } = provider;
  const which = credential === "" ? {} : { credential };
  const result = (state: LiveResult["state"], detail: string): LiveResult => {
    return { provider: name, ...which, host, state, detail };
  };
  try {
    const probe = await provider.probe();
    if (!probe) return result("unchecked", "this provider has no free way to check a key");
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { status, body } = await fetch(probe.url, { headers: probe.headers, redirect: "manual", signal });
    await body?.cancel();
    if (status >= 200 && status < 300) return result("ok", "key accepted");
    if (REJECTIONS.includes(status) || probe.rejections.includes(status)) {
      return result("rejected", `key rejected (HTTP ${status}); check ${credentialField}`);
    }
    if (status >= 500) return result("unreachable", `the provider returned HTTP ${status}; try again later`);
    return result("unchecked", `could not check the key: listing models returned HTTP ${status}`);
  } catch (thrown) {
    return result("unreachable", explain(thrown));
  }
}

function explain(thrown: unknown): string {
  if (thrown instanceof Error && thrown.name === "TimeoutError") return `no response within ${TIMEOUT_MS / 1000} s`;
  if (thrown instanceof Error && "code" in thrown) return `${thrown.code}; check base_url and the network`;
  return asGatewayError(thrown).message;
}
