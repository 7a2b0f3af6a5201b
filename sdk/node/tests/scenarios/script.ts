/** A server that answers what a script says, one answer after the other. */

import { createServer, type Server } from "node:http";

/** One answer of the script. */
export interface Scripted {
  /** 0: there is no answer. */
  status: number;
  body?: string;
  retry_after?: string;
  location?: string;
  /** The code that the error must have. */
  code?: string;
  /** What its message must hold. */
  message?: string;
}

/** A server that plays a script; the last answer is given again and again. */
export class Player {
  url = "";
  /** When each request came. */
  readonly times: number[] = [];
  readonly #server: Server;

  private constructor(answers: readonly Scripted[]) {
    this.#server = createServer((request, response) => {
      request.resume();
      const answer = answers[this.times.length] ?? (answers.at(-1) as Scripted);
      this.times.push(performance.now());
      if (answer.status === 0) {
        return;
      }
      const headers: Record<string, string> = {};
      if (answer.retry_after !== undefined) {
        headers["retry-after"] = answer.retry_after;
      }
      if (answer.location !== undefined) {
        headers.location = answer.location;
      }
      response.writeHead(answer.status, headers);
      response.end(answer.body ?? "");
    });
  }

  static async start(answers: readonly Scripted[]): Promise<Player> {
    const player = new Player(answers);
    await new Promise<void>((resolve) => {
      player.#server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = player.#server.address() as { port: number };
    player.url = `http://127.0.0.1:${port}`;
    return player;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
