/** The bar of the selected jobs: how many, and what can be done with them. */
import type { Action as Name } from "../../api/calls.ts";
import { forbidden } from "../../live/access.ts";
import { Action } from "../../parts/button.tsx";
import { howMany, type Chosen as Jobs } from "./selection.ts";

const BULK: readonly [Name, string][] = [
  ["retry", "Retry…"],
  ["cancel", "Cancel…"],
  ["run_now", "Run now…"],
  ["delete", "Delete…"],
];

interface Props {
  chosen: Jobs;
  onAsk: (action: Name) => void;
  /** Selects all that match; there is no more to select where it is left out. */
  onAll: (() => void) | undefined;
  onNone: () => void;
}

export function Chosen({ chosen, onAsk, onAll, onNone }: Props) {
  if (chosen.jobs.length === 0) return null;
  return (
    <div class="chosen" role="toolbar" aria-label="What can be done with the selected jobs">
      <span role="status">
        {howMany(chosen)} selected{chosen.isAll && ": all that match"}
      </span>
      {BULK.map(([action, label]) => (
        <Action
          key={action}
          label={label}
          kind="small"
          unless={forbidden("bulk")}
          onClick={() => onAsk(action)}
        />
      ))}
      {onAll && (
        <button type="button" class="small" onClick={onAll}>
          Select all that match
        </button>
      )}
      <button type="button" class="small" onClick={onNone}>
        Select none
      </button>
    </div>
  );
}
