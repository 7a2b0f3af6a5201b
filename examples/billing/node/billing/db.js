// billing/db.js: the database. DATABASE_URL names it.

import pg from "pg";

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  // A program that has nothing else to do ends.
  allowExitOnIdle: true,
});
// A connection that breaks while nobody uses it: the next query opens another.
pool.on("error", (error) => console.error(`the database: ${error.message}`));

export const db = {
  /** The rows of a statement. */
  async all(sql, values) {
    const { rows } = await pool.query(sql, values);
    return rows;
  },

  /** The first row of a statement, if there is one. */
  async one(sql, values) {
    const [row] = await db.all(sql, values);
    return row;
  },

  /** Closes the connections. A program that just ends need not. */
  close: () => pool.end(),

  subscriptions: {
    all: () => db.all("select * from subscriptions order by id"),
    find: (id) => db.one("select * from subscriptions where id = $1", [id]),
    insert: ({ id, customer_id, price }) =>
      db.one("insert into subscriptions (id, customer_id, price) values ($1, $2, $3) returning *", [
        id,
        customer_id,
        price,
      ]),
  },

  invoices: {
    /** The invoice of a subscription and a period, made if there is none. */
    upsert: ({ subscription_id, period, amount }) =>
      db.one(
        `insert into invoices (subscription_id, period, amount, status)
         values ($1, $2, $3, 'open')
         on conflict (subscription_id, period) do update set amount = excluded.amount
         returning *`,
        [subscription_id, period, amount],
      ),
    update: (id, { status, charge_id }) =>
      db.one("update invoices set status = $2, charge_id = $3 where id = $1 returning *", [
        id,
        status,
        charge_id,
      ]),
  },
};
