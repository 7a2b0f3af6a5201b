/**
 * JSON read for showing, not for computing: numbers and the order of members stay as they were
 * sent, whatever their length. The text has been checked by the server.
 */
export type Node =
  | { kind: "object"; entries: [string, Node][] }
  | { kind: "array"; entries: Node[] }
  | { kind: "string" | "number" | "word"; text: string };

/** Reads a whole text. */
export function read(text: string): Node {
  return value(new Cursor(text));
}

/** The text of one member of an object, as it stands there; `undefined` when it has none. */
export function member(text: string, name: string): string | undefined {
  const cursor = new Cursor(text);
  if (cursor.next() !== "{") return undefined;
  if (cursor.peek() === "}") return undefined;
  do {
    const found = cursor.string();
    cursor.next();
    cursor.peek();
    const from = cursor.at;
    skip(cursor);
    if (found === name) return text.slice(from, cursor.at);
  } while (cursor.next() === ",");
  return undefined;
}

/** The texts of the entries of an array, as they stand there. */
export function entries(text: string): string[] {
  const cursor = new Cursor(text);
  return list(cursor, "]", () => {
    cursor.peek();
    const from = cursor.at;
    skip(cursor);
    return text.slice(from, cursor.at);
  });
}

/** As it is printed: two spaces a level. */
export function print(node: Node, indent = ""): string {
  const deeper = `${indent}  `;
  if (node.kind === "object") {
    if (node.entries.length === 0) return "{}";
    const lines = node.entries.map(
      ([name, it]) => `${deeper}${JSON.stringify(name)}: ${print(it, deeper)}`,
    );
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  if (node.kind === "array") {
    if (node.entries.length === 0) return "[]";
    return `[\n${node.entries.map((it) => deeper + print(it, deeper)).join(",\n")}\n${indent}]`;
  }
  return node.kind === "string" ? JSON.stringify(node.text) : node.text;
}

class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The next character that says something. */
  peek(): string {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
    return this.text[this.at] ?? "";
  }

  next(): string {
    const found = this.peek();
    this.at += 1;
    return found;
  }

  string(): string {
    this.peek();
    const from = this.at;
    this.skipString();
    return JSON.parse(this.text.slice(from, this.at)) as string;
  }

  skipString(): void {
    this.at += 1;
    for (; this.at < this.text.length && this.text[this.at] !== '"'; this.at += 1) {
      if (this.text[this.at] === "\\") this.at += 1;
    }
    this.at += 1;
  }

  /** A number, or `true`, `false`, `null`. */
  literal(): string {
    const from = this.at;
    while (/[-+.\w]/.test(this.text[this.at] ?? "")) this.at += 1;
    if (from === this.at) throw new SyntaxError(`no JSON at ${from}`);
    return this.text.slice(from, this.at);
  }
}

function value(cursor: Cursor): Node {
  switch (cursor.peek()) {
    case "{":
      return { kind: "object", entries: list(cursor, "}", () => named(cursor)) };
    case "[":
      return { kind: "array", entries: list(cursor, "]", () => value(cursor)) };
    case '"':
      return { kind: "string", text: cursor.string() };
    default: {
      const text = cursor.literal();
      return { kind: /^[a-z]/.test(text) ? "word" : "number", text };
    }
  }
}

function named(cursor: Cursor): [string, Node] {
  const name = cursor.string();
  cursor.next();
  return [name, value(cursor)];
}

function list<T>(cursor: Cursor, end: string, one: () => T): T[] {
  const found: T[] = [];
  cursor.next();
  if (cursor.peek() === end) {
    cursor.next();
    return found;
  }
  do found.push(one());
  while (cursor.next() === ",");
  return found;
}

function skip(cursor: Cursor): void {
  const first = cursor.peek();
  if (first === '"') {
    cursor.skipString();
    return;
  }
  if (first !== "{" && first !== "[") {
    cursor.literal();
    return;
  }
  let depth = 0;
  do {
    const here = cursor.peek();
    if (here === '"') {
      cursor.skipString();
      continue;
    }
    if (here === "") return;
    if (here === "{" || here === "[") depth += 1;
    if (here === "}" || here === "]") depth -= 1;
    cursor.at += 1;
  } while (depth > 0);
}
