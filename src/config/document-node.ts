export interface Position {
  line: number;
  column: number;
}

export interface MapNode {
  kind: "map";
  position: Position;
  entries: Map<string, MapEntry>;
}

export interface MapEntry {
  /** Where the key is. */
  position: Position;
  node: DocumentNode;
}

interface ListNode {
  kind: "list";
  position: Position;
  items: DocumentNode[];
}

export interface ScalarNode {
  kind: "scalar";
  position: Position;
  value: unknown;
  /** Its schema says so, once it has been read. */
  isSecret?: boolean;
}

/** A value of the file with its position. */
export type DocumentNode = MapNode | ListNode | ScalarNode;

export type Report = (position: Position, message: string) => void;
