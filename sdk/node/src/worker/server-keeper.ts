/** Where the checkpoints of a worker's jobs go: to the server, under the token of the start. */

import type { Answer, Call, Connection } from "../connection.js";
import { path } from "../connection.js";
import { TIMER_MAX_MS } from "../duration.js";
import { type AbortReason, LeaseLostError } from "../errors.js";
import type { Job } from "../job.js";
import type { Keeper } from "../job-setting.js";
import { isTemporary, pauseBefore } from "../retry.js";
import type { Board } from "./board.js";
import type { Held } from "./held.js";
import { monotonic } from "./lease-table.js";

/** Writes the checkpoints of one start, again and again until the server has taken them or not. */
export class ServerKeeper implements Keeper {
  readonly #connection: Connection;
  readonly #board: Board;
  readonly #held: Held;
  readonly #changed: () => void;

  constructor(connection: Connection, board: Board, held: Held, changed: () => void) {
    this.#connection = connection;
    this.#board = board;
    this.#held = held;
    this.#changed = changed;
  }

  async write(job: Job, name: string, value: string | undefined): Promise<void> {
    const { id, token } = this.#held;
    const own = value === undefined ? "" : `,"value":${value}`;
    const call: Call = {
      method: "POST",
      path: `/v1/jobs${path(id)}/checkpoints`,
      body: `{"token":${JSON.stringify(token)},"name":${JSON.stringify(name)}${own}}`,
    };
    this.#read(job, await job.orAborted(this.#send(call, job)));
  }

  async #send(call: Call, job: Job): Promise<Answer> {
    for (let repeats = 1; ; repeats += 1) {
      let asked: number | undefined;
      try {
        const answer = await this.#connection.sendOnce(call);
        if (!isTemporary(answer.status)) {
          return answer;
        }
        asked = answer.retryAfterMs;
      } catch (error) {
        if (job.abortedBy !== undefined) {
          throw error;
        }
      }
      const wait = pauseBefore(repeats, asked, Math.random());
      await new Promise((resolve) => {
        setTimeout(resolve, Math.min(wait, TIMER_MAX_MS)).unref();
      });
      if (job.abortedBy !== undefined) {
        throw job.abortedBy;
      }
    }
  }

  #read(job: Job, answer: Answer): void {
    if (!answer.isSuccess) {
      const error = answer.error();
      if ("code" in error && error.code === "lease_lost") {
        this.#tell("lease_lost");
        throw job.abortedBy ?? new LeaseLostError();
      }
      throw error;
    }
    const written = answer.json(false).value as { cancel_requested?: boolean } | null;
    if (written?.cancel_requested) {
      this.#tell("cancelled");
    }
  }

  #tell(reason: AbortReason): void {
    this.#board.told(monotonic(), this.#held, reason);
    this.#changed();
  }
}
