import { afterAll } from "bun:test";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";

/** A gateway in front of a scripted upstream, shared by all tests of a file. */
export async function scriptedHarness(
  optionsFor: (upstreamUrl: string) => TestGatewayOptions = (url) => ({ config: modelsOfEveryDialect(url) }),
): Promise<{ upstream: ScriptedUpstream; gateway: TestGateway }> {
  const upstream = await startScriptedUpstream();
  const gateway = await startTestGateway(optionsFor(upstream.url));
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });
  return { upstream, gateway };
}
