import { ask } from "../api/client.ts";
import { Code } from "./basics.tsx";
import { useData } from "./use-data.ts";

interface Config {
  data: { values: { server?: { public_url?: string; host?: string; port?: number } } };
}

const addressOf = ({ data }: Config): string => {
  const { server = {} } = data.values;
  return server.public_url ?? `http://${server.host ?? "127.0.0.1"}:${server.port ?? 8787}`;
};

/** The base URL for clients of this gateway. */
export const clientsUrl = async (abort: AbortSignal): Promise<string> =>
  addressOf(await ask<Config>("/api/config", {}, abort));

/** Shows how to make a first call, with the address of this gateway. */
export function FirstCall() {
  const { data: base = "http://127.0.0.1:8787" } = useData("config", clientsUrl);
  return (
    <>
      <p>
        Calls appear here as they happen. To make one, <a href="/keys">create an API key</a> and send a request, or try
        a model in the <a href="/play">playground</a>.
      </p>
      <Code
        text={`curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer $TRIVIUM_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"sim/standard","messages":[{"role":"user","content":"Hello"}]}'`}
      />
    </>
  );
}
