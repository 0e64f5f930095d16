import { describe, expect, test } from "bun:test";
import type { AutoChoice } from "../canon/preference.ts";
import type { Model } from "../catalogue/model.ts";
import { type AutoOption, chooseModel } from "./auto.ts";

const option = (
  name: string,
  quality: number | undefined,
  usd: number | undefined,
  more: Partial<AutoOption> = {},
) => ({
  model: { id: `acme/${name}`, ...(quality === undefined ? {} : { quality }) } as Model,
  offers: [],
  costNanoUsd: usd === undefined ? undefined : usd * 1e9,
  tokensPerSecond: undefined,
  rests: false,
  ...more,
});

const OPTIONS = [
  option("flagship", 10, 0.05),
  option("middle", 8, 0.01),
  option("small", 5, 0.0012),
  option("tiny", 2, 0.00025),
];

const chosen = (choice: AutoChoice, options: readonly AutoOption[] = OPTIONS, preferred?: Model) =>
  chooseModel(options, choice, preferred);
const nameOf = (choice: AutoChoice, options?: readonly AutoOption[]) => chosen(choice, options).option.model.id;

describe("choices 8: trivium/auto", () => {
  test("price: the cheapest for this call that is good enough", () => {
    expect(chosen({ preference: "price" })).toMatchObject({
      option: OPTIONS[2],
      next: OPTIONS[1],
      why: "trivium/auto chose acme/small from 4 models: cheapest for this call (about $0.0012)",
    });
  });

  test("complexity moves the least quality", () => {
    const by = (complexity: "low" | "medium" | "high") => nameOf({ preference: "price", complexity });
    expect([by("low"), by("medium"), by("high")]).toEqual(["acme/tiny", "acme/small", "acme/middle"]);
    const onTheFloor = [option("seven", 7, 1), option("six", 6, 0.1)];
    expect(chosen({ preference: "price", complexity: "high" }, onTheFloor).why).toBe(
      "trivium/auto chose acme/seven from 2 models: cheapest for this call (about $1.00)",
    );
    const four = [option("five", 5, 1), option("four", 4, 0.1), option("three", 3, 0.01)];
    expect(nameOf({ preference: "price" }, four)).toBe("acme/four");
  });

  test("if none is good enough, the best by the same preference, as noted in the receipt", () => {
    const low = [option("three", 3, 1), option("two", 2, 0.5)];
    expect(chosen({ preference: "price" }, low).why).toBe(
      "trivium/auto chose acme/two from 2 models: cheapest for this call (about $0.50), though below the required quality of 4",
    );
  });

  test("performance: quality, then speed, then price", () => {
    expect(chosen({ preference: "performance" }).why).toBe(
      "trivium/auto chose acme/flagship from 4 models: highest quality (10 of 10)",
    );
    const equals = [
      option("slow", 9, 0.01, { tokensPerSecond: 20 }),
      option("fast", 9, 0.05, { tokensPerSecond: 90 }),
      option("unknown", 9, 0.001),
    ];
    expect(nameOf({ preference: "performance" }, equals)).toBe("acme/fast");
    const untimed = [option("dear", 9, 0.05), option("cheap", 9, 0.01)];
    expect(nameOf({ preference: "performance" }, untimed)).toBe("acme/cheap");
  });

  test("balanced: places in both orders, added up among those that are good enough; at equal sums the middle", () => {
    // Quality: flagship 0, middle 1, small 2; price: small 0, middle 1, flagship 2; tiny is below the floor.
    expect(chosen({}).why).toBe(
      "trivium/auto chose acme/middle from 4 models: best balance of quality (8 of 10) and price (about $0.010)",
    );
    expect(nameOf({ preference: "balanced" })).toBe("acme/middle");
    // An even number of them: of the two in the middle, the cheaper.
    expect(nameOf({ complexity: "low" })).toBe("acme/small");
    const bargain = [...OPTIONS, option("bargain", 9, 0.0011)];
    expect(nameOf({}, bargain)).toBe("acme/bargain");
    // Places are counted among those that are good enough: the tiny one takes none of them.
    expect(nameOf({}, [option("a", 9, 0.03), option("b", 8, 0.02), option("tiny", 1, 0.001)])).toBe("acme/b");
  });

  test("a preferred model is first, regardless of its quality", () => {
    const [, , , tiny] = OPTIONS;
    expect(chosen({ preference: "acme/tiny", complexity: "high" }, OPTIONS, tiny?.model)).toMatchObject({
      option: { model: { id: "acme/tiny" } },
      why: "trivium/auto chose acme/tiny from 4 models: the preferred model",
      next: { model: { id: "acme/middle" } },
    });
  });

  test("models that cannot be called now are last, preferred or not", () => {
    const resting = OPTIONS.map((one) => ({ ...one, rests: one.model.id !== "acme/tiny" }));
    expect(nameOf({ preference: "performance" }, resting)).toBe("acme/tiny");
    expect(chosen({}, resting, resting[0]?.model).option.model.id).toBe("acme/tiny");
    const all = OPTIONS.map((one) => ({ ...one, rests: true }));
    expect(nameOf({ preference: "performance" }, all)).toBe("acme/flagship");
  });

  test("without a rank a model counts as 5; without a price it is the most expensive", () => {
    const options = [option("unknown", undefined, 1), option("six", 6, 0.5), option("four", 4, 0.1)];
    expect(nameOf({ preference: "performance" }, options.slice(0, 1).concat(options.slice(2)))).toBe("acme/unknown");
    const dark = [option("dark", 9, undefined), option("dear", 9, 100)];
    expect(nameOf({ preference: "price" }, dark)).toBe("acme/dear");
    expect(chosen({ preference: "price" }, dark.slice(0, 1))).toMatchObject({
      why: "trivium/auto chose acme/dark from 1 models: cheapest for this call (unknown)",
      next: undefined,
    });
  });

  test("at equal price the better; between equals the order of the list", () => {
    expect(nameOf({ preference: "price" }, [option("a", 5, 1), option("b", 6, 1)])).toBe("acme/b");
    for (const preference of ["price", "performance", "balanced"]) {
      expect(nameOf({ preference }, [option("first", 5, 1), option("second", 5, 1)])).toBe("acme/first");
    }
  });

  test("prices are shown with two digits", () => {
    const words = (usd: number) => chosen({ preference: "price" }, [option("a", 5, usd)]).why.split("about ")[1];
    expect([0, 12.5, 0.034, 0.00056, 0.00000002].map(words)).toEqual([
      "$0.00)",
      "$12.50)",
      "$0.034)",
      "$0.00056)",
      "$0.000000020)",
    ]);
  });

  test("an empty choice is a mistake of the program", () => {
    expect(() => chooseModel([], {})).toThrow("a choice needs a model");
  });
});
