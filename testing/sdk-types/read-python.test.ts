import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { typesIn, wordsOf } from "./declared-type.ts";
import { readPython } from "./read-python.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-python-"));
afterAll(() => rmSync(folder, { recursive: true }));

const FILES: Readonly<Record<string, string>> = {
  "sdk/_models.py": "class BaseModel:\n    machinery: str\n",
  "sdk/types/shared/__init__.py": "from .color import Color as Color\n",
  "sdk/types/shared/color.py": 'Color: TypeAlias = Literal["red", "green"]\n',
  "sdk/types/text_block.py": `
from ..._models import BaseModel

class TextBlock(BaseModel):
    type: Literal["text"]
    """The kind.

    other: Literal["an example, not a field"]
    """

    text: str  # not: Literal["a remark"]
`,
  "sdk/types/message.py": `
from typing import List, Union, Optional
from .._models import BaseModel
from .shared import Color
from .text_block import TextBlock

__all__ = ["Message"]

class Usage(BaseModel):
    input_tokens: int
    cost: Optional[float] = None
    _cache: int

class ToolBlock(TextBlock):
    type: Literal["tool_a", "tool_b"]
    inner: List["Block"]

Block: TypeAlias = Annotated[
    Union[
        TextBlock,
        ToolBlock,
    ],
    PropertyInfo(discriminator="type"),
]

_Reserved = TypedDict("_Reserved", {"from": Required[Color]}, total=False)

class Message(_Reserved, total=False):
    content: Required[Union[str, Iterable[Block]]]
    color: Color
    schema_: Annotated[Optional[str], PropertyInfo(alias="schema")]
    usage: Usage
    if TYPE_CHECKING:
        def helper(self) -> None: ...
    else:
        pass
`,
  "google/types.py": `
class FinishReason(_common.CaseInSensitiveEnum):
  """Why it ended."""

  STOP = 'STOP'
  """A stop."""
  MAX_TOKENS = 'MAX_TOKENS'

class Candidate(_common.BaseModel):
  finish_reason: Optional[FinishReason] = Field(
      default=None,
      description="""Output only: Literal["no"].""",
  )
  token_count_2x: Optional[int] = Field(default=None)
`,
};
for (const [file, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

describe("types of Python packages", () => {
  const [message] = readPython(folder, [{ file: "sdk/types/message.py", type: "Message" }]);
  const members = [...(message?.types ?? [])][0]?.members;

  test("have the members on the wire, with those of their bases and without private ones", () => {
    expect([...(members?.keys() ?? [])]).toEqual(["from", "content", "color", "schema", "usage"]);
    const usage = [...(members?.get("usage")?.types ?? [])][0];
    expect([...(usage?.members ?? [])].map(([name, { numeric }]) => [name, numeric])).toEqual([
      ["input_tokens", true],
      ["cost", true],
    ]);
  });

  test("have the kinds of a union over several lines, also if they contain themselves", () => {
    const content = members?.get("content");
    expect(content && wordsOf(content, "type")).toEqual(["text", "tool_a", "tool_b"]);
    expect([...(content ? typesIn(content) : [])].map(({ name }) => name).sort()).toEqual(["TextBlock", "ToolBlock"]);
  });

  test("have words through aliases and packages", () => {
    expect(members?.get("color")?.words).toEqual(new Set(["red", "green"]));
    expect(members?.get("from")?.words).toEqual(new Set(["red", "green"]));
  });

  test("have camelCase names and the values of enums if the wire has them", () => {
    const [candidate] = readPython(folder, [{ file: "google/types.py", type: "Candidate" }], { camel: true });
    const [type] = candidate?.types ?? [];
    expect([...(type?.members.keys() ?? [])]).toEqual(["finishReason", "tokenCount2x"]);
    expect(type?.members.get("finishReason")?.words).toEqual(new Set(["STOP", "MAX_TOKENS"]));
  });

  test("are undefined if the package does not declare them", () => {
    const roots = [
      { file: "sdk/types/message.py", type: "Letter" },
      { file: "sdk/types/letter.py", type: "Letter" },
    ];
    expect(readPython(folder, roots)).toEqual([undefined, undefined]);
  });
});
