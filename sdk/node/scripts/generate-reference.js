// Makes docs/reference/node.md from the exported declarations and their comments:
// `npm run generate`. With --check it only says whether the page is fresh.

import { fileURLToPath } from "node:url";
import ts from "typescript";
import { keep } from "./fresh.js";

const root = new URL("..", import.meta.url);
const page = new URL("../../docs/reference/node.md", root);

/** The sections of the page: which sources of an entry point belong to each. */
const PARTS = [
  ["index.ts", "Client", "client.ts", "duration.ts"],
  ["index.ts", "Jobs", "jobs/", "in-transaction.ts"],
  ["index.ts", "Worker", "worker/", "task.ts"],
  ["index.ts", "The job in a handler", "job.ts", "json/jsonify.ts"],
  ["index.ts", "Errors that a handler throws", "failure.ts"],
  ["index.ts", "Errors that calls throw", "errors.ts"],
  ["index.ts", "Processed store", "processed/"],
  ["index.ts", "Queues, workers, tasks, counters", "operators.ts"],
  ["index.ts", "What the server tells", "records.ts"],
  ["index.ts", "Transport", "transport.ts", "http/transport.ts"],
  ["testing/index.ts", "@halyard/node/testing", "testing/"],
];

const HEAD = `# The Node.js SDK, export by export

<!-- Made from sdk/node/src by sdk/node/scripts/generate-reference.js: npm run generate -->

To learn it, begin with the [quick start](../quickstart-node.md), then
[testing](../testing.md) and the [processed store](../processed-store.md). A \`Duration\` is
milliseconds or a text such as \`"5m"\`.
`;

const source = (name) => fileURLToPath(new URL(`src/${name}`, root));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(fileURLToPath(new URL("tsconfig.build.json", root)), ts.sys.readFile).config,
  ts.sys,
  fileURLToPath(root),
);
const program = ts.createProgram(["index.ts", "testing/index.ts"].map(source), options);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

/** A symbol's comment in one paragraph, `@throws` last. */
function told(symbol) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const tags = symbol.getJsDocTags(checker);
  const throws = tags.filter(({ name }) => name === "throws");
  const whole = [text, ...throws.map((tag) => `Throws ${ts.displayPartsToString(tag.text)}`)]
    .join("\n\n")
    .trim();
  // TypeScript takes a brace after `@throws` for a type, and an `@` behind a `*` for a tag.
  if (whole.endsWith("{") || whole.split("`").length % 2 === 0) {
    throw new Error(`the comment of ${symbol.name} is cut: ${whole.slice(-60)}`);
  }
  return whole;
}

const isInternal = (symbol) => symbol.getJsDocTags(checker).some(({ name }) => name === "internal");
const cell = (text) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
const code = (text) => `\`${cell(text).replaceAll("\\|", "\\|")}\``;

/** A declaration without its body, comments and modifiers. */
function signature(node) {
  const text = (part) => printer.printNode(ts.EmitHint.Unspecified, part, node.getSourceFile());
  const list = (parts) => (parts ?? []).map(text).join(", ");
  const generics = node.typeParameters?.length ? `<${list(node.typeParameters)}>` : "";
  const name = node.name ? text(node.name) : "constructor";
  const optional = node.questionToken ? "?" : "";
  if (ts.isFunctionLike(node)) {
    const returns = node.type ? `: ${text(node.type)}` : "";
    if (ts.isGetAccessor(node)) return `${name}${returns}`;
    return `${name}${optional}${generics}(${parameters(node, text)})${returns}`;
  }
  const type = node.type ? text(node.type) : checker.typeToString(checker.getTypeAtLocation(node));
  return `${name}${optional}: ${optional ? type.replace(/ \| undefined$/, "") : type}`;
}

function parameters(node, text) {
  return node.parameters
    .map((one) => {
      const optional = one.questionToken || one.initializer ? "?" : "";
      const rest = one.dotDotDotToken ? "..." : "";
      const type = one.type ? text(one.type) : checker.typeToString(checker.getTypeAtLocation(one));
      return `${rest}${text(one.name)}${optional}: ${type}`;
    })
    .join(", ");
}

/** The public members that a class or an interface declares itself, a row each. */
function rows(declaration) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  const members = declaration.members.filter((member) => {
    const symbol = member.symbol;
    if (!symbol || (member.name && ts.isPrivateIdentifier(member.name))) return false;
    return !(ts.getCombinedModifierFlags(member) & hidden) && !isInternal(symbol);
  });
  return members.map((member) => {
    const own = member.symbol;
    return `| ${code(signature(member))} | ${cell(told(own))} |\n`;
  });
}

function describe(symbol) {
  const target = origin(symbol);
  const declaration = target.declarations[0];
  let text = `\n### ${symbol.name}\n\n`;
  const comment = told(target);
  if (comment) text += `${comment}\n`;
  if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)) {
    const base = declaration.heritageClauses?.map((clause) => clause.getText()).join(" ");
    if (base) text += `\n\`${base}\`\n`;
    const table = rows(declaration).join("");
    if (table) text += `\n| member | |\n|---|---|\n${table}`;
  } else {
    const shown = ts.isFunctionDeclaration(declaration)
      ? target.declarations.filter((one) => target.declarations.length === 1 || !one.body)
      : [declaration];
    const lines = shown.map((one) =>
      ts.isFunctionDeclaration(one)
        ? `function ${signature(one)}`
        : printer
            .printNode(ts.EmitHint.Unspecified, one, one.getSourceFile())
            .replace(/^(export|declare) /g, ""),
    );
    text += `\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n`;
  }
  return text;
}

function exportsOf(entry) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(source(entry)));
  return checker.getExportsOfModule(module).filter((symbol) => !isInternal(symbol));
}

/** What an export stands for, where it is declared. */
function origin(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

const isClass = (symbol) => ts.isClassDeclaration(origin(symbol).declarations[0]);

function comesFrom(symbol) {
  return origin(symbol).declarations[0].getSourceFile().fileName.slice(source("").length);
}

let text = HEAD;
const left = new Set([...exportsOf("index.ts"), ...exportsOf("testing/index.ts")]);
for (const [entry, title, ...sources] of PARTS) {
  const symbols = exportsOf(entry).filter((symbol) =>
    sources.some((name) => comesFrom(symbol).startsWith(name)),
  );
  const classes = symbols.filter(isClass);
  const others = symbols.filter((symbol) => !isClass(symbol));
  text += `\n## ${title}\n${[...classes, ...others].map(describe).join("")}`;
  for (const symbol of symbols) left.delete(symbol);
}
if (left.size > 0) {
  throw new Error(`no part of the page has ${[...left].map(({ name }) => name).join(", ")}`);
}

await keep(page, text);
