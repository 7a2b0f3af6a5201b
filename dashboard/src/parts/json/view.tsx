/** JSON that can be folded, searched, copied and saved, shown from its own text. */
import { useMemo, useRef, useState } from "preact/hooks";

import { leaveField, useKeys } from "../../live/keyboard.ts";
import { Copy } from "../copy.tsx";
import { Download } from "../download.tsx";
import { number } from "../shown.tsx";
import { visible } from "../visible.ts";
import { type Node, print, read } from "./exact.ts";

/** Entries of one object or array that are shown before it is asked for more. */
const SHOWN = 100;

interface Props {
  source: string;
  label: string;
  /** The name of the file that it is saved as, without its end. */
  file: string;
}

export function Json({ source, label, file }: Props) {
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
  const search = useRef<HTMLInputElement>(null);
  useKeys(large ? { "/": () => search.current?.focus() } : {});
  return (
    <div class="json">
      <div class="json-bar">
        {large && (
          <input
            ref={search}
            type="search"
            value={wanted}
            placeholder="Search"
            aria-label={`Search in the ${label}`}
            onKeyDown={leaveField}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        <span class="quiet">{bytes(source)}</span>
        <Copy text={() => print(tree)} label={`Copy the ${label}`} />
        <Download text={source} name={`${file}.json`} label={`Download the ${label}`} />
      </div>
      {wanted === "" ? (
        <section class="json-body" aria-label={label} tabIndex={0}>
          <Value node={tree} open={source.length < SMALL} isRoot />
        </section>
      ) : (
        <section class="json-body" aria-label={`Lines of the ${label} with ${wanted}`} tabIndex={0}>
          <p class="quiet">{lines.length} lines</p>
          <pre>{visible(lines.slice(0, SHOWN).join("\n"))}</pre>
        </section>
      )}
    </div>
  );
}

function bytes(source: string): string {
  const size = new TextEncoder().encode(source).length;
  return size < 10_000 ? `${size} bytes` : `${Math.round(size / 1024)} KiB`;
}

/** What is larger begins folded, but for its first level. In characters. */
const SMALL = 20_000;
/** Of a long string this much is shown before it is asked for the rest. In characters. */
const LONG = 10_000;

function Value({ node, open, isRoot }: { node: Node; open: boolean; isRoot?: boolean }) {
  if (node.kind === "object" || node.kind === "array")
    return <Folded node={node} open={open} isOpenFirst={open || isRoot === true} />;
  const text = visible(node.kind === "string" ? JSON.stringify(node.text) : node.text);
  if (text.length > LONG) return <Long text={text} kind={node.kind} />;
  return <span class={`json-${node.kind}`}>{text}</span>;
}

function Long({ text, kind }: { text: string; kind: string }) {
  const [whole, setWhole] = useState(false);
  return (
    <>
      <span class={`json-${kind}`}>{whole ? text : text.slice(0, LONG)}</span>
      {!whole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … {number(text.length - LONG)} more characters
        </button>
      )}
    </>
  );
}

interface FoldedProps {
  node: Node & { entries: unknown[] };
  /** Whether what it holds begins open. */
  open: boolean;
  isOpenFirst: boolean;
}

function Folded({ node, open, isOpenFirst }: FoldedProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
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
                {name !== undefined && (
                  <span class="json-name">{visible(JSON.stringify(name))}: </span>
                )}
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
