/** When a call is worth repeating, and how long to wait before that. */

/** The pause before the first repeat; each further one is twice as long. */
const PAUSE_FIRST_MS = 50;
/** The longest pause that the client chooses by itself. */
const PAUSE_MAX_MS = 2_000;
/** The longest wait that a `Retry-After` is understood to ask for. */
const ASKED_MAX_MS = 365 * 86_400_000;

/** Whether an answer with this status says that the same request may succeed later. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status < 600);
}

/**
 * The pause before repeat number `repeat`, from 1, in milliseconds. `chance` is in 0..1 and
 * shortens the client's own pause to no less than half; what the server asked for is only ever
 * lengthened, by up to a quarter of it or 2 s, so that callers who were told the same time part.
 */
export function pauseBefore(repeat: number, asked: number | undefined, chance: number): number {
  const doubled = PAUSE_FIRST_MS * 2 ** Math.min(Math.max(repeat - 1, 0), 16);
  const own = Math.min(doubled, PAUSE_MAX_MS) * (1 - chance / 2);
  return asked === undefined
    ? own
    : Math.max(asked + Math.min(asked / 4, PAUSE_MAX_MS) * chance, own);
}

/** The wait that a `Retry-After` header asks for, in milliseconds: seconds, or a date. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (!text) {
    return undefined;
  }
  if (/^\d+$/.test(text)) {
    return Math.min(Number(text) * 1_000, ASKED_MAX_MS);
  }
  const at = /GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now, 0), ASKED_MAX_MS);
}
