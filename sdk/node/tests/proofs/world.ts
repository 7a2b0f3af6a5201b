/** What the handlers change: in memory, with a point wherever a process could die. */

import { MemoryStore } from "@halyard/node";
import { crashPoint } from "@halyard/node/testing";

interface Invoice {
  paid: boolean;
  number: number | undefined;
}

let rows: { invoices: Invoice[]; charges: (string | undefined)[]; mails: (string | undefined)[] };

/** Marks of handlers that keep them in a database: work that was begun, and work that is done. */
export const marks = { sending: false, processed: new Set<string>() };
export const store = new MemoryStore();
let number = 0;

export function reset(): void {
  rows = { invoices: [], charges: [], mails: [] };
  marks.sending = false;
  marks.processed.clear();
  store.clear();
  number = 0;
}

export function world() {
  return {
    invoices: rows.invoices.map(({ paid }) => ({ paid })),
    charges: rows.charges.map((_, place) => `ch_${place + 1}`),
    mails: rows.mails.map((_, place) => `mail_${place + 1}`),
  };
}

export const invoices = {
  find: (): Invoice | undefined => rows.invoices[0],

  async insert(): Promise<void> {
    rows.invoices.push({ paid: false, number: undefined });
    await crashPoint("inserted");
  },

  async upsert(number?: number): Promise<Invoice> {
    let invoice = rows.invoices.find((row) => row.number === number);
    if (invoice === undefined) {
      invoice = { paid: false, number };
      rows.invoices.push(invoice);
    }
    const seen = { ...invoice };
    await crashPoint("inserted");
    return seen;
  },

  async pay(): Promise<void> {
    for (const invoice of rows.invoices) {
      invoice.paid = true;
    }
    await crashPoint("paid");
  },

  async settle(): Promise<void> {
    for (const invoice of rows.invoices.filter((invoice) => !invoice.paid)) {
      invoice.paid = true;
      add(rows.mails, undefined);
    }
    await crashPoint("settled");
  },
};

function add(list: (string | undefined)[], key: string | undefined): void {
  if (key === undefined || !list.includes(key)) {
    list.push(key);
  }
}

export const payments = {
  knows: (key: string): boolean => rows.charges.includes(key),

  async charge(key?: string): Promise<string> {
    await crashPoint("charging");
    add(rows.charges, key);
    await crashPoint("charged");
    return "a charge";
  },
};

export const mail = {
  async send(key?: string): Promise<void> {
    await crashPoint("sending");
    add(rows.mails, key);
    await crashPoint("sent");
  },
};

export const numbers = {
  next(): number {
    number += 1;
    return number;
  },
};
