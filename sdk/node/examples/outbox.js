// An order and the job that confirms it, written in one transaction; and the job's handler, whose
// effect and completion are one transaction as well. The server keeps its jobs in the same
// PostgreSQL: halyard serve --database-url postgres://…

/** Places an order and creates its job: both or none. `client` is a client of `pg`. */
export async function placeOrder(halyard, client, order) {
  await client.query("begin");
  try {
    await client.query("insert into orders (id, email) values ($1, $2)", [order.id, order.email]);
    const job = await halyard.jobs.createIn(client, {
      queue: "orders",
      task: "confirm-order",
      payload: { order_id: order.id },
      idempotencyKey: `confirm:${order.id}`,
    });
    await client.query("commit");
    return job.id;
  } catch (error) {
    // Where the connection broke, it fails as well, and the first error is the one to tell.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** The handler: what it writes, and that the job is done, take effect together. */
export async function confirmOrder(job, client) {
  const { order_id } = job.payload;
  await client.query("begin");
  try {
    await client.query("insert into outgoing_mails (order_id) values ($1)", [order_id]);
    await job.completeIn(client, { confirmed: order_id });
    await client.query("commit");
  } catch (error) {
    // Where the connection broke, it fails as well, and the first error is the one to tell.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
