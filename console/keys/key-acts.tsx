import type { Key } from "../api/types.ts";
import { EditGroup, RevokeKey, RotateKey } from "./key-dialogs.tsx";
import type { KeyAct } from "./key-menu.ts";

interface Props {
  item: Key;
  act: KeyAct;
  onDone: () => void;
  onClose: () => void;
}

/** The dialog of an action. */
export function KeyActDialog({ act, ...of }: Props) {
  if (act === "rotate") return <RotateKey {...of} />;
  if (act === "revoke") return <RevokeKey {...of} />;
  return <EditGroup {...of} group={act === "limits" ? "limits" : "general"} />;
}
