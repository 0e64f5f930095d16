import { type JsonObject, numberAt } from "../../../base/json.ts";

/** A tool that this dialect's models know by its type, described so that any other model understands it too. */
interface BuiltInTool {
  description: string;
  schema: JsonObject;
}

const BASH: BuiltInTool = {
  description:
    "Runs a command in a bash shell that lasts for the whole conversation: variables, the working directory and background " +
    "jobs are kept between calls. Give either a command to run, or restart to begin with a new shell.",
  schema: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command to run. Needed unless the shell is restarted." },
      restart: { type: "boolean", description: "true ends the shell and starts a new one." },
    },
  },
};

const TEXT_EDITOR: BuiltInTool = {
  description:
    "Shows and changes text files. view shows a file, or the names in a directory; create writes a whole file; str_replace " +
    "replaces one part of a file, which must occur in it exactly once; insert puts text after a line.",
  schema: {
    type: "object",
    properties: {
      command: { type: "string", enum: ["view", "create", "str_replace", "insert"], description: "What to do." },
      path: { type: "string", description: "Absolute path of the file or directory." },
      view_range: {
        type: "array",
        items: { type: "integer" },
        description:
          "For view: the first and the last line to show, counted from 1; -1 stands for the end of the file.",
      },
      file_text: { type: "string", description: "For create: the content of the file." },
      old_str: { type: "string", description: "For str_replace: the piece to replace, to the letter." },
      new_str: { type: "string", description: "For str_replace: what to put in its place." },
      insert_line: { type: "integer", description: "For insert: the line after which to insert; 0 is the beginning." },
      insert_text: { type: "string", description: "For insert: the text to put there." },
    },
    required: ["command", "path"],
  },
};

const MEMORY: BuiltInTool = {
  description:
    "Keeps notes in files below /memories, which last beyond this conversation. Look at them before you start. view shows a file, " +
    "or the names in a directory; create writes a whole file; str_replace replaces one part of a file, which must occur in it " +
    "exactly once; insert puts text after a line; delete removes a file or directory; rename moves one.",
  schema: {
    type: "object",
    properties: {
      command: {
        type: "string",
        enum: ["view", "create", "str_replace", "insert", "delete", "rename"],
        description: "What to do.",
      },
      path: { type: "string", description: "Path of the file or directory, below /memories. Not for rename." },
      view_range: {
        type: "array",
        items: { type: "integer" },
        description: "For view: the first and the last line to show, counted from 1.",
      },
      file_text: { type: "string", description: "For create: the content of the file." },
      old_str: { type: "string", description: "For str_replace: the piece to replace, to the letter." },
      new_str: { type: "string", description: "For str_replace: what to put in its place." },
      insert_line: { type: "integer", description: "For insert: the line after which to insert; 0 is the beginning." },
      insert_text: { type: "string", description: "For insert: the text to put there." },
      old_path: { type: "string", description: "For rename: the present path." },
      new_path: { type: "string", description: "For rename: the new path." },
    },
    required: ["command"],
  },
};

const POSITION = { type: "array", items: { type: "integer" } };

function sizeOf(tool: JsonObject): string {
  const [width, height] = [numberAt(tool, "display_width_px"), numberAt(tool, "display_height_px")];
  if (width === undefined || height === undefined) return "";
  return `, which is ${width} pixels wide and ${height} pixels high`;
}

/** Positions are in pixels of the screen that the tool declares, which the client scales its screenshots to. */
const computer = (tool: JsonObject): BuiltInTool => ({
  description:
    "Uses the screen, mouse and keyboard of a computer. Positions are in pixels, counted from the top left corner of the screen" +
    `${sizeOf(tool)}. Take a screenshot first, and after each step to see its effect.`,
  schema: {
    type: "object",
    properties: {
      action: {
        type: "string",
        enum: [
          ...["screenshot", "left_click", "right_click", "middle_click", "double_click", "triple_click", "mouse_move"],
          ...["left_click_drag", "left_mouse_down", "left_mouse_up", "scroll", "type", "key", "hold_key", "wait"],
          ...["cursor_position", ...(tool["enable_zoom"] === true ? ["zoom"] : [])],
        ],
        description:
          "What to do. Clicks, mouse_move and scroll take a coordinate; left_click_drag goes from start_coordinate to coordinate; type " +
          "takes text; key and hold_key take key names in text, such as ctrl+s; hold_key and wait take a duration.",
      },
      coordinate: { ...POSITION, description: "The position, as x and y." },
      start_coordinate: { ...POSITION, description: "For left_click_drag: where to begin, as x and y." },
      text: { type: "string", description: "The text to type, the keys to press, or keys to hold during a click." },
      scroll_direction: { type: "string", enum: ["up", "down", "left", "right"], description: "For scroll." },
      scroll_amount: { type: "integer", description: "For scroll: the number of wheel clicks." },
      duration: { type: "number", description: "For hold_key and wait: seconds." },
      ...(tool["enable_zoom"] === true
        ? { region: { ...POSITION, description: "For zoom: the left, top, right and bottom edge." } }
        : {}),
    },
    required: ["action"],
  },
});

/** Built-in tools that the client runs; undefined for hosted ones. */
export function builtInTool(type: string, tool: JsonObject): BuiltInTool | undefined {
  if (/^computer_\d+$/.test(type)) return computer(tool);
  if (/^bash_\d+$/.test(type)) return BASH;
  if (/^memory_\d+$/.test(type)) return MEMORY;
  return /^text_editor_\d+$/.test(type) ? TEXT_EDITOR : undefined;
}
