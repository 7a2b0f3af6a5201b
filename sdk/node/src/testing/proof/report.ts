/** What a proof has found. */

import { AssertionError } from "node:assert";
import { SettingsError } from "../../errors.js";
import { onCleanRun, onEffect, onNever } from "./advice.js";
import { differences, equal, inWords, text } from "./difference.js";
import { told } from "./point.js";
import type { End } from "./running.js";
import { type Outcome, sequence, type Way } from "./ways.js";

/** One effect that is not as it should be, and the shortest way to see it. */
export interface Finding {
  /**
   * The kind of way, such as `twice`, `killed` or `overlapping`; `clean` when the run without any
   * fault did not end as it should, and nothing was proved.
   */
  readonly way: string;
  /** What was done, such as "run, killed at `charged`, run again". */
  readonly sequence: string;
  /** The member of the world that differs; `undefined` when it is the end that is wrong. */
  readonly effect: string | undefined;
  /** What the clean run left there. */
  readonly expected: unknown;
  /** What this way left there. */
  readonly got: unknown;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** How to mend it, when the runs show that. */
  readonly advice: string | undefined;
  /** How many other ways show it too. */
  readonly more: number;
}

/** What a proof has found. As text it is for people. */
export interface Report {
  /** Whether every way left the world as the clean run did. */
  readonly ok: boolean;
  /** In how many ways the handler was run. */
  readonly ways: number;
  /** The points of the clean run, in order. */
  readonly points: readonly string[];
  /** What is wrong, one for each effect, those with the shortest sequence first. */
  readonly findings: readonly Finding[];
  /** Whether each new process got its modules anew: a `module` was given. */
  readonly freshModules: boolean;
  /** What the proof could not try, and why. */
  readonly notes: readonly string[];
  toString(): string;
}

/**
 * Throws the report as an AssertionError, unless all is well: for node:test and others.
 *
 * @throws AssertionError when there is a finding; SettingsError for what is no report.
 */
export function assertIdempotent(report: Report): void {
  checkReport("assertIdempotent", report);
  if (!report.ok) {
    throw new AssertionError({ message: String(report), stackStartFn: assertIdempotent });
  }
}

/** @internal A promise has no findings either, and must not pass for a report. */
export function checkReport(what: string, report: unknown): void {
  const { ok, then } = Object(report) as { ok?: unknown; then?: unknown };
  if (typeof ok !== "boolean") {
    const given = typeof then === "function" ? "a promise of one: write `await` before it" : "none";
    throw new SettingsError(`${what} takes the report of proveIdempotent, and got ${given}`);
  }
}

/** @internal Whether the clean run ended so that no other way was tried. */
export function provedNothing(report: Pick<Report, "findings">): boolean {
  return report.findings[0]?.way === "clean";
}

/** @internal Collects what the ways show. */
export class Findings {
  readonly #clean: End;
  readonly #world: unknown;
  readonly #points: readonly string[];
  readonly #findings: (Finding & { more: number })[] = [];
  readonly #notes: string[] = [];
  #ways = 1;

  /**
   * With the clean run, and the world before and after it. One that does not end as expected is a
   * finding, and then nothing else is tried.
   */
  constructor(clean: Outcome, before: unknown, world: unknown, expectFailure: boolean) {
    this.#clean = clean.end;
    this.#world = world;
    this.#points = clean.first.map(told);
    if (clean.end.kind === "never") {
      this.#noteEnd({ kind: "clean" }, clean.end);
    } else if ((clean.end.kind === "failed") !== expectFailure) {
      // A payload that does not fit, say: then nothing was done that could be done twice.
      this.#noteCleanRun(clean.end);
    } else if (clean.end.kind === "failed") {
      this.#notes.push(`the clean run failed, as expected: ${clean.end.said}`);
    } else {
      this.#noteEmpty(before);
    }
  }

  get nothingProved(): boolean {
    return provedNothing({ findings: this.#findings });
  }

  /** Takes down what a way came to. */
  note(way: Way, outcome: Outcome, world: unknown): void {
    this.#ways += 1;
    const { kind } = outcome.end;
    if (kind === "never" || (kind === "failed" && this.#clean.kind !== "failed")) {
      this.#noteEnd(way, outcome.end);
      // What such a run left undone says nothing more.
      return;
    }
    for (const { effect, expected, got } of differences(this.#world, world)) {
      const named = effect === undefined ? "the world" : `\`${effect}\``;
      this.#add({
        way: way.kind,
        sequence: sequence(way),
        effect: effect ?? "world",
        expected,
        got,
        message: `${inWords(named, expected, got)}, after: ${sequence(way)}`,
        advice: onEffect(way, outcome, expected, got),
        more: 0,
      });
    }
  }

  report(freshModules: boolean): Report {
    return new Told(this.#ways, this.#points, this.#findings, freshModules, this.#notes);
  }

  /** A proof that could hardly find anything says so. */
  #noteEmpty(before: unknown): void {
    if (this.#points.length === 0) {
      this.#notes.push(
        "no points were passed, so nothing was killed in between: place crashPoint in the fakes",
      );
    }
    if (equal(before, this.#world)) {
      this.#notes.push("the clean run changed nothing that the world shows");
    }
  }

  #noteEnd(way: Way, end: End): void {
    const said = end.kind === "completed" ? "" : `: ${end.said}`;
    const never = end.kind === "never" ? "never completes" : "fails for good";
    this.#addEnd(way, `${never}: ${sequence(way)}${said}`, onNever(way));
  }

  /** The clean run failed where it was to complete, or the other way round. */
  #noteCleanRun(end: End): void {
    const message =
      end.kind === "completed"
        ? "the clean run completes, but was expected to fail, so nothing was proved"
        : `the clean run fails for good, so nothing was proved: ${end.said}`;
    this.#addEnd({ kind: "clean" }, message, onCleanRun(end));
  }

  #addEnd(way: Way, message: string, advice: string | undefined): void {
    this.#add({
      way: way.kind,
      sequence: sequence(way),
      effect: undefined,
      expected: undefined,
      got: undefined,
      message,
      advice,
      more: 0,
    });
  }

  /** One finding for each effect: the first stands, the others are counted. */
  #add(finding: Finding): void {
    const first = this.#findings.find((other) => other.effect === finding.effect);
    if (first === undefined) {
      this.#findings.push({ ...finding });
    } else {
      first.more += 1;
    }
  }
}

class Told implements Report {
  readonly ok: boolean;
  readonly ways: number;
  readonly points: readonly string[];
  readonly findings: readonly Finding[];
  readonly freshModules: boolean;
  readonly notes: readonly string[];

  constructor(
    ways: number,
    points: readonly string[],
    findings: readonly Finding[],
    freshModules: boolean,
    notes: readonly string[],
  ) {
    this.ok = findings.length === 0;
    this.ways = ways;
    this.points = points;
    this.findings = findings;
    this.freshModules = freshModules;
    this.notes = notes;
  }

  toString(): string {
    const { length } = this.points;
    const count = length === 1 ? "one point" : `${length} points`;
    const points = length === 0 ? "no points" : `${count}: ${this.points.join(", ")}`;
    const unchecked = this.freshModules
      ? ""
      : "; what the handler keeps in variables of its module was not checked (give `module`)";
    const notes = this.notes.map((note) => `\nnote: ${note}`).join("");
    if (this.ok) {
      return `idempotent: run in ${this.ways} ways, with ${points}${unchecked}${notes}`;
    }
    const found = this.findings.length;
    const effects = found === 1 ? "1 effect" : `${found} effects`;
    const head = provedNothing(this)
      ? "nothing proved: one clean run, without any fault, did not end as it should, so no other " +
        `way was tried; it passed ${points}`
      : `not idempotent: ${effects} wrong, in ${this.ways} ways to run it, with ${points}` +
        unchecked;
    return [head, ...this.findings.map(shown)].join("\n\n") + notes;
  }
}

function shown(finding: Finding, place: number): string {
  const { more, advice, expected, got } = finding;
  const others = more === 0 ? "" : ` (and ${more} more ${more === 1 ? "way" : "ways"})`;
  const lines = [`${place + 1}. ${finding.message}${others}`];
  if (finding.effect !== undefined) {
    lines.push(`   expected: ${text(expected)}`, `   got:      ${text(got)}`);
  }
  if (advice !== undefined) {
    lines.push(`   advice:   ${advice}`);
  }
  return lines.join("\n");
}
