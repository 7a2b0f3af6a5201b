/** What a page shows while there is nothing to show yet, or no more. */
import type { ComponentChildren } from "preact";

import type { Resource } from "../live/resource.ts";
import { sentence } from "./sentence.ts";

/** Shows something loaded; older stays with a note when newer cannot be had. */
export function Shown<T>(props: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = props.of;
  if (data === undefined && error === undefined)
    return (
      <p class="quiet" aria-busy="true">
        Loading…
      </p>
    );
  return (
    <>
      {error && (
        <p role="alert" class="problem">
          {sentence(
            data === undefined ? error.message : `what is shown may be old: ${error.message}`,
          )}
        </p>
      )}
      {data !== undefined && props.children(data)}
    </>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export const number = (value: number): string => value.toLocaleString("en").replaceAll(",", " ");
