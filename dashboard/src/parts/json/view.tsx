/** JSON that can be folded, searched and copied, shown from its own text. */
import { useMemo, useState } from "preact/hooks";

import { Copy } from "../copy.tsx";
import { type Node, print, read } from "./exact.ts";

/** Entries of one object or array that are shown before it is asked for more. */
const SHOWN = 100;

export function Json({ source, label }: { source: string; label: string }) {
  const tree = useMemo(() => read(source), [source]);
  const [wanted, setWanted] = useState("");
  const lines = useMemo(() => {
    if (wanted === "") return [];
    const needle = wanted.toLowerCase();
    return print(tree)
      .split("\n")
      .filter((line) => line.toLowerCase().includes(needle));
  }, [tree, wanted]);
  const large = source.length > 400;
  return (
    <div class="json">
      <div class="json-bar">
        {large && (
          <input
            type="search"
            value={wanted}
            placeholder="Search"
            aria-label={`Search in the ${label}`}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        <span class="quiet">{bytes(source)}</span>
        <Copy text={() => print(tree)} label={`Copy the ${label}`} />
      </div>
      {wanted === "" ? (
        <section class="json-body" aria-label={label} tabIndex={0}>
          <Value node={tree} open={source.length < 20_000} />
        </section>
      ) : (
        <section class="json-body" aria-label={`Lines of the ${label} with ${wanted}`} tabIndex={0}>
          <p class="quiet">{lines.length} lines</p>
          <pre>{lines.slice(0, SHOWN).join("\n")}</pre>
        </section>
      )}
    </div>
  );
}

function bytes(source: string): string {
  const size = new TextEncoder().encode(source).length;
  return size < 10_000 ? `${size} bytes` : `${Math.round(size / 1024)} KiB`;
}

function Value({ node, open }: { node: Node; open: boolean }) {
  if (node.kind === "object" || node.kind === "array") return <Folded node={node} open={open} />;
  const text = node.kind === "string" ? JSON.stringify(node.text) : node.text;
  return <span class={`json-${node.kind}`}>{text}</span>;
}

function Folded({ node, open }: { node: Node & { entries: unknown[] }; open: boolean }) {
  const [isOpen, setOpen] = useState(open);
  const [shown, setShown] = useState(SHOWN);
  const [first, last] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
  const { length } = node.entries;
  if (length === 0) return <span>{first + last}</span>;
  const entries: [string | undefined, Node][] =
    node.kind === "object" ? node.entries : (node.entries as Node[]).map((it) => [undefined, it]);
  return (
    <>
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? `${first}` : `${first} ${length} ${length === 1 ? "entry" : "entries"} ${last}`}
      </button>
      {isOpen && (
        <>
          <ul>
            {entries.slice(0, shown).map(([name, it], index) => (
              <li key={index}>
                {name !== undefined && <span class="json-name">{JSON.stringify(name)}: </span>}
                <Value node={it} open={open} />
                {index + 1 < length && ","}
              </li>
            ))}
            {shown < length && (
              <li>
                <button type="button" class="link" onClick={() => setShown(shown + 10 * SHOWN)}>
                  {length - shown} more
                </button>
              </li>
            )}
          </ul>
          {last}
        </>
      )}
    </>
  );
}
