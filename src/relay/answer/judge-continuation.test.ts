import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../base/cpu-time.sample.ts";
import { judgeContinuation } from "./judge-continuation.ts";

const SAID = "The capital of France is Paris, which lies on the Seine and has two million inhab";
const REST = "itants. It is old.";

/** As providers are asked: without white space at the end. */
const judge = (text: string, said = SAID, ended = false) =>
  judgeContinuation(text, { said, given: said.trimEnd().length }, ended);
const joined = (text: string, said = SAID, ended = false) => {
  const judgement = judge(text, said, ended);
  return judgement.is === "continuation" ? said + text.slice(judgement.skip) : judgement.is;
};

describe("H17: a continuation is accepted unchanged", () => {
  test.each([
    [SAID, REST],
    ["Hel", "lo there"],
    ["A list:\n\n", "\n\n- one"],
    ["def f():\n    ", "\n    return 1"],
    ["你好", "好的"],
    ["He said", " that she said that"],
    ["1, 2, 3", ", 4, 5"],
  ])("%j goes on with %j", (said, text) => {
    const space = said.slice(said.trimEnd().length);
    expect(joined(text, said, true)).toBe(said + text.slice(space.length));
  });

  test("an end is accepted anywhere", () => {
    expect(joined("", SAID, true)).toBe(SAID);
    expect(joined("", "A list:\n\n", true)).toBe("A list:\n\n");
  });

  test("nothing is decided while it might still be a repetition", () => {
    expect(judge("The cap")).toEqual({ is: "open" });
    expect(judge("which lies on")).toEqual({ is: "open" });
    expect(judge("i")).toEqual({ is: "open" });
    expect(judge("itants.")).toEqual({ is: "continuation", skip: 0 });
  });

  test("any text can continue at any position, unless its own words repeat around the cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 40 }),
        fc.nat(),
        (words, at) => {
          const whole = words.map((word, index) => `${word}${index}`).join(" ");
          const cut = 1 + (at % whole.length);
          const said = whole.slice(0, cut);
          const given = said.trimEnd().length;
          const judgement = judgeContinuation(whole.slice(given), { said, given }, true);
          // Digits of neighbouring numbers may be the same: then it is refused, never joined to something else.
          if (judgement.is === "continuation") expect(said + whole.slice(given).slice(judgement.skip)).toBe(whole);
          else expect(judgement.is).toBe("refused");
        },
      ),
    );
  });
});

describe("H17: a repetition is trimmed where it is certain", () => {
  test("the end of the answer, from the beginning of a word", () => {
    expect(joined(`which lies on the Seine and has two million inhab${REST}`)).toBe(SAID + REST);
  });

  test("all of it", () => {
    expect(joined(SAID + REST)).toBe(SAID + REST);
  });

  test("with white space that the provider was not given", () => {
    const said = `${SAID}itants in all of its parts `;
    expect(joined("two million inhabitants in all of its parts of the city.", said)).toBe(`${said}of the city.`);
  });
});

describe("H17: a possible repetition is rejected", () => {
  test.each([
    ["the last word", "The cat sat on the", "the mat"],
    ["a word of one letter", "This is a", "a test"],
    ["words with the space between", "It is a ", " a dog"],
    ["a word that was cut, as a whole", "for nature an", "and sustainability"],
    ["a mark", "- **", "**Item**"],
    ["a part of a line that repeats itself", "| a | b |\n|---", "|---|\n| 1 | 2 |"],
    ["most of a word", "Encyclopedia", "pedia of"],
    ["too little to be certain", "we go to the beach in sum", "in summer"],
    [
      "words that stand in the answer more than once",
      `${"la la and so it goes on and on and on, ".repeat(3)}la la and so`,
      "it goes on and on and on, la la and so it",
    ],
    [
      "a line that may be said twice",
      "Row, row, row your boat, gently down\n",
      "\nRow, row, row your boat, gently down\nthe stream",
    ],
    [
      "a sentence that may be said twice",
      "Nobody knows the trouble I have seen today.",
      "Nobody knows the trouble I have seen today. Nobody",
    ],
  ])("%s", (_, said, text) => {
    expect(joined(text, said, true)).toBe("refused");
  });

  test("the beginning again, as it was or with another end", () => {
    expect(joined("I am here", "I", true)).toBe("refused");
    expect(joined("The capital", "The", true)).toBe("refused");
    expect(joined(`${SAID.slice(0, 50)} large river`, SAID, true)).toBe("refused");
  });

  test("different white space", () => {
    expect(joined("world", "Hello ", true)).toBe("refused");
    expect(joined("\n  return", "f():\n    ", true)).toBe("refused");
  });

  test("an endless repetition is not held forever", () => {
    const said = "abcdefghij".repeat(10_000);
    expect(judgeContinuation(said.slice(0, 70_000), { said, given: said.length }, false)).toMatchObject({
      is: "refused",
    });
  });
});

test("S18: a repetition that arrives in single characters is judged in time", () => {
  const said = `${"x".repeat(200_000)}y`;
  const before = cpuMs();
  let text = "";
  for (let length = 0; length < 20_000; length++) {
    text += "x";
    judgeContinuation(text, { said, given: said.length }, false);
  }
  expect(cpuMs() - before).toBeLessThan(2_000);
});
