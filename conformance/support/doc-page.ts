import { afterAll, beforeAll, expect, test } from "bun:test";
import { programsPresent } from "../../testing/is-present.ts";
import { ExampleFolder, Page } from "./doc-examples.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

interface DocPage {
  /** How many blocks of each language it has: all of them must be run. */
  blocks: Readonly<Record<string, number>>;
  /** What its shell examples use. Without them, those are skipped. */
  programs?: readonly string[];
  /** Besides the simulator. */
  config?: object;
}

type Run = (page: Page, folder: ExampleFolder, gateway: TestGateway) => Promise<void>;

/** Tests the examples of a page as a reader runs them, against a gateway with the simulator. */
export function testPage(file: string, { blocks, programs = [], config = {} }: DocPage) {
  const page = new Page(file);
  const canPaste = programs.length === 0 || programsPresent(`shell examples of ${file}`, ...programs);
  let folder: ExampleFolder | undefined;
  let gateway: TestGateway | undefined;

  beforeAll(async () => {
    gateway = await startTestGateway({ config: { simulator: true, ...config } });
    folder = new ExampleFolder({
      TRIVIUM_URL: gateway.url,
      TRIVIUM_API_KEY: gateway.key,
      TRIVIUM_ADMIN_URL: gateway.adminUrl,
      TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    folder?.remove();
  });

  test(`every block of ${file} is run here`, () => {
    expect(page.counts()).toEqual(blocks);
  });

  const example = (isRun: boolean) => (behaviour: string, run: Run) =>
    test.skipIf(!isRun)(`${file}: ${behaviour}`, async () => {
      if (folder === undefined || gateway === undefined) throw new Error("The gateway has not started.");
      await run(page, folder, gateway);
    });
  return { testShell: example(canPaste), testExample: example(true) };
}
