// What stands for a provider that sends mails.

import { crashPoint } from "@halyard/node/testing";

export const outbox = {
  mails: [],

  async send(key) {
    await crashPoint("sending");
    if (key === undefined || !this.mails.includes(key)) {
      this.mails.push(key);
    }
    await crashPoint("sent");
  },
};
